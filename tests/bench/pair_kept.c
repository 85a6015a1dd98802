/* Pairs that stay. A side waits for the benchmark of a run, and answers with how the run ended. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"
#include "tests/temporary.h"

/* --- a side ----------------------------------------------------------------------------------- */

struct side {
    const struct pair_acts *acts;
    int socket;
};

static int keep_side(struct pair *p)
{
    const struct side *side = p->arg;
    struct benchmark benchmark;
    int rc = side->acts->open(p);

    p->benchmark = &benchmark;
    for (;;) {
        alarm(0);
        if (send(side->socket, &rc, sizeof rc, MSG_NOSIGNAL) != sizeof rc ||
            recv(side->socket, &benchmark, sizeof benchmark, 0) != sizeof benchmark)
            return rc;
        alarm(PAIR_LONGEST_S);
        rc = side->acts->run(p);
    }
}

/* --- the process that has both ---------------------------------------------------------------- */

static int start_side(struct pair_kept *k, unsigned side, const struct pair_acts *acts)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return -errno;
    struct side arg = {acts, ends[1]};
    k->pair.arg = &arg;
    k->pids[side] = pair_fork(&k->pair, side, keep_side);
    close(ends[1]);
    k->sockets[side] = ends[0];
    return k->pids[side] < 0 ? -EAGAIN : 0;
}

static void signal_both(const struct pair_kept *k, int number)
{
    for (unsigned side = 0; side < 2; side++)
        if (k->pids[side] > 0)
            kill(k->pids[side], number);
}

/* The next run starts new ones. */
static void end_both(struct pair_kept *k)
{
    signal_both(k, SIGKILL);
    for (unsigned side = 0; side < 2; side++) {
        if (k->pids[side] <= 0)
            continue;
        waitpid(k->pids[side], NULL, 0);
        close(k->sockets[side]);
    }
    if (k->pair.shared)
        munmap(k->pair.shared, sizeof *k->pair.shared);
    *k = (struct pair_kept){0};
}

/* If one side fails, the other may wait for it for ever. */
static int await_both(const struct pair_kept *k)
{
    struct pollfd fds[2] = {{k->sockets[0], POLLIN, 0}, {k->sockets[1], POLLIN, 0}};
    int rc = 0;

    for (unsigned left = 2; left > 0;) {
        if (poll(fds, 2, -1) < 0)
            return -errno;
        for (unsigned side = 0; side < 2; side++) {
            if (!fds[side].revents)
                continue;
            if (recv(fds[side].fd, &rc, sizeof rc, 0) != sizeof rc)
                return -ETIMEDOUT; /* it has died */
            if (rc)
                return rc;
            fds[side].fd = -1;
            left--;
        }
    }
    return 0;
}

static int start_both(struct pair_kept *k, const struct benchmark *b, const struct bench_options *o,
                      const struct pair_acts *acts)
{
    static char directory[TEMPORARY_SIZE];
    int rc = 0;

    k->pair = (struct pair){.options = o,
                            .benchmark = b,
                            .directory = temporary_folder(directory),
                            .shared = pair_share()};
    for (unsigned side = 0; !rc && side < 2; side++)
        rc = k->pair.shared ? start_side(k, side, acts) : -ENOMEM;
    return rc ? rc : await_both(k);
}

static int run_both(struct pair_kept *k, const struct benchmark *b)
{
    signal_both(k, SIGCONT);
    for (unsigned side = 0; side < 2; side++)
        if (send(k->sockets[side], b, sizeof *b, MSG_NOSIGNAL) != sizeof *b)
            return -EPIPE;
    const int rc = await_both(k);
    signal_both(k, SIGSTOP);
    return rc;
}

int pair_run_kept(struct pair_kept *k, const struct benchmark *b, const struct bench_options *o,
                  const struct pair_acts *acts, struct bench_sample *sample)
{
    double set_up_s = 0;
    int rc = 0;

    if (!k->pids[0]) {
        const uint64_t begin = bench_now();
        rc = start_both(k, b, o, acts);
        set_up_s = (double)(bench_now() - begin) * 1e-9;
    }
    if (!rc) {
        k->pair.shared->sample = (struct bench_sample){0};
        rc = run_both(k, b);
        *sample = k->pair.shared->sample;
        sample->set_up_s = set_up_s;
    }
    if (rc)
        end_both(k);
    return rc;
}
