#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "in_child.h"
#include "reap.h"

/* Starts the program with stdout and stderr going to the descriptor `says`. */
static int start(const char *dir, char *const arguments[], int says, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, none;

    posix_spawn_file_actions_init(&actions);
    if (dir)
        posix_spawn_file_actions_addchdir_np(&actions, dir);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, says, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, says, STDERR_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    posix_spawnattr_init(&attributes);
    sigfillset(&all); /* if SIGXFSZ were ignored, gnuplot would not notice a failed write */
    sigemptyset(&none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSIGMASK);
    int rc = -posix_spawnp(child, arguments[0], &actions, &attributes, arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Reads output until its end, and keeps the beginning. Returns 0 or -ETIMEDOUT. */
static int listen_to(int says, unsigned seconds, char *text, size_t size)
{
    const uint64_t until = now_ms() + seconds * 1000ull;
    struct pollfd more = {.fd = says, .events = POLLIN};
    char rest[256];
    size_t used = 0;
    ssize_t got = 1;

    text[0] = '\0';
    while (got > 0) {
        const size_t room = size - 1 - used;
        const uint64_t now = now_ms();

        if (now >= until)
            return -ETIMEDOUT;
        if (poll(&more, 1, (int)(until - now)) <= 0)
            continue;
        got = room > 0 ? read(says, text + used, room) : read(says, rest, sizeof(rest));
        if (got > 0 && room > 0)
            used += (size_t)got;
        text[used] = '\0';
    }
    return 0;
}

int hil_tool_run(const char *dir, char *const arguments[], unsigned seconds, char *said,
                 size_t size)
{
    int says[2], status = 0;
    pid_t child;

    if (pipe2(says, O_CLOEXEC) != 0)
        return -errno;
    int rc = start(dir, arguments, says[1], &child);
    close(says[1]);
    if (!rc) {
        rc = listen_to(says[0], seconds, said, size);
        if (rc)
            kill(child, SIGKILL);
        hil_reap(child, 0, &status);
        hil_in_child_goes_on();
    }
    close(says[0]);
    if (rc)
        return rc;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
