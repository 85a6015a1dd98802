#include "reap.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

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

void hil_await_end(pid_t child, unsigned milliseconds)
{
    struct pollfd end = {.fd = pidfd_open(child, 0), .events = POLLIN};

    poll(&end, 1, (int)milliseconds); /* without a descriptor it only waits */
    if (end.fd >= 0)
        close(end.fd);
}

void hil_reap_within(pid_t child, unsigned milliseconds, const char *name, int *status)
{
    hil_await_end(child, milliseconds);
    if (hil_reap(child, WNOHANG, status))
        return;
    fprintf(stderr, "%s (process %d) did not end within %g s, and was killed\n", name, (int)child,
            milliseconds * 1e-3);
    kill(child, SIGKILL);
    hil_reap(child, 0, status);
}

void hil_signals_default(void)
{
    sigset_t none;

    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}
