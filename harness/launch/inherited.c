#include "inherited.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/reap.h"
#include "secret.h"

static void inherited_open_files(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

static void inherited_reset_signals(void)
{
    struct sigaction hang_up;
    const bool ignored = sigaction(SIGHUP, NULL, &hang_up) == 0 && hang_up.sa_handler == SIG_IGN;

    hil_signals_default();
    if (ignored)
        signal(SIGHUP, SIG_IGN);
}

void hil_inherited_reset(void)
{
    inherited_open_files();
    inherited_reset_signals();
    hil_secret_hide();
    umask((umask(0) & ~(mode_t)S_IRWXU) | S_IWOTH);
}
