#include "guardian.h"

#include <comedi.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../base/installed.h"
#include "../../base/reap.h"

static const char GUARDIAN_WORD[] = "--guard-device";

/* The descriptors of a guardian. */
enum { GUARDIAN_DEVICE = 3, GUARDIAN_LINE = 4, GUARDIAN_FIRST_CLOSED = 5 };

/* Messages on the line. */
static const char READY = 'r', ENDED = 'e';

/* --- actions --------------------------------------------------------------------------------- */

static int safe_comedi(int device, const struct hil_safe_act *act)
{
    lsampl_t sample = act->comedi.sample;
    comedi_insn insn = {.insn = INSN_WRITE,
                        .n = 1,
                        .data = &sample,
                        .subdev = act->comedi.subdevice,
                        .chanspec = act->comedi.channel};

    return ioctl(device, COMEDI_INSN, &insn) < 0 ? -errno : 0;
}

static int safe_can(int device, const struct hil_safe_act *act)
{
    const ssize_t sent = write(device, &act->can.frame, act->can.size);

    return sent == (ssize_t)act->can.size ? 0 : sent < 0 ? -errno : -EIO;
}

int hil_safe_do(int device, const struct hil_safe_act *acts, unsigned count)
{
    int failed = 0;

    for (unsigned i = 0; i < count; i++) {
        const int rc = acts[i].kind == HIL_SAFE_COMEDI ? safe_comedi(device, &acts[i])
                                                       : safe_can(device, &acts[i]);
        failed = rc ? rc : failed;
    }
    return failed;
}

/* --- the node's side ------------------------------------------------------------------------- */

/* Moves a descriptor above the guardian's, so that putting others in their place does not close
 * it. */
static int guardian_lift(int file)
{
    const int lifted = fcntl(file, F_DUPFD_CLOEXEC, 2 * GUARDIAN_FIRST_CLOSED);

    return lifted < 0 ? -errno : lifted;
}

/* The program is always hiloco, since a node may be a user's process running another program. */
static int guardian_spawn(pid_t *process, const char *name, int device, int line)
{
    char program[PATH_MAX];
    char *const argv[] = {"hl-guardian", (char *)GUARDIAN_WORD, (char *)name, NULL};
    char *libraries = NULL, *environment[] = {NULL, NULL}; /* no secret of the node is passed on */
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;

    if (hil_installed_find("hiloco", program, sizeof program))
        return -ENOENT;
    if (getenv("LD_LIBRARY_PATH") &&
        asprintf(&libraries, "LD_LIBRARY_PATH=%s", getenv("LD_LIBRARY_PATH")) < 0)
        return -ENOMEM;
    environment[0] = libraries;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
    int rc = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDWR, 0);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(&files, 0, 1);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(&files, device, GUARDIAN_DEVICE);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(&files, line, GUARDIAN_LINE);
    if (!rc)
        rc = posix_spawn_file_actions_addclosefrom_np(&files, GUARDIAN_FIRST_CLOSED);
    if (!rc)
        rc = posix_spawn(process, program, &files, &attributes, argv, environment);
    free(libraries);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return -rc;
}

static int guardian_start(struct hil_guardian *g, const char *name, int device, int theirs)
{
    const int device_lifted = guardian_lift(device), theirs_lifted = guardian_lift(theirs);
    int rc = device_lifted < 0 ? device_lifted : theirs_lifted < 0 ? theirs_lifted : 0;

    if (!rc)
        rc = guardian_spawn(&g->process, name, device_lifted, theirs_lifted);
    if (device_lifted >= 0)
        close(device_lifted);
    if (theirs_lifted >= 0)
        close(theirs_lifted);
    return rc;
}

/* Sends the actions, and waits until the guardian has them. */
static int guardian_instruct(const struct hil_guardian *g, const struct hil_safe_act *acts,
                             unsigned count)
{
    const size_t size = count * sizeof *acts;
    char answer = 0;

    if (send(g->line, acts, size, MSG_NOSIGNAL) != (ssize_t)size)
        return -errno;
    return recv(g->line, &answer, 1, 0) == 1 && answer == READY ? 0 : -ECHILD;
}

int hil_guardian_open(struct hil_guardian *g, const char *name, int device,
                      const struct hil_safe_act *acts, unsigned count)
{
    int line[2];

    *g = (struct hil_guardian){.line = -1};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, line))
        return -errno;
    g->line = line[0];
    int rc = guardian_start(g, name, device, line[1]);
    close(line[1]);
    if (!rc)
        rc = guardian_instruct(g, acts, count);
    if (rc)
        hil_guardian_close(g);
    return rc;
}

bool hil_guardian_is_there(const struct hil_guardian *g)
{
    char answer;

    return recv(g->line, &answer, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
}

enum { END_MS = 5000 };

int hil_guardian_close(struct hil_guardian *g)
{
    int status = 0;

    if (g->line >= 0) {
        send(g->line, &ENDED, 1, MSG_NOSIGNAL);
        close(g->line);
        g->line = -1;
    }
    if (!g->process)
        return -ECHILD;
    hil_reap_within(g->process, END_MS, "hl-guardian", &status);
    g->process = 0;
    return WIFEXITED(status) ? -WEXITSTATUS(status) : -ECHILD;
}

/* --- the guardian's side --------------------------------------------------------------------- */

/* Makes sure that only SIGKILL ends it, that it keeps no folder busy, and that no spinning loop
 * delays it. */
static void guardian_settle(void)
{
    const struct sched_param first = {.sched_priority = sched_get_priority_max(SCHED_FIFO)};
    cpu_set_t all;
    sigset_t signals;

    sigfillset(&signals);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    if (chdir("/"))
        return;
    prctl(PR_SET_NAME, "hl-guardian");
    memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
    sched_setscheduler(0, SCHED_FIFO, &first); /* if permitted */
}

static int guardian_watch(const char *name)
{
    struct hil_safe_act acts[HIL_DEVICE_MAX];
    char said = 0;

    const ssize_t got = recv(GUARDIAN_LINE, acts, sizeof acts, 0);
    if (got < 0 || (size_t)got % sizeof acts[0])
        return EPROTO;
    if (send(GUARDIAN_LINE, &READY, 1, MSG_NOSIGNAL) != 1)
        return EPIPE;
    const bool ended = recv(GUARDIAN_LINE, &said, 1, 0) == 1 && said == ENDED;
    const int rc = hil_safe_do(GUARDIAN_DEVICE, acts, (unsigned)((size_t)got / sizeof acts[0]));
    if (!ended)
        fprintf(stderr, "%s: %s: its node is gone; its safe values are%s written%s%s\n",
                rc ? "error" : "warning", name, rc ? " not" : "", rc ? ": " : "",
                rc ? strerror(-rc) : "");
    return -rc;
}

void hil_guardian_main(int argc, char **argv)
{
    if (argc != 3 || strcmp(argv[1], GUARDIAN_WORD) != 0)
        return;
    guardian_settle();
    _exit(guardian_watch(argv[2]));
}
