#include "in_child.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exit_status.h"
#include "reap.h"

/* Reading goes on within this time, or has ended. */
enum { STANDS_STILL_S = 120 };

/* What the child leaves in memory that both share, as its status may be taken (base/reap.h). */
struct in_child_left {
    bool finished;
    int status;
};

/* Data that says it is huge may not take the machine's whole memory. Sanitizers reserve more. */
static void in_child_limit_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    const rlim_t pages = (rlim_t)sysconf(_SC_PHYS_PAGES), page = (rlim_t)sysconf(_SC_PAGESIZE);
    struct rlimit data;

    if (getrlimit(RLIMIT_DATA, &data) == 0 && data.rlim_cur > pages / 4 * 3 * page) {
        data.rlim_cur = pages / 4 * 3 * page;
        setrlimit(RLIMIT_DATA, &data);
    }
#endif
}

static _Noreturn void in_child_work(int (*work)(const void *arg), const void *arg, pid_t parent,
                                    struct in_child_left *left)
{
    const struct rlimit none = {0, 0};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before prctl */
        _exit(HIL_EXIT_FAILED);
    setrlimit(RLIMIT_CORE, &none);
    in_child_limit_memory();
    signal(SIGALRM, SIG_DFL);
    hil_in_child_within(0);
    left->status = work(arg) & 0xff;
    fflush(NULL);
    left->finished = true;
    _exit(left->status);
}

static int in_child_judge(int status, const char *what, FILE *messages)
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

int hil_in_child_wait(int (*work)(const void *arg), const void *arg, int *status)
{
    const pid_t parent = getpid();
    struct in_child_left *left =
        mmap(NULL, sizeof *left, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int rc = 0;

    if (left == MAP_FAILED)
        return -errno;
    fflush(NULL); /* else both processes would write what is buffered */
    const pid_t child = fork();
    if (child == 0)
        in_child_work(work, arg, parent, left);
    if (child < 0)
        rc = -errno;
    else
        hil_reap(child, 0, status);
    if (!rc && left->finished)
        *status = W_EXITCODE(left->status, 0);
    else if (!rc && *status == HIL_STATUS_TAKEN)
        *status = W_EXITCODE(0, SIGKILL);
    munmap(left, sizeof *left);
    return rc;
}

int hil_in_child(int (*work)(const void *arg), const void *arg, const char *what, FILE *messages)
{
    int status, rc = hil_in_child_wait(work, arg, &status);

    if (!rc)
        return in_child_judge(status, what, messages);
    fprintf(messages, "%s: %s\n", what, strerror(-rc));
    return HIL_EXIT_FAILED;
}

static unsigned within_s;

void hil_in_child_within(unsigned seconds)
{
    within_s = seconds ? seconds : STANDS_STILL_S;
    alarm(within_s);
}

void hil_in_child_goes_on(void)
{
    if (within_s)
        alarm(within_s);
}
