#include "hiloco.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void hiloco_exec(const char *const arguments[])
{
    char program[PATH_MAX] = "";
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 16);

    if (length < 0)
        _exit(127);
    strcpy(strrchr(program, '/'), "/hiloco");
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
        _exit(127);
    execv(program, (char *const *)arguments);
    _exit(127);
}

int bench_hiloco(const char *const arguments[])
{
    int status;

    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0)
        hiloco_exec(arguments);
    return pid < 0 || waitpid(pid, &status, 0) < 0 ? -errno : status;
}

void bench_remove(const char *directory)
{
    int status = 0;

    const pid_t pid = fork();
    if (pid == 0) {
        execlp("rm", "rm", "-rf", directory, NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || status)
        fprintf(stderr, "%s stays behind\n", directory);
}
