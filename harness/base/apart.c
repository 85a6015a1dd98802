#include "apart.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../launch/launcher.h"

static _Noreturn void apart_work(int (*work)(const void *arg), const void *arg, pid_t parent)
{
    const struct rlimit none = {0, 0};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before prctl */
        _exit(HIL_EXIT_FAILED);
    setrlimit(RLIMIT_CORE, &none);
    signal(SIGALRM, SIG_DFL);
    const int status = work(arg);
    fflush(NULL);
    _exit(status);
}

static int apart_judge(int status, const char *what, FILE *messages)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    if (WTERMSIG(status) == SIGALRM)
        fprintf(messages, "%s: it is damaged: reading it did not end\n", what);
    else
        fprintf(messages, "%s: it is damaged, or memory ran out: reading it ended by \"%s\"\n",
                what, strsignal(WTERMSIG(status)));
    return HIL_EXIT_FAILED;
}

int hil_apart_wait(int (*work)(const void *arg), const void *arg, int *status)
{
    const pid_t parent = getpid();

    fflush(NULL); /* else both processes would write what is buffered */
    const pid_t child = fork();
    if (child == 0)
        apart_work(work, arg, parent);
    if (child < 0)
        return -errno;
    while (waitpid(child, status, 0) < 0 && errno == EINTR)
        continue;
    return 0;
}

int hil_apart(int (*work)(const void *arg), const void *arg, const char *what, FILE *messages)
{
    int status, rc = hil_apart_wait(work, arg, &status);

    if (!rc)
        return apart_judge(status, what, messages);
    fprintf(messages, "%s: %s\n", what, strerror(-rc));
    return HIL_EXIT_FAILED;
}

void hil_apart_within(unsigned seconds)
{
    alarm(seconds);
}
