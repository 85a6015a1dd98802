#include "ending.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hiloco.h"
#include "tests/temporary.h"

/* The work must not read from the terminal: it is not in the group that may. */
static void become_worker(pid_t parent, const sigset_t *mask)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    setpgid(0, 0);
    dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    sigprocmask(SIG_SETMASK, mask, NULL);
}

static void signal_children(int number)
{
    FILE *f = fopen("/proc/thread-self/children", "r");
    int pid;

    while (f && fscanf(f, "%d", &pid) == 1)
        kill(pid, number);
    if (f)
        fclose(f);
}

/* Ends the worker's group, and what has left the group: as their parents die, these become this
 * process's children. Who does not heed SIGTERM gets SIGKILL after a while. A kernel that does not
 * list children leaves some alive. */
static void end_all(pid_t worker)
{
    enum { PATIENCE = 50, DESPAIR = 500 };
    const struct timespec tick = {.tv_nsec = 20000000};

    kill(-worker, SIGTERM);
    kill(-worker, SIGCONT);
    for (int ticks = 0; ticks < DESPAIR; ticks++) {
        pid_t ended;
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (ended < 0)
            return;
        signal_children(ticks < PATIENCE ? SIGTERM : SIGKILL);
        nanosleep(&tick, NULL);
    }
}

/* Returns true when the worker has ended, and then how. */
static bool reap(pid_t worker, int *status)
{
    int how;

    for (pid_t pid; (pid = waitpid(-1, &how, WNOHANG)) > 0;)
        if (pid == worker)
            return *status = how, true;
    return false;
}

/* Returns the worker's exit status, or 128 and the signal that ends all. Then the worker is dead,
 * too. */
static int await(pid_t worker, const sigset_t *signals)
{
    int status = 0, number;

    while (!reap(worker, &status)) {
        if ((number = sigwaitinfo(signals, NULL)) <= 0 || number == SIGCHLD)
            continue;
        kill(worker, SIGKILL);
        waitpid(worker, NULL, 0);
        return 128 + number;
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void block_signals(sigset_t *signals, sigset_t *before)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD};

    sigemptyset(signals);
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(signals, numbers[i]);
    sigprocmask(SIG_BLOCK, signals, before);
}

int ending_run(int (*work)(void *arg), void (*ended)(void *arg, int number), void *arg)
{
    char folder[TEMPORARY_SIZE];
    sigset_t signals, before;
    const pid_t self = getpid();

    if (!temporary_folder(folder))
        return -errno;
    setenv("TMPDIR", folder, 1);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    block_signals(&signals, &before);
    fflush(NULL);
    const pid_t worker = fork();
    if (worker == 0) {
        become_worker(self, &before);
        exit(work(arg));
    }
    setpgid(worker, worker);
    const int status = worker < 0 ? -errno : await(worker, &signals);
    if (status > 128 && ended)
        ended(arg, status - 128);
    if (worker > 0)
        end_all(worker);
    bench_remove(folder);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}
