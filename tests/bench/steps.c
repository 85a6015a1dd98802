/*
 * Measures the cost of the steps of the real-time loops, with the real roles over shm: the
 * controller on one core, all converters on the other, as in a real run.
 *
 * The two sides take turns instead of waiting for the clock. So the other core has read each line
 * that a step writes, and has written each line that a step reads: no step finds its network memory
 * in its own cache.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/run/group.h"
#include "harness/run/real_time.h"
#include "harness/tools/top/sample.h"
#include "pair.h"
#include "scenarios.h"

enum {
    STEPS_MAX = 10000, /* of the controller: no more than the recorder has room for */
    SETTLING = 200,    /* further steps, which only warm up */
};

/* --- in turns ------------------------------------------------------------------------------ */

/* How many steps are timed, and how many steps the converters make for each step of the controller.
 */
struct turns {
    const struct hil_run *run;
    unsigned timed;
    unsigned sweeps;
    unsigned shards; /* of the controller; 0: shards are not measured */
};

/* Loops first to end - 1 of this side make their steps n. */
static int step_some(const struct hil_group *g, unsigned first, unsigned end, uint64_t n)
{
    int rc = 0;

    for (unsigned i = first; !rc && i < end; i++) {
        const struct hil_loop *l = &g->nodes[i]->loop;
        rc = l->step(l->arg, n, hil_loop_due(l, n));
    }
    return rc;
}

static void move_to(const struct pair *p, unsigned side)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((unsigned)p->options->cpus[side], &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* The controller's second shard runs on the converters' core. So the converters that this shard
 * serves make their steps on the controller's core: no shard finds a line in its own core's cache.
 */
static int step_all(const struct pair *p, const struct turns *t, const struct hil_group *g,
                    uint64_t n)
{
    const bool halves = t->shards == 2 && p->side == CONVERTERS;
    int rc = step_some(g, 0, halves ? g->count / 2 : g->count, n);

    if (rc || !halves)
        return rc;
    move_to(p, CONTROLLER);
    rc = step_some(g, g->count / 2, g->count, n);
    move_to(p, CONVERTERS);
    return rc;
}

/* With shards, a waiting side leaves its core to the other side. */
static void await_turn(struct pair *p, const struct turns *t)
{
    if (t->shards)
        pair_hear_idly(p);
    else
        pair_hear(p);
}

/* The converters make their steps, then the controller. */
static int take_turn(struct pair *p, const struct turns *t, const struct hil_group *g, uint64_t n,
                     double *ns)
{
    unsigned sweeps = p->side == CONTROLLER ? 1 : t->sweeps;
    int rc = 0;

    if (p->side == CONTROLLER)
        await_turn(p, t);
    uint64_t begin = bench_now();
    for (unsigned i = 0; !rc && i < sweeps; i++)
        rc = step_all(p, t, g, n * sweeps + i);
    *ns = (double)(bench_now() - begin) / sweeps / g->count;
    pair_tell(p);
    if (p->side == CONVERTERS)
        await_turn(p, t);
    return rc;
}

static int take_turns(struct pair *p, const struct hil_group *g)
{
    static double values[STEPS_MAX], unused;
    const struct hil_clock unused_clock = {0}; /* unused, as the crew's threads do not rest */
    const struct turns *t = p->arg;
    uint64_t n = 0;
    int rc = 0;

    if (g->crew)
        hil_crew_wake(g->crew, &unused_clock);
    while (n < SETTLING && !rc)
        rc = take_turn(p, t, g, n++, &unused);
    size_t count = 0;
    while (!rc && pair_again(p, count < STEPS_MAX))
        rc = take_turn(p, t, g, n++, &values[count++]);
    if (p->side == t->timed)
        p->shared->sample.value = bench_quartile(values, count);
    return rc;
}

static int turns_body(struct pair *p)
{
    const struct turns *t = p->arg;

    return bench_run_side(p, t->run, take_turns);
}

static int measure_turns(const struct benchmark *b, const struct bench_options *o, unsigned count,
                         struct turns *t, struct bench_sample *sample)
{
    struct bench_run run;
    char converters[40], shards[40], cpu[40], shard_cpus[40];
    const char *const sets[] = {converters, "nodes.controller.priority=0", shards, cpu, shard_cpus};
    const size_t set_count = t->shards == 2 ? sizeof sets / sizeof sets[0] : 1;

    snprintf(converters, sizeof converters, "nodes.converter.count=%u", count);
    snprintf(shards, sizeof shards, "nodes.controller.shards=%u", t->shards);
    snprintf(cpu, sizeof cpu, "nodes.controller.cpu=%d", o->cpus[CONTROLLER]);
    snprintf(shard_cpus, sizeof shard_cpus, "nodes.controller.shard_cpus=[%d]",
             o->cpus[CONVERTERS]);
    int rc = bench_run_open(&run, o, "dcdc20-nominal.yaml", false, sets, set_count);
    if (rc)
        return rc;
    rc = bench_run_record(&run);
    t->run = &run.run;
    if (!rc)
        rc = pair_run(b, o, turns_body, t, sample);
    bench_run_close(&run);
    return rc;
}

/* Compares with a fixed goal. `parameter` is the number of converter steps per controller step. */
static int measure_converter(const struct benchmark *b, const struct bench_options *o,
                             struct bench_sample *sample)
{
    struct turns t = {.timed = CONVERTERS, .sweeps = b->parameter};
    int rc = measure_turns(b, o, 20, &t, sample);

    sample->against = 150;
    return rc;
}

/* --- the memory traffic of a controller's step, and nothing else ---------------------------- */

/* A link in each direction: a line that the converter writes, and one that the controller writes.
 */
struct steps_raw_link {
    alignas(64) volatile uint64_t here[8];
    alignas(64) volatile uint64_t there[8];
};

struct steps_raw {
    struct steps_raw_link *links;
    unsigned count;
};

/* Prefetches the lines to write before it reads the others. */
static uint64_t raw_step(const struct steps_raw *raw, unsigned side, uint64_t n)
{
    struct steps_raw_link *links = raw->links;
    uint64_t sum = 0;

    for (unsigned i = 0; i < raw->count; i++)
        __builtin_prefetch((void *)(side == CONTROLLER ? links[i].there : links[i].here), 1);
    for (unsigned i = 0; i < raw->count; i++) {
        const volatile uint64_t *line = side == CONTROLLER ? links[i].here : links[i].there;
        sum += line[0] + line[1] + line[2] + line[3];
    }
    for (unsigned i = 0; i < raw->count; i++) {
        volatile uint64_t *line = side == CONTROLLER ? links[i].there : links[i].here;
        for (unsigned word = 0; word < 4; word++)
            line[word] = n;
    }
    return sum;
}

static int raw_body(struct pair *p)
{
    static double values[STEPS_MAX];
    static volatile uint64_t seen;
    size_t count = 0;

    while (pair_again(p, count < STEPS_MAX)) {
        if (p->side == CONTROLLER)
            pair_hear(p);
        const uint64_t begin = bench_now();
        seen += raw_step(p->arg, p->side, count);
        values[count++] = (double)(bench_now() - begin);
        pair_tell(p);
        if (p->side == CONVERTERS)
            pair_hear(p);
    }
    if (p->side == CONTROLLER)
        p->shared->sample.value = bench_quartile(values, count);
    return 0;
}

static int measure_raw(const struct benchmark *b, const struct bench_options *o, unsigned count,
                       double *ns)
{
    const size_t size = count * sizeof(struct steps_raw_link);
    struct bench_sample sample = {0};
    struct steps_raw raw = {
        .links = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
        .count = count,
    };

    if (raw.links == MAP_FAILED)
        return -ENOMEM;
    const int rc = pair_run(b, o, raw_body, &raw, &sample);
    munmap(raw.links, size);
    *ns = sample.value;
    return rc;
}

/* The converters make as many steps per controller step as in the scenario, as otherwise the
 * controller's inputs would be stale. */
static int measure_step(const struct benchmark *b, const struct bench_options *o, unsigned shards,
                        double *ns)
{
    struct turns t = {.timed = CONTROLLER, .sweeps = 4, .shards = shards};
    struct bench_sample sample = {0};
    const int rc = measure_turns(b, o, b->parameter, &t, &sample);

    *ns = sample.value;
    return rc;
}

/* Measures a controller with `parameter` converters, in comparison with a bare loop that reads and
 * writes the lines of their links. */
static int measure_controller(const struct benchmark *b, const struct bench_options *o,
                              struct bench_sample *sample)
{
    const int rc = measure_step(b, o, 0, &sample->value);

    return rc ? rc : measure_raw(b, o, b->parameter, &sample->against);
}

/* Compares two shards with one thread. */
static int measure_shards(const struct benchmark *b, const struct bench_options *o,
                          struct bench_sample *sample)
{
    const int rc = measure_step(b, o, 1, &sample->against);

    return rc ? rc : measure_step(b, o, 2, &sample->value);
}

/* Compares two shards with a bare loop over the lines of half the links. */
static int measure_shards_raw(const struct benchmark *b, const struct bench_options *o,
                              struct bench_sample *sample)
{
    const int rc = measure_step(b, o, 2, &sample->value);

    return rc ? rc : measure_raw(b, o, b->parameter / 2, &sample->against);
}

/* --- in earnest: against the clock, at the scenario's periods ----------------------------- */

static void run_executors(struct bench_run *run, const struct hil_clock *clock, int *result)
{
    pid_t pids[2];
    int status;

    fflush(NULL);
    for (unsigned i = 0; i < 2; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            run->run.executor = i;
            run->run.place = run->directory;
            _exit(-hil_real_time_run(&run->run, clock, 10) & 0xff);
        }
    }
    for (unsigned i = 0; i < 2; i++) {
        waitpid(pids[i], &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status))
            *result = WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
    }
}

/* How long the converters' core is busy with one step of each, from the medians of the rows in
 * which they make their steps. A row that was due when the one before it ended begins at that time,
 * so nothing in between is left out. */
static double typical_turn(const struct hil_state *state)
{
    double ns = 0;

    for (unsigned i = 1; i < state->node_count; i++)
        if (state->nodes[i].place == 0)
            ns += (double)hil_histogram_quantile(&state->nodes[i].busy, 0.5);
    return ns;
}

/* The controller's step, or one converter's share of the converters' steps. */
static double typical_step(const struct hil_state *state, unsigned side)
{
    return side == CONTROLLER ? (double)hil_histogram_quantile(&state->nodes[0].busy, 0.5)
                              : typical_turn(state) / (state->node_count - 1);
}

/* The same for the first step. */
static double first_step(const struct hil_state *state, unsigned side)
{
    double ns = 0;

    if (side == CONTROLLER)
        return (double)state->nodes[0].first_ns;
    for (unsigned i = 1; i < state->node_count; i++)
        if (state->nodes[i].place == 0)
            ns += (double)state->nodes[i].first_ns;
    return ns / (state->node_count - 1);
}

/* Watches the run as `hiloco top --interval 20` does, until it is killed. */
static void watch(const struct hil_state *state)
{
    static const struct timespec interval = {.tv_nsec = 20000000};
    const struct hil_run_entry run = {
        .attached = {.state = state, .node_count = state->node_count}};
    struct hil_watch w;

    if (hil_watch_open(&w, &run))
        _exit(1);
    for (;; nanosleep(&interval, NULL))
        hil_watch_look(&w, bench_glance());
}

/* The greatest share of its steps that a node left out, because it did not get its core in time. */
static double left_out_share(const struct hil_state *state)
{
    double most = 0;

    for (unsigned i = 0; i < state->node_count; i++) {
        const struct hil_node_state *n = &state->nodes[i];
        const uint64_t due = n->steps + n->left_out;
        if (due)
            most = fmax(most, (double)n->left_out / (double)due);
    }
    return most;
}

struct earnest {
    double step, first; /* typical step, and the first step, ns */
    double turn;        /* one step of each converter, ns */
    double left_out;    /* share of the steps */
};

/* `converters` is their number; 0: the reference scenario's. */
static int run_once(const struct benchmark *b, const struct bench_options *o, unsigned converters,
                    bool watched, struct earnest *result)
{
    struct bench_run run;
    struct hil_clock clock;
    char duration[40], cpu[2][40], count[40];
    const char *const sets[] = {"nodes.controller.priority=0",
                                "nodes.converter.priority=0",
                                duration,
                                cpu[0],
                                cpu[1],
                                count};
    const size_t set_count = sizeof sets / sizeof sets[0] - (converters == 0);

    snprintf(count, sizeof count, "nodes.converter.count=%u", converters);
    snprintf(duration, sizeof duration, "duration_s=%g", o->seconds);
    snprintf(cpu[0], sizeof cpu[0], "nodes.controller.cpu=%d", o->cpus[0]);
    snprintf(cpu[1], sizeof cpu[1], "nodes.converter.cpu=%d", o->cpus[1]);
    int rc = bench_run_open(&run, o, converters ? "dcdc20-nominal.yaml" : "dcdc20.yaml", false,
                            sets, set_count);
    if (rc)
        return rc;
    rc = bench_run_record(&run);
    hil_clock_calibrate(&clock);
    pid_t watcher = watched ? fork() : -1;
    if (watcher == 0)
        watch(run.run.state);
    if (!rc)
        run_executors(&run, &clock, &rc);
    if (watcher > 0) {
        kill(watcher, SIGKILL);
        waitpid(watcher, NULL, 0);
    }
    result->step = typical_step(run.run.state, b->parameter);
    result->turn = typical_turn(run.run.state);
    result->first = first_step(run.run.state, b->parameter);
    result->left_out = left_out_share(run.run.state);
    bench_run_close(&run);
    return rc;
}

/* A run that left out many steps says nothing about a step: the inputs of the others were stale. It
 * is repeated, and the last one counts. The sample says how much that one left out. */
static int run_in_earnest(const struct benchmark *b, const struct bench_options *o,
                          unsigned converters, bool watched, struct earnest *result,
                          struct bench_sample *sample)
{
    enum { TRIES = 3 };
    const double few = 0.05;
    int rc = 0;

    *result = (struct earnest){.left_out = 1};
    for (unsigned i = 0; !rc && result->left_out > few && i < TRIES; i++)
        rc = run_once(b, o, converters, watched, result);
    sample->left_out = fmax(sample->left_out, result->left_out);
    return rc;
}

/* The goals are 60 ns for a converter, and 40 ns per converter for a controller. */
static int measure_in_run(const struct benchmark *b, const struct bench_options *o,
                          struct bench_sample *sample)
{
    struct earnest run;
    const int rc = run_in_earnest(b, o, 0, false, &run, sample);

    sample->against = b->parameter == CONTROLLER ? 20 * 40 : 60;
    sample->value = run.step;
    return rc;
}

/* Compares one step of each of `parameter` converters on a core with their period. */
static int measure_many(const struct benchmark *b, const struct bench_options *o,
                        struct bench_sample *sample)
{
    struct earnest run;
    const int rc = run_in_earnest(b, o, b->parameter, false, &run, sample);

    sample->against = 10000;
    sample->value = run.turn;
    return rc;
}

/* Compares a watched run with one that nobody watches. */
static int measure_watched(const struct benchmark *b, const struct bench_options *o,
                           struct bench_sample *sample)
{
    struct earnest alone, watched = {0};
    int rc = run_in_earnest(b, o, 0, false, &alone, sample);

    if (!rc)
        rc = run_in_earnest(b, o, 0, true, &watched, sample);
    sample->against = alone.step;
    sample->value = watched.step;
    return rc;
}

/* The least time of a call in several batches. Without a clock only the counter is read. */
static double clock_read(const struct hil_clock *clock)
{
    enum { BATCHES = 21, CALLS = 10000 };
    static volatile uint64_t seen;
    double least = INFINITY;

    for (unsigned batch = 0; batch < BATCHES; batch++) {
        const uint64_t begin = bench_now();
        for (unsigned i = 0; i < CALLS; i++)
            seen += clock ? hil_clock_now(clock) : hil_clock_ticks();
        least = fmin(least, (double)(bench_now() - begin) / CALLS);
    }
    return least;
}

/* Compares the loops' clock, which each step reads once, with the bare counter. */
static int measure_clock(const struct benchmark *b, const struct bench_options *o,
                         struct bench_sample *sample)
{
    struct hil_clock clock;

    (void)b, (void)o;
    hil_clock_calibrate(&clock);
    sample->value = clock_read(&clock);
    sample->against = clock_read(NULL);
    return 0;
}

/* "Step 0 costs what step 1000 does": compares the first step with the median of its run. */
static int measure_first(const struct benchmark *b, const struct bench_options *o,
                         struct bench_sample *sample)
{
    struct earnest run;
    const int rc = run_in_earnest(b, o, 0, false, &run, sample);

    sample->against = run.step;
    sample->value = run.first;
    return rc;
}

const struct benchmark step_benchmarks[] = {
    /* The other core has read the line before every push, and every duty is new. */
    {.name = "converter_step",
     .unit = "ns",
     .against = "goal",
     .target_ratio = 1,
     .cores = 2,
     .parameter = 1,
     .measure = measure_converter},
    /* As with periods of 10 us and a controller at 40 us: one new duty in four steps. */
    {.name = "converter_step_1_in_4",
     .unit = "ns",
     .against = "goal",
     .target_ratio = 1,
     .cores = 2,
     .parameter = 4,
     .measure = measure_converter},
    {.name = "converter_step_in_run",
     .unit = "ns",
     .against = "goal",
     .target_ratio = 1,
     .cores = 2,
     .parameter = CONVERTERS,
     .measure = measure_in_run},
    {.name = "step_clock",
     .unit = "ns",
     .against = "counter",
     .cores = 1,
     .measure = measure_clock},
    {.name = "converters_160_in_run",
     .unit = "ns",
     .against = "period",
     .target_ratio = 1,
     .cores = 2,
     .parameter = 160,
     .measure = measure_many},
    {.name = "converter_step_watched",
     .unit = "ns",
     .against = "unwatched",
     .target_ratio = 1.02,
     .cores = 2,
     .parameter = CONVERTERS,
     .measure = measure_watched},
    {.name = "converter_first_step",
     .unit = "ns",
     .against = "median",
     .target_ratio = 2,
     .cores = 2,
     .parameter = CONVERTERS,
     .measure = measure_first},
    {.name = "controller_step_1",
     .unit = "ns",
     .against = "raw lines",
     .cores = 2,
     .parameter = 1,
     .measure = measure_controller},
    {.name = "controller_step_20",
     .unit = "ns",
     .against = "raw lines",
     .cores = 2,
     .parameter = 20,
     .measure = measure_controller},
    {.name = "controller_step_64",
     .unit = "ns",
     .against = "raw lines",
     .cores = 2,
     .parameter = 64,
     .measure = measure_controller},
    {.name = "controller_step_1000",
     .unit = "ns",
     .against = "raw lines",
     .cores = 2,
     .parameter = 1000,
     .measure = measure_controller},
    {.name = "controller_step_1000_2_shards",
     .unit = "ns",
     .against = "one shard",
     .cores = 2,
     .parameter = 1000,
     .measure = measure_shards},
    {.name = "controller_step_1000_2_shards_raw",
     .unit = "ns",
     .against = "raw lines of half",
     .cores = 2,
     .parameter = 1000,
     .measure = measure_shards_raw},
    {.name = "controller_step_20_in_run",
     .unit = "ns",
     .against = "goal",
     .target_ratio = 1,
     .cores = 2,
     .parameter = CONTROLLER,
     .measure = measure_in_run},
    {.name = "controller_step_20_watched",
     .unit = "ns",
     .against = "unwatched",
     .target_ratio = 1.02,
     .cores = 2,
     .parameter = CONTROLLER,
     .measure = measure_watched},
    {.name = "controller_first_step",
     .unit = "ns",
     .against = "median",
     .target_ratio = 2,
     .cores = 2,
     .parameter = CONTROLLER,
     .measure = measure_first},
    {0},
};
