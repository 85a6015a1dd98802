#include "child.h"

#include "../../base/reap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CHILD_LINE_BYTES = 65536 };

/* Descriptors in the child; the second is closed by exec. */
enum { CHILD_SOCKET = 3, CHILD_REPORT };

/* How long a child may take to end, in hundredths of a second. */
enum { CHILD_PATIENCE_TURNS = 50 };

struct hil_child {
    pid_t pid; /* 0: it has ended */
    int socket, status;
    size_t begin, end; /* range of received bytes that have not been returned yet */
    char received[CHILD_LINE_BYTES];
};

/* --- in the child, before exec ---------------------------------------------------------------- */

/* Moves off the core to which a loop is pinned: if the loop spins, the child would get no time
 * there. */
static void child_leave_core(void)
{
    cpu_set_t ours, all;

    if (sched_getaffinity(0, sizeof ours, &ours) || CPU_COUNT(&ours) != 1)
        return;
    memset(&all, 0xff, sizeof all);
    CPU_XOR(&all, &all, &ours);
    sched_setaffinity(0, sizeof all, &all); /* if there is no other core, it stays */
}

/* Closes other descriptors: sockets of other children would keep those alive, and the run is found
 * by its open file. */
static int child_keep_files(int socket, int report)
{
    const int nothing = open("/dev/null", O_RDONLY);
    const int ours = fcntl(socket, F_DUPFD, CHILD_REPORT + 1);
    const int told = fcntl(report, F_DUPFD, CHILD_REPORT + 1);

    if (nothing < 0 || ours < 0 || told < 0 || dup2(nothing, STDIN_FILENO) < 0 ||
        dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || dup2(ours, CHILD_SOCKET) < 0 ||
        dup3(told, CHILD_REPORT, O_CLOEXEC) < 0)
        return -errno;
    close_range(CHILD_REPORT + 1, ~0u, 0);
    return 0;
}

static _Noreturn void child_become(char *const argv[], const char *folder, int socket, int report,
                                   pid_t parent)
{
    int rc = child_keep_files(socket, report);

    setpgid(0, 0); /* processes that it starts end with it, and the terminal's signals are ours */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    child_leave_core();
    hil_signals_default();
    if (!rc) {
        if (!chdir(folder))
            execv(argv[0], argv);
        rc = -errno;
    }
    const ssize_t sent = write(CHILD_REPORT, &rc, sizeof rc);
    _exit(sent == sizeof rc ? 127 : 126);
}

/* --- starting and ending ---------------------------------------------------------------------- */

/* Returns once the child runs the other program, or the reason why it does not. */
static int child_started(int report)
{
    int rc = 0;
    ssize_t got;

    do
        got = read(report, &rc, sizeof rc);
    while (got < 0 && errno == EINTR);
    return got == sizeof rc ? rc : 0;
}

static int child_fork(struct hil_child *c, char *const argv[], const char *folder, int socket)
{
    const pid_t self = getpid();
    int report[2];

    if (pipe2(report, O_CLOEXEC))
        return -errno;
    c->pid = fork();
    if (c->pid == 0)
        child_become(argv, folder, socket, report[1], self);
    int rc = c->pid < 0 ? -errno : 0;
    close(report[1]);
    if (!rc)
        rc = child_started(report[0]);
    close(report[0]);
    return rc;
}

int hil_child_start(struct hil_child **child, char *const argv[], const char *folder)
{
    struct hil_child *c = calloc(1, sizeof *c);
    int sockets[2];

    if (!c)
        return -ENOMEM;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets)) {
        const int rc = -errno;
        free(c);
        return rc;
    }
    char number[16];
    snprintf(number, sizeof number, "%d", CHILD_SOCKET);
    setenv(HIL_CHILD_SOCKET, number, 1);
    int rc = child_fork(c, argv, folder, sockets[1]);
    unsetenv(HIL_CHILD_SOCKET);
    close(sockets[1]);
    c->socket = sockets[0];
    if (rc) {
        hil_child_stop(c);
        return rc;
    }
    *child = c;
    return 0;
}

/* Whether it has ended. */
static int child_reap(struct hil_child *c, int options)
{
    if (c->pid > 0 && hil_reap(c->pid, options, &c->status))
        c->pid = 0;
    return c->pid <= 0;
}

static int child_reap_soon(struct hil_child *c)
{
    for (int i = 0; i < CHILD_PATIENCE_TURNS; i++) {
        if (child_reap(c, WNOHANG))
            return 1;
        usleep(10000);
    }
    return 0;
}

void hil_child_ended(struct hil_child *c, char *text, size_t size)
{
    if (!child_reap_soon(c))
        snprintf(text, size, "it closed its socket");
    else if (WIFSIGNALED(c->status))
        snprintf(text, size, "it was ended by SIG%s", sigabbrev_np(WTERMSIG(c->status)));
    else if (WIFEXITED(c->status))
        snprintf(text, size, "it ended with status %d", WEXITSTATUS(c->status));
    else
        snprintf(text, size, "it ended");
}

void hil_child_stop(struct hil_child *c)
{
    const pid_t group = c->pid;

    close(c->socket);
    if (!child_reap_soon(c)) {
        kill(c->pid, SIGKILL);
        child_reap(c, 0);
    }
    if (group > 0)
        kill(-group, SIGKILL); /* processes that it left behind */
    free(c);
}

/* --- lines ------------------------------------------------------------------------------------ */

int hil_child_send(struct hil_child *c, const char *text, size_t length)
{
    while (length) {
        const ssize_t sent = send(c->socket, text, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return errno == ECONNRESET ? -EPIPE : -errno;
        text += sent;
        length -= (size_t)sent;
    }
    return 0;
}

/* Receives more data from the child. Returns 0 or an errno. */
static int child_receive(struct hil_child *c, int milliseconds)
{
    struct pollfd ready = {.fd = c->socket, .events = POLLIN};

    if (c->begin > 0)
        memmove(c->received, c->received + c->begin, c->end - c->begin);
    c->end -= c->begin;
    c->begin = 0;
    if (c->end == sizeof c->received)
        return -EMSGSIZE;
    if (milliseconds != 0) {
        const int found = poll(&ready, 1, milliseconds);
        if (found <= 0)
            return found == 0 ? -ETIMEDOUT : errno == EINTR ? 0 : -errno;
    }
    const ssize_t got =
        recv(c->socket, c->received + c->end, sizeof c->received - c->end, MSG_DONTWAIT);
    if (got < 0)
        return errno == EAGAIN       ? -ETIMEDOUT
               : errno == EINTR      ? 0
               : errno == ECONNRESET ? -EPIPE
                                     : -errno;
    c->end += (size_t)got;
    return got ? 0 : -EPIPE;
}

int hil_child_line(struct hil_child *c, char **line, int milliseconds)
{
    size_t looked_at = 0;

    for (;;) {
        char *begin = c->received + c->begin;
        char *end = memchr(begin + looked_at, '\n', c->end - c->begin - looked_at);
        if (end) {
            *end = '\0';
            *line = begin;
            c->begin = (size_t)(end + 1 - c->received);
            return 0;
        }
        looked_at = c->end - c->begin;
        const int rc = child_receive(c, milliseconds);
        if (rc)
            return rc;
    }
}
