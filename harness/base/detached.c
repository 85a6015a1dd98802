#include "detached.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

pid_t hil_fork_detached(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTTOU};
    sigset_t all, before;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
            signal(ends[i], SIG_IGN);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return pid;
}
