#include "pair.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/temporary.h"

enum {
    TURN = 2000, /* repetitions in one go: about half a millisecond, less than a time slice */
    TURNS_MAX = 4096,
};

/* --- talking ------------------------------------------------------------------------------ */

void pair_hear_idly(struct pair *p)
{
    const struct timespec nap = {.tv_nsec = 1000000};

    p->heard++;
    while (atomic_load(&p->shared->lines[!p->side].told) < p->heard)
        nanosleep(&nap, NULL);
}

bool pair_again(struct pair *p, bool wish)
{
    if (p->side == 0) {
        if (!p->until)
            p->until = bench_now() + (uint64_t)(p->options->seconds * 1e9);
        atomic_store(&p->shared->more, wish && bench_now() < p->until);
        pair_tell(p);
        pair_hear(p);
    } else {
        pair_hear(p);
        pair_tell(p);
    }
    return atomic_load(&p->shared->more);
}

void pair_round_trips(struct pair *p, void *unused, unsigned times)
{
    (void)unused;
    if (p->side == 0)
        for (unsigned i = 0; i < times; i++) {
            pair_tell(p);
            pair_hear(p);
        }
    else
        for (unsigned i = 0; i < times; i++) {
            pair_hear(p);
            pair_tell(p);
        }
}

/* --- measuring ---------------------------------------------------------------------------- */

static double time_of(struct pair *p, pair_act *act, void *arg, unsigned times)
{
    uint64_t begin = bench_now();

    act(p, arg, times);
    return (double)(bench_now() - begin) / times;
}

void pair_beside(struct pair *p, pair_act *act, pair_act *rival, void *arg, unsigned times)
{
    static double values[TURNS_MAX], against[TURNS_MAX];
    size_t turns = 0;

    time_of(p, act, arg, times); /* warms up */
    while (pair_again(p, turns < TURNS_MAX)) {
        against[turns] = time_of(p, rival, arg, times);
        values[turns++] = time_of(p, act, arg, times);
    }
    if (p->side == 0)
        p->shared->sample = (struct bench_sample){.value = bench_quartile(values, turns),
                                                  .against = bench_quartile(against, turns)};
}

void pair_beside_raw(struct pair *p, pair_act *act, void *arg)
{
    pair_beside(p, act, pair_round_trips, arg, TURN);
}

/* --- the two processes ---------------------------------------------------------------------- */

static void log_error(void *arg, enum loco_level level, const char *text)
{
    (void)arg;
    if (level == LOCO_ERROR)
        fprintf(stderr, "%s\n", text);
}

/* Splits "10.0.0.1 10.0.0.2" into the sides' addresses. If there is only one, both sides use it. */
static int open_verbs(const struct pair *p, const char *text, struct loco_fabric **fabric)
{
    char sides[2][64];
    const char *const addresses[] = {sides[0], sides[1]};
    const struct loco_verbs_config config = {
        .addresses = addresses, .address_count = 2, .shared_completions = p->benchmark->polled};
    int count = sscanf(text, "%63s %63s", sides[0], sides[1]);

    if (count == 1)
        strcpy(sides[1], sides[0]);
    return count < 1 ? -EINVAL : loco_verbs_open(fabric, &config);
}

static int open_fabric(const struct pair *p, struct loco_fabric **fabric)
{
    const char *addresses = getenv("RDMA_ADDRESSES");

    return addresses ? open_verbs(p, addresses, fabric) : loco_shm_open(fabric, p->directory);
}

static void close_fabric(struct loco_fabric *fabric)
{
    if (getenv("RDMA_ADDRESSES"))
        loco_verbs_close(fabric);
    else
        loco_shm_close(fabric);
}

/* The polling thread. */
struct pair_poller {
    pthread_t thread;
    struct loco_manager *manager;
    _Atomic bool stop;
};

static void *poll_completions(void *arg)
{
    struct pair_poller *poller = arg;

    while (!atomic_load_explicit(&poller->stop, memory_order_relaxed)) {
        loco_manager_poll(poller->manager);
        sched_yield();
    }
    return NULL;
}

/* Runs on a core that neither side uses, if there is one. */
static int start_poller(struct pair *p, struct loco_manager *manager)
{
    cpu_set_t others;

    p->poller = calloc(1, sizeof *p->poller);
    if (!p->poller)
        return -ENOMEM;
    p->poller->manager = manager;
    int rc = pthread_create(&p->poller->thread, NULL, poll_completions, p->poller);
    if (rc)
        return -rc;
    memset(&others, 0xff, sizeof others);
    for (int side = 0; side < 2; side++)
        CPU_CLR((unsigned)p->options->cpus[side], &others);
    pthread_setaffinity_np(p->poller->thread, sizeof others, &others);
    return 0;
}

static void stop_poller(struct pair *p, struct loco_manager *manager)
{
    if (!p->poller)
        return;
    loco_fence_global(manager); /* waits for everything in flight */
    atomic_store(&p->poller->stop, true);
    pthread_join(p->poller->thread, NULL);
    free(p->poller);
}

void pair_close_node(struct pair *p, struct loco_fabric *fabric, struct loco_manager *manager)
{
    stop_poller(p, manager);
    loco_manager_close(manager);
    close_fabric(fabric);
}

int pair_open_node(struct pair *p, struct loco_fabric **fabric, struct loco_manager **manager)
{
    const struct loco_manager_config config = {
        .node = p->side,
        .node_count = 2,
        .arena_size = p->arena_size ? p->arena_size : 1 << 20,
        .block_size = p->block_size,
        .completions = p->benchmark->polled ? LOCO_POLLED : LOCO_INLINE,
        .log = log_error};
    int rc = open_fabric(p, fabric);

    if (!rc)
        rc = loco_manager_open(manager, *fabric, &config);
    return rc || !p->benchmark->polled ? rc : start_poller(p, *manager);
}

static void become_side(struct pair *p, unsigned side, int (*body)(struct pair *))
{
    cpu_set_t set;

    p->side = side;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(PAIR_LONGEST_S);
    CPU_ZERO(&set);
    CPU_SET((unsigned)p->options->cpus[side], &set);
    sched_setaffinity(0, sizeof set, &set);
    int rc = body(p);
    fflush(NULL);
    _exit(-rc & 0xff);
}

pid_t pair_fork(struct pair *p, unsigned side, int (*body)(struct pair *))
{
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0)
        become_side(p, side, body);
    return pid;
}

struct pair_shared *pair_share(void)
{
    void *shared = mmap(NULL, sizeof(struct pair_shared), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return shared == MAP_FAILED ? NULL : shared;
}

/* If one side fails, the other would wait for ever, so it is ended. */
static int wait_for_both(pid_t pids[2])
{
    int result = 0, status, left = 2;

    while (left > 0) {
        pid_t pid = wait(&status);
        int rc = WIFEXITED(status) ? -WEXITSTATUS(status) : -ETIMEDOUT;
        if (pid != pids[0] && pid != pids[1])
            continue; /* a server of another benchmark */
        left--;
        if (!rc || result)
            continue;
        result = rc;
        kill(pids[pid == pids[0]], SIGKILL);
    }
    return result;
}

int pair_run(const struct benchmark *benchmark, const struct bench_options *options,
             int (*body)(struct pair *pair), void *arg, struct bench_sample *sample)
{
    char directory[TEMPORARY_SIZE];
    struct pair p = {.benchmark = benchmark, .options = options, .arg = arg};
    pid_t pids[2];

    p.shared = pair_share();
    if (!p.shared)
        return -ENOMEM;
    p.directory = temporary_folder(directory);
    for (unsigned side = 0; side < 2; side++)
        pids[side] = pair_fork(&p, side, body);
    int rc = wait_for_both(pids);
    *sample = p.shared->sample;
    rmdir(directory);
    munmap(p.shared, sizeof *p.shared);
    return rc;
}
