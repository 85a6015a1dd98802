#include "reap.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

bool hil_reap(pid_t child, int options, int *status)
{
    pid_t ended;

    do
        ended = waitpid(child, status, options);
    while (ended < 0 && errno == EINTR);
    if (ended < 0)
        *status = HIL_STATUS_TAKEN;
    return ended != 0;
}

void hil_signals_default(void)
{
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}
