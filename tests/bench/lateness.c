/*
 * Measures how late a loop wakes up: ours, an empty one that spins, and cyclictest. They take turns
 * on one core, a few hundredths of a second each, so that all see the same noise.
 *
 * A loop that is late for several steps runs only the first of them and leaves out the others. This
 * is the same in all three. The table says how many; cyclictest does not tell.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/run/executor.h"
#include "harness/run/privileges.h"
#include "machine.h"

static const char help[] =
    "usage: lateness [--seconds S] [--slice MS] [--cpu N] [--out FILE]\n"
    "\n"
    "Measures how late loops of 10, 20 and 40 us wake up, in turns on one core: that of hiloco,\n"
    "an empty one that spins, and cyclictest where it is installed (rt-tests). As root they run\n"
    "at SCHED_FIFO 80, and the kernel's throttling of such threads is off until the end.\n"
    "\n"
    "  --seconds S  of each loop at each period (default: 2)\n"
    "  --slice MS   how long a turn is (default: 50)\n"
    "  --cpu N      where (default: the last of two cores)\n"
    "  --out FILE   also writes the table as JSON\n";

struct options {
    double seconds, slice_ms;
    int cpu;
    const char *out;
};

static const unsigned periods_us[] = {10, 20, 40};
enum { PERIODS = sizeof periods_us / sizeof periods_us[0], PRIORITY = 80 };

/* The parameters of a turn. */
struct turn {
    const struct hil_clock *clock;
    struct hil_executor_config config;
    struct hil_executor_state *state; /* what the kernel granted */
    uint64_t period_ns, slice_ns;
};

/* What is known of a loop at a period. */
struct result {
    struct hil_histogram late;
    uint64_t left_out; /* steps */
    int rc;
};

/* --- the loops: each adds what it measures to the result; 0 or a negative errno --------------- */

static const uint64_t LEAD_NS = 200000; /* from the beginning of a turn to the first step */

/* The lateness of only the steps that were run. cyclictest counts likewise: it leaves out steps
 * that it was too late for. */
struct kept {
    const struct hil_loop *loop;
    struct hil_histogram *late;
};

static int note_late(void *arg, uint64_t n, uint64_t now)
{
    const struct kept *k = arg;

    hil_histogram_add(k->late, now - hil_loop_due(k->loop, n));
    return 0;
}

static int run_ours(const struct turn *t, struct result *r)
{
    static struct hil_node_state node;
    static struct hil_worst worst;
    static _Atomic uint64_t stop;
    struct kept kept = {.late = &r->late};
    struct hil_loop loop = {.timing = {.period_ns = t->period_ns, .overrun = HIL_SKIP},
                            .step = note_late,
                            .arg = &kept,
                            .state = &node,
                            .worst = &worst,
                            .end_ns = t->slice_ns};
    struct hil_pending pending = hil_pending_first(&loop);
    struct hil_executor e = {.clock = *t->clock,
                             .stop = &stop,
                             .heartbeat = &t->state->heartbeat,
                             .count = 1,
                             .rows = &pending};

    kept.loop = &loop;
    node = (struct hil_node_state){0};
    hil_schedule_real_time(&t->config, t->period_ns, t->state);
    e.start_ns = hil_clock_now(&e.clock) + LEAD_NS;
    int rc = hil_executor_run(&e);
    hil_schedule_ordinary();
    r->left_out += node.left_out;
    return rc;
}

/* The minimal loop: reads the counter until it is time. */
static void spin_empty(const struct turn *t, struct result *r)
{
    const struct hil_clock *clock = t->clock;
    uint64_t due = hil_clock_now(clock) + LEAD_NS, end = due + t->slice_ns;

    while (due < end) {
        const uint64_t deadline = hil_clock_ticks_at(clock, due);
        uint64_t ticks;

        while ((ticks = hil_clock_ticks()) < deadline)
            ;
        hil_histogram_add(&r->late, hil_clock_scaled(ticks - deadline, clock->ns_per_tick));
        uint64_t now = hil_clock_now(clock);
        due += t->period_ns;
        for (; now > due && due < end; due += t->period_ns)
            r->left_out++;
    }
}

static int run_empty(const struct turn *t, struct result *r)
{
    if (t->clock->refused)
        return -ENOTSUP;
    hil_schedule_real_time(&t->config, t->period_ns, t->state);
    spin_empty(t, r);
    hil_schedule_ordinary();
    return 0;
}

/* No timer wakes a thread sooner than this, however short the interval. */
static const uint64_t CYCLICTEST_LEAST_NS = 50000;

static void exec_cyclictest(const struct turn *t, int to)
{
    bool fifo = t->state->scheduler == HIL_FIFO;
    uint64_t each = t->period_ns > CYCLICTEST_LEAST_NS ? t->period_ns : CYCLICTEST_LEAST_NS;
    char cpu[16], interval[24], loops[24], priority[16];

    snprintf(cpu, sizeof cpu, "%d", t->config.cpu);
    snprintf(interval, sizeof interval, "%llu", (unsigned long long)t->period_ns / 1000);
    snprintf(loops, sizeof loops, "%llu", (unsigned long long)(t->slice_ns / each));
    snprintf(priority, sizeof priority, "%d", fifo ? PRIORITY : 0);
    dup2(to, STDOUT_FILENO);
    dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execlp("cyclictest", "cyclictest", "-m", "-N", "-v", "-t", "1", "-d", "0", "-a", cpu, "-i",
           interval, "-l", loops, "-p", priority, NULL);
    _exit(127);
}

static void read_cyclictest(int from, struct hil_histogram *late)
{
    FILE *f = fdopen(from, "r");
    char line[128];
    unsigned thread;
    long long n, ns;

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "%u: %lld: %lld", &thread, &n, &ns) == 3 && ns >= 0)
            hil_histogram_add(late, (uint64_t)ns);
    if (f)
        fclose(f);
}

static int run_cyclictest(const struct turn *t, struct result *r)
{
    int pipes[2], status;

    if (pipe2(pipes, O_CLOEXEC))
        return -errno;
    pid_t pid = fork();
    if (pid == 0)
        exec_cyclictest(t, pipes[1]);
    close(pipes[1]);
    read_cyclictest(pipes[0], &r->late);
    if (pid < 0 || waitpid(pid, &status, 0) < 0)
        return -errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == 127 ? -ENOENT : 0;
}

static const struct {
    const char *name;
    int (*run)(const struct turn *t, struct result *result);
} loops[] = {{"empty loop", run_empty}, {"hiloco", run_ours}, {"cyclictest", run_cyclictest}};

enum { EMPTY, OURS, CYCLICTEST, LOOPS = sizeof loops / sizeof loops[0] };

/* --- the table -------------------------------------------------------------------------------- */

static const double quantiles[] = {0.5, 0.99, 0.999, 0.9999, 1};
static const char *const quantile_names[] = {"p50", "p99", "p99.9", "p99.99", "max"};
enum { QUANTILES = sizeof quantiles / sizeof quantiles[0] };

static double ns_at(const struct result *r, double quantile)
{
    return (double)hil_histogram_quantile(&r->late, quantile);
}

static const char *reason(int rc)
{
    return rc == -ENOENT    ? "skipped: not installed (apt install rt-tests)"
           : rc == -ENOTSUP ? "skipped: no time-stamp counter to rely on"
                            : strerror(-rc);
}

static void print_row(unsigned period_us, unsigned loop, const struct result *r)
{
    printf("%4u us  %-12s", period_us, loops[loop].name);
    if (r->rc) {
        printf(" %s\n", reason(r->rc));
        return;
    }
    printf("%9llu", (unsigned long long)r->late.count);
    for (unsigned i = 0; i < QUANTILES; i++)
        printf(" %10.3f", ns_at(r, quantiles[i]) * 1e-3);
    if (loop == CYCLICTEST)
        printf(" %10s\n", "?");
    else
        printf(" %10llu\n", (unsigned long long)r->left_out);
}

/* Targets relative to the empty loop: the common quantiles by difference, the rare ones by ratio.
 */
static const struct {
    double quantile, most_ns, most_ratio;
} targets[] = {{0.5, 20, 0}, {0.99, 20, 0}, {0.999, 0, 1.1}};

enum { TARGETS = sizeof targets / sizeof targets[0] };

/* A loop that left out steps was late by more than its table shows. */
static bool is_met(const struct result r[LOOPS], unsigned target)
{
    if (r[OURS].left_out)
        return false;
    double ours = ns_at(&r[OURS], targets[target].quantile);
    double empty = ns_at(&r[EMPTY], targets[target].quantile);

    return targets[target].most_ns ? ours - empty <= targets[target].most_ns
                                   : ours <= empty * targets[target].most_ratio;
}

static void print_targets(const struct result r[LOOPS])
{
    if (r[EMPTY].rc || r[OURS].rc)
        return;
    printf("        hiloco - empty: ");
    for (unsigned i = 0; i < TARGETS; i++) {
        double ours = ns_at(&r[OURS], targets[i].quantile);
        double empty = ns_at(&r[EMPTY], targets[i].quantile);
        if (targets[i].most_ns)
            printf("%s %+.0f ns (at most %+.0f)", quantile_names[i], ours - empty,
                   targets[i].most_ns);
        else
            printf("%s times %.2f (at most %.2f)", quantile_names[i], ours / empty,
                   targets[i].most_ratio);
        printf(" %s%s",
               is_met(r, i)       ? "met"
               : r[OURS].left_out ? "not met, as steps were left out"
                                  : "MISSED",
               i + 1 < TARGETS ? ", " : "\n");
    }
}

static void print_table(struct result results[PERIODS][LOOPS])
{
    printf("\nlateness, us            samples");
    for (unsigned i = 0; i < QUANTILES; i++)
        printf(" %10s", quantile_names[i]);
    printf(" %10s\n", "left out");
    for (unsigned p = 0; p < PERIODS; p++) {
        for (unsigned l = 0; l < LOOPS; l++)
            print_row(periods_us[p], l, &results[p][l]);
        print_targets(results[p]);
    }
}

static json_t *row_json(unsigned period_us, unsigned loop, const struct result *r)
{
    json_t *row = json_pack("{s:i, s:s}", "period_us", (int)period_us, "loop", loops[loop].name);

    if (r->rc) {
        json_object_set_new(row, "skipped", json_string(reason(r->rc)));
        return row;
    }
    json_object_set_new(row, "samples", json_integer((json_int_t)r->late.count));
    for (unsigned i = 0; i < QUANTILES; i++)
        json_object_set_new(row, quantile_names[i], json_real(ns_at(r, quantiles[i]) * 1e-3));
    if (loop != CYCLICTEST)
        json_object_set_new(row, "left_out", json_integer((json_int_t)r->left_out));
    return row;
}

static json_t *targets_json(struct result results[PERIODS][LOOPS])
{
    json_t *list = json_array();

    for (unsigned p = 0; p < PERIODS; p++)
        for (unsigned i = 0; i < TARGETS && !results[p][EMPTY].rc && !results[p][OURS].rc; i++)
            json_array_append_new(list, json_pack("{s:i, s:s, s:b}", "period_us",
                                                  (int)periods_us[p], "percentile",
                                                  quantile_names[i], "met", is_met(results[p], i)));
    return list;
}

static int write_json(const char *path, json_t *machine, const struct turn *t,
                      struct result results[PERIODS][LOOPS])
{
    json_t *rows = json_array();

    for (unsigned p = 0; p < PERIODS; p++)
        for (unsigned l = 0; l < LOOPS; l++)
            json_array_append_new(rows, row_json(periods_us[p], l, &results[p][l]));
    json_t *all = json_pack("{s:O, s:s, s:o, s:o}", "machine", machine, "scheduler",
                            t->state->scheduler == HIL_FIFO ? "SCHED_FIFO" : "SCHED_OTHER",
                            "lateness_us", rows, "targets", targets_json(results));
    int rc = json_dump_file(all, path, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
    json_decref(all);
    return rc;
}

/* --- measuring -------------------------------------------------------------------------------- */

/* Each loop follows each other loop equally often, as a loop may leave work behind (cyclictest a
 * process to clean up). */
static const unsigned orders[][LOOPS] = {{0, 1, 2}, {1, 0, 2}, {2, 0, 1},
                                         {0, 2, 1}, {1, 2, 0}, {2, 1, 0}};
enum { ORDERS = sizeof orders / sizeof orders[0] };

static void take_turns(struct turn *t, unsigned rounds, struct result results[PERIODS][LOOPS])
{
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned p = 0; p < PERIODS; p++)
            for (unsigned i = 0; i < LOOPS; i++) {
                unsigned l = orders[round % ORDERS][i];
                t->period_ns = periods_us[p] * 1000;
                if (!results[p][l].rc)
                    results[p][l].rc = loops[l].run(t, &results[p][l]);
            }
}

static int measure(const struct options *o)
{
    static struct result results[PERIODS][LOOPS];
    static struct hil_executor_state state;
    struct hil_clock clock;
    struct turn t = {.clock = &clock,
                     .config = {.cpu = o->cpu, .priority = PRIORITY, .scheduler = HIL_FIFO},
                     .state = &state,
                     .slice_ns = (uint64_t)(o->slice_ms * 1e6)};
    const struct machine_time begin = machine_time();
    json_t *machine = machine_facts();
    int rc = 0;

    machine_print(machine);
    hil_clock_calibrate(&clock);
    hil_settle(&t.config, &state);
    int awake = hil_keep_awake(&state);
    hil_schedule_real_time(&t.config, periods_us[0] * 1000, &state); /* notes what it refuses */
    hil_schedule_ordinary();
    printf("%s", state.degraded);
    take_turns(&t, (unsigned)ceil(o->seconds * 1e3 / o->slice_ms), results);
    if (awake >= 0)
        close(awake);
    print_table(results);
    machine_add_steal(machine, &begin);
    if (o->out)
        rc = write_json(o->out, machine, &t, results);
    json_decref(machine);
    return rc;
}

/* --- the kernel's throttling, off for the time being ------------------------------------------ */

static const char THROTTLING[] = "/proc/sys/kernel/sched_rt_runtime_us";

static bool write_throttling(long runtime_us)
{
    FILE *f = fopen(THROTTLING, "w");
    bool ok = f && fprintf(f, "%ld\n", runtime_us) > 0;

    return f && fclose(f) == 0 && ok;
}

static long read_throttling(void)
{
    long value = -1;
    FILE *f = fopen(THROTTLING, "r");

    if (f && fscanf(f, "%ld", &value) != 1)
        value = -1;
    if (f)
        fclose(f);
    return value;
}

static pid_t measuring;

static void pass_on(int number)
{
    kill(measuring, number);
}

/* A child process measures. This process survives it however it ends, and restores the throttling.
 */
static int measure_unthrottled(const struct options *o)
{
    long before = read_throttling();
    bool changed = before >= 0 && geteuid() == 0 && write_throttling(-1);
    int status = 0;

    if (changed)
        printf("%s: %ld before, -1 until the end\n", THROTTLING, before);
    fflush(NULL);
    measuring = fork();
    if (measuring == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        int rc = measure(o);
        fflush(NULL);
        _exit(rc ? 1 : 0);
    }
    for (const int *s = (const int[]){SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0}; *s && measuring > 0;
         s++)
        signal(*s, pass_on);
    while (measuring > 0 && waitpid(measuring, &status, 0) < 0 && errno == EINTR)
        ;
    if (changed && !write_throttling(before))
        fprintf(stderr, "%s could not be set to %ld again\n", THROTTLING, before);
    return measuring > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* --- the command line ------------------------------------------------------------------------- */

static int parse(struct options *o, int argc, char **argv)
{
    static const struct option options[] = {
        {"seconds", required_argument, NULL, 's'}, {"slice", required_argument, NULL, 'l'},
        {"cpu", required_argument, NULL, 'c'},     {"out", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},          {0}};

    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (c == 's')
            o->seconds = strtod(optarg, NULL);
        else if (c == 'l')
            o->slice_ms = strtod(optarg, NULL);
        else if (c == 'c')
            o->cpu = atoi(optarg);
        else if (c == 'o')
            o->out = optarg;
        else if (c == 'h')
            return printf("%s", help), 1;
        else
            return -EINVAL;
    }
    if (optind == argc && o->seconds > 0 && o->seconds <= 3600 && o->slice_ms >= 1 &&
        o->slice_ms <= 1000)
        return 0;
    fprintf(stderr, "--seconds above 0, up to 3600, and --slice 1 to 1000 are allowed\n");
    return -EINVAL;
}

int main(int argc, char **argv)
{
    struct bench_options cores = {0};
    machine_cores(&cores);
    struct options o = {.seconds = 2, .slice_ms = 50, .cpu = cores.cpus[cores.cpu_count > 1]};
    int rc = parse(&o, argc, argv);

    if (rc)
        return rc < 0 ? 2 : 0;
    return measure_unthrottled(&o);
}
