/*
 * Measures how many steps the loops of 20 converters and their controller miss over tcp, with
 * periods of 100 us and all processes on this machine. hiloco runs as usual, in turns with loops on
 * the same two cores that only wait for their steps: the machine is to blame for the steps that
 * these miss. All loops skip missed steps. A converter that caught up would count each interruption
 * eleven times.
 *
 * Loops that send and receive as many bytes over plain sockets are measured in the same way, to
 * show the cost of sockets alone.
 *
 * The result is missed steps in 1000, of both executors: of the controller, and of the first
 * converter, whose core runs all the others, too.
 */
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "bench.h"
#include "channels/fabric/tcp/tcp_wire.h"
#include "harness/run/executor.h"
#include "harness/run/privileges.h"
#include "hiloco.h"
#include "tests/temporary.h"

enum { PERIOD_US = 100, CONVERTERS = 20, PRIORITY = 80, EXECUTORS = 2 };

/* The bytes of a step: a value of two words for each converter, plus the link's step numbers. */
enum { STEP_BYTES = CONVERTERS * (sizeof(struct tcp_request) + 4 * sizeof(uint64_t)) };

static const uint64_t SLICE_NS = 250000000, LEAD_NS = 20000000;

struct missed {
    uint64_t steps, missed, left_out; /* left_out: those of the missed that were not made later */
};

static double in_1000(const struct missed *m)
{
    return m->steps ? 1000.0 * (double)m->missed / (double)m->steps : 0;
}

/* --- hiloco ---------------------------------------------------------------------------------- */

static int add_node(struct missed *m, const json_t *node)
{
    json_int_t missed, left_out, run;

    if (json_unpack((json_t *)node, "{s:I, s:I, s:I}", "missed", &missed, "left_out", &left_out,
                    "steps", &run))
        return -EPROTO;
    m->missed += (uint64_t)missed;
    m->steps += (uint64_t)(run + left_out);
    m->left_out += (uint64_t)left_out;
    return 0;
}

static int read_summary(struct missed *m, const char *directory)
{
    char path[PATH_MAX];
    json_t *controller, *each;

    snprintf(path, sizeof path, "%s/summary.json", directory);
    json_t *all = json_load_file(path, 0, NULL);
    int rc = !all || json_unpack(all, "{s:{s:o, s:{s:o}}}", "nodes", "controller", &controller,
                                 "converter", "each", &each)
                 ? -EPROTO
                 : add_node(m, controller);
    if (!rc)
        rc = add_node(m, json_array_get(each, 0));
    json_decref(all);
    return rc;
}

/* A run that missed steps is not valid and has a failing exit status, but its summary still has the
 * counts. */
static int run_hiloco(const struct bench_options *o, struct missed *m)
{
    char directory[TEMPORARY_SIZE];
    char scenario[PATH_MAX], duration[48], controller[32], converters[32];
    const char *const arguments[] = {
        "hiloco", "run",
        scenario, "--quiet",
        "--out",  directory,
        "--set",  "fabric=tcp",
        "--set",  "nodes.controller.period_us=100",
        "--set",  "nodes.controller.realtime_phase_us=50",
        "--set",  "nodes.converter.period_us=100",
        "--set",  "nodes.converter.overrun=skip",
        "--set",  duration,
        "--set",  controller,
        "--set",  converters,
        NULL,
    };

    snprintf(scenario, sizeof scenario, "%s/dcdc20.yaml", o->configs);
    snprintf(duration, sizeof duration, "duration_s=%g", (double)SLICE_NS * 1e-9);
    snprintf(controller, sizeof controller, "nodes.controller.cpu=%d", o->cpus[0]);
    snprintf(converters, sizeof converters, "nodes.converter.cpu=%d", o->cpus[1]);
    if (!temporary_folder(directory))
        return -errno;
    const int status = bench_hiloco(arguments);
    const int rc = status < 0 ? status : read_summary(m, directory);
    bench_remove(directory);
    return rc;
}

/* --- loops that do nothing, or no more than send and hear ------------------------------------- */

struct bare {
    struct hil_clock clock;
    uint64_t start_ns;
    int fds[EXECUTORS]; /* -1: the loops do nothing */
    struct hil_node_state nodes[EXECUTORS];
};

struct side {
    int fd;
};

static int bare_step(void *arg, uint64_t n, uint64_t now)
{
    static char bytes[1 << 16];
    const struct side *s = arg;

    (void)n, (void)now;
    if (s->fd < 0)
        return 0;
    const ssize_t heard = recv(s->fd, bytes, sizeof bytes, MSG_DONTWAIT);
    const ssize_t said = send(s->fd, bytes, STEP_BYTES, MSG_DONTWAIT | MSG_NOSIGNAL);
    return (heard < 0 || said < 0) && errno != EAGAIN ? -errno : 0;
}

/* Uses the scenario's settings. */
static int run_bare_loop(const struct bench_options *o, struct bare *b, unsigned which)
{
    static struct hil_executor_state state;
    static struct hil_worst worst;
    static _Atomic uint64_t stop;
    const struct hil_executor_config config = {
        .cpu = o->cpus[which], .priority = PRIORITY, .scheduler = HIL_FIFO};
    struct side side = {.fd = b->fds[which]};
    struct hil_loop loop = {.timing = {.period_ns = PERIOD_US * 1000, .overrun = HIL_SKIP},
                            .step = bare_step,
                            .arg = &side,
                            .state = &b->nodes[which],
                            .worst = &worst,
                            .end_ns = SLICE_NS};
    struct hil_pending pending = hil_pending_first(&loop);
    struct hil_executor e = {.clock = b->clock,
                             .stop = &stop,
                             .heartbeat = &state.heartbeat,
                             .start_ns = b->start_ns,
                             .count = 1,
                             .batches = &pending};

    hil_settle(&config, &state);
    hil_schedule_real_time(&config, loop.timing.period_ns, &state);
    return hil_executor_run(&e);
}

static int run_bare_loops(const struct bench_options *o, struct bare *b)
{
    pid_t pids[EXECUTORS];
    int rc = 0, status;

    b->start_ns = hil_clock_now(&b->clock) + LEAD_NS;
    fflush(NULL);
    for (unsigned i = 0; i < EXECUTORS; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            _exit(run_bare_loop(o, b, i) ? 1 : 0);
        }
    }
    for (unsigned i = 0; i < EXECUTORS; i++)
        if (pids[i] < 0 || waitpid(pids[i], &status, 0) < 0 || status)
            rc = -EIO;
    return rc;
}

/* Makes the two ends of a connection over loopback. */
static int connect_both(int fds[EXECUTORS])
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int one = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof a;

    fds[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&a, sizeof a) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&a, &size) ||
        connect(fds[0], (struct sockaddr *)&a, sizeof a))
        perror("loopback");
    else
        fds[1] = accept(listener, NULL, NULL);
    close(listener);
    for (unsigned i = 0; i < EXECUTORS; i++)
        setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fds[1] < 0 ? -ECONNREFUSED : 0;
}

static int run_bare(const struct bench_options *o, bool talking, struct missed *m)
{
    struct bare *b =
        mmap(NULL, sizeof *b, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (b == MAP_FAILED)
        return -errno;
    hil_clock_calibrate(&b->clock);
    b->fds[0] = b->fds[1] = -1;
    int rc = talking ? connect_both(b->fds) : 0;
    if (!rc)
        rc = run_bare_loops(o, b);
    for (unsigned i = 0; i < EXECUTORS; i++) {
        m->missed += hil_missed(&b->nodes[i]);
        m->left_out += b->nodes[i].left_out;
        m->steps += SLICE_NS / (PERIOD_US * 1000);
        if (b->fds[i] >= 0)
            close(b->fds[i]);
    }
    munmap(b, sizeof *b);
    return rc;
}

static int run_empty(const struct bench_options *o, struct missed *m)
{
    return run_bare(o, false, m);
}

static int run_sockets(const struct bench_options *o, struct missed *m)
{
    return run_bare(o, true, m);
}

/* --- in turns --------------------------------------------------------------------------------- */

static int measure_beside(const struct bench_options *o, struct bench_sample *sample,
                          int (*run)(const struct bench_options *o, struct missed *m))
{
    const uint64_t until = bench_glance() + (uint64_t)(o->seconds * 1e9);
    struct missed ours = {0}, empty = {0};
    int rc = 0;

    do {
        rc = run_empty(o, &empty);
        if (!rc)
            rc = run(o, &ours);
    } while (!rc && bench_glance() < until);
    sample->value = in_1000(&ours);
    sample->against = in_1000(&empty);
    if (ours.steps)
        sample->left_out = (double)ours.left_out / (double)ours.steps;
    return rc;
}

static int measure_hiloco(const struct benchmark *b, const struct bench_options *o,
                          struct bench_sample *sample)
{
    (void)b;
    return measure_beside(o, sample, run_hiloco);
}

static int measure_sockets(const struct benchmark *b, const struct bench_options *o,
                           struct bench_sample *sample)
{
    (void)b;
    return measure_beside(o, sample, run_sockets);
}

const struct benchmark converter_benchmarks[] = {
    {.name = "tcp_20_converters_missed",
     .unit = "/1000",
     .against = "empty loops of 100 us",
     .cores = 2,
     .measure = measure_hiloco},
    {.name = "tcp_sockets_alone_missed",
     .unit = "/1000",
     .against = "empty loops of 100 us",
     .cores = 2,
     .measure = measure_sockets},
    {0},
};
