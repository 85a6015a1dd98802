/*
 * Measures the cost of tracing: of an event's place in the code while nobody traces, of an event
 * while LTTng traces, and of the loops' steps with and without tracing, alternating in one run.
 */
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "channels/trace_internal.h"
#include "harness/run/batches.h"
#include "harness/run/group.h"
#include "harness/tracing/provider.h"
#include "harness/tracing/session.h"
#include "pair.h"
#include "scenarios.h"
#include "tests/temporary.h"

/* --- a session -------------------------------------------------------------------------------- */

struct traced {
    struct hil_scenario scenario; /* only its trace is used */
    struct hil_session *session;
    char out[TEMPORARY_SIZE];
};

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(path);
}

static void close_session(struct traced *t)
{
    struct hil_traced unused;

    if (t->session)
        hil_session_stop(t->session, &unused);
    hil_session_close(t->session);
    nftw(t->out, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int open_session(struct traced *t, bool with_pushes)
{
    *t = (struct traced){
        .scenario = {.trace = {.keep = HIL_KEEP_ALL,
                               .buffer_kib = 65536,
                               .events = {.step = true, .push = with_pushes}}},
    };
    if (!temporary_folder(t->out))
        return -errno;
    int rc = hil_session_open(&t->session, &t->scenario, t->out, NULL);
    if (!rc)
        rc = hil_session_start(t->session, NULL, 0);
    if (rc)
        close_session(t);
    return rc;
}

/* --- one event -------------------------------------------------------------------------------- */

enum { EVENTS = 1000, BATCHES_MAX = 1000 };

/* As of a batch of eight nodes that find nothing new. */
static void row_events(uint64_t n)
{
    static struct hil_traced_step step = {.node = 1, .nodes = HIL_TRACED_NODES};

    for (unsigned i = 0; i < EVENTS; i++) {
        __asm__ volatile("" ::: "memory");
        step.step = n + i;
        HIL_TRACE(step, &step);
    }
}

static void push_events(uint64_t n)
{
    (void)n;
    for (unsigned i = 0; i < EVENTS; i++) {
        __asm__ volatile("" ::: "memory");
        LOCO_TRACE(push, 1, "power_controller/link0", 40);
    }
}

static void no_events(uint64_t n)
{
    (void)n;
    for (unsigned i = 0; i < EVENTS; i++)
        __asm__ volatile("" ::: "memory");
}

/* Returns the ns of one event minus those of the loop around it. */
static double cost_of(void (*events)(uint64_t n), unsigned batches)
{
    static double with[BATCHES_MAX], without[BATCHES_MAX];

    for (unsigned i = 0; i < batches; i++) {
        uint64_t begin = bench_now();
        no_events(i);
        uint64_t between = bench_now();
        events((uint64_t)i * EVENTS);
        with[i] = (double)(bench_now() - between);
        without[i] = (double)(between - begin);
    }
    return (bench_quartile(with, batches) - bench_quartile(without, batches)) / EVENTS;
}

enum { ROW_EVENT, PUSH_EVENT };

static void (*const kinds[])(uint64_t n) = {row_events, push_events};

static int measure_off(const struct benchmark *b, const struct bench_options *o,
                       struct bench_sample *sample)
{
    (void)o;
    sample->value = cost_of(kinds[b->parameter], BATCHES_MAX);
    sample->against = 2;
    return 0;
}

/* Runs with the provider, in a process of its own, as the other benchmarks must run without it. */
static int measure_loaded(const struct benchmark *b, const struct bench_options *o,
                          struct bench_sample *sample)
{
    double *value =
        mmap(NULL, sizeof *value, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char why[256];
    int status = 0;

    (void)o;
    if (value == MAP_FAILED)
        return -ENOMEM;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (hil_provider_load(0, why, sizeof why))
            _exit(1);
        *value = cost_of(kinds[b->parameter], BATCHES_MAX / 2);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    sample->value = *value;
    sample->against = 1;
    munmap(value, sizeof *value);
    return pid < 0 ? -EAGAIN : status ? -ELIBACC : 0;
}

static int measure_on(const struct benchmark *b, const struct bench_options *o,
                      struct bench_sample *sample)
{
    struct traced t;
    int rc = open_session(&t, true);

    if (rc)
        return rc;
    rc = measure_loaded(b, o, sample);
    close_session(&t);
    sample->against = 250;
    return rc;
}

/* --- the steps, by the real roles in turns ---------------------------------------------------- */

enum { TURNS_MAX = 10000, SETTLING = 200 };

struct turns {
    const struct hil_run *run;
    unsigned timed;
    double quantile;
};

struct times {
    double ns[2][TURNS_MAX / 2]; /* without, and with */
    size_t count[2];
};

struct tracers {
    const struct hil_tracer *loops;
    const struct loco_tracer *channels;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quantile(struct times *t, int traced, double q)
{
    qsort(t->ns[traced], t->count[traced], sizeof(double), by_value);
    return t->count[traced] ? t->ns[traced][(size_t)(q * (double)(t->count[traced] - 1))] : 0;
}

static int step_batch(struct hil_loop *batch, uint64_t n)
{
    const uint64_t due = hil_loop_due(batch, n);
    uint64_t next;
    int rc = 0;

    for (const struct hil_loop *l = batch; !rc && l; l = l->beside)
        rc = l->step(l->arg, n, due);
    return rc ? rc : hil_loop_account(batch, n, due, due + 1, &next);
}

/* All batches of nodes. */
static int step_all(const struct hil_group *g, uint64_t n)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < g->count; i++)
        if (!g->nodes[i]->state->place)
            rc = step_batch(&g->nodes[i]->loop, n);
    return rc;
}

/* Every other turn is traced. */
static void set_tracers(bool on, const struct tracers *tracers)
{
    hil_tracer = on ? tracers->loops : NULL;
    loco_trace_set(on ? tracers->channels : NULL);
}

static int take_turn(struct pair *p, const struct hil_group *g, const struct tracers *tracers,
                     uint64_t n, struct times *times)
{
    const int traced = n % 2;
    size_t *count = &times->count[traced];
    int rc;

    if (p->side == CONTROLLER)
        pair_hear(p);
    set_tracers(traced, tracers);
    uint64_t begin = bench_now();
    rc = step_all(g, n);
    double ns = (double)(bench_now() - begin) / g->count;
    if (n >= SETTLING && *count < TURNS_MAX / 2)
        times->ns[traced][(*count)++] = ns;
    pair_tell(p);
    if (p->side == CONVERTERS)
        pair_hear(p);
    return rc;
}

static int take_turns(struct pair *p, const struct hil_group *g)
{
    static struct times times;
    const struct turns *t = p->arg;
    struct hil_executor all = {0};
    const struct tracers tracers = {hil_tracer, atomic_load(&loco_tracer)}; /* the provider's */
    uint64_t n = 0;
    int rc = 0;

    times = (struct times){0};
    rc = hil_batches_gather(&all, g);
    free(all.batches); /* the loops know their batches */
    while (n < SETTLING && !rc)
        rc = take_turn(p, g, &tracers, n++, &times);
    while (!rc && pair_again(p, n < TURNS_MAX))
        rc = take_turn(p, g, &tracers, n++, &times);
    if (p->side == t->timed) {
        p->shared->sample.value = quantile(&times, 1, t->quantile);
        p->shared->sample.against = quantile(&times, 0, t->quantile);
    }
    return rc;
}

static int turns_body(struct pair *p)
{
    const struct turns *t = p->arg;
    char why[256];
    int rc = hil_provider_load(0, why, sizeof why);

    return rc ? rc : bench_run_side(p, t->run, take_turns);
}

/* `parameter` is the quantile in 1/1000, plus 1000 for the controller. */
static int measure_steps(const struct benchmark *b, const struct bench_options *o,
                         struct bench_sample *sample)
{
    static const char *const sets[] = {"record.0.decimation=0"};
    struct turns turns = {.timed = b->parameter > 1000 ? CONTROLLER : CONVERTERS,
                          .quantile = b->parameter % 1000 * 1e-3};
    struct bench_run run;
    struct traced t;
    int rc = bench_run_open(&run, o, "dcdc20-nominal.yaml", false, sets, 1);

    if (rc)
        return rc;
    turns.run = &run.run;
    rc = open_session(&t, false);
    if (!rc) {
        rc = pair_run(b, o, turns_body, &turns, sample);
        close_session(&t);
    }
    bench_run_close(&run);
    return rc;
}

#define STEP(called, which)                                                                        \
    {                                                                                              \
        .name = called, .unit = "ns", .against = "the same, untraced", .cores = 2,                 \
        .parameter = which, .measure = measure_steps                                               \
    }

/* Three cases: nobody traces; the provider is loaded, but there is no session; there is a session.
 */
#define EVENT(called, which, how)                                                                  \
    {                                                                                              \
        .name = called, .unit = "ns", .against = "goal", .target_ratio = 1, .cores = 1,            \
        .parameter = which, .measure = how                                                         \
    }

const struct benchmark tracing_benchmarks[] = {
    EVENT("tracepoint_off_step", ROW_EVENT, measure_off),
    EVENT("tracepoint_off_push", PUSH_EVENT, measure_off),
    EVENT("tracepoint_idle_step", ROW_EVENT, measure_loaded),
    EVENT("tracepoint_idle_push", PUSH_EVENT, measure_loaded),
    EVENT("tracepoint_on_step", ROW_EVENT, measure_on),
    EVENT("tracepoint_on_push", PUSH_EVENT, measure_on),
    STEP("converter_step_traced_p50", 500),
    STEP("converter_step_traced_p99", 990),
    STEP("converter_step_traced_p999", 999),
    STEP("controller_step_20_traced_p50", 1500),
    STEP("controller_step_20_traced_p99", 1990),
    STEP("controller_step_20_traced_p999", 1999),
    {0},
};
