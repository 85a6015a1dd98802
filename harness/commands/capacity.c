#include "capacity.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/installed.h"
#include "../base/tool.h"
#include "../launch/results_files.h"
#include "../record/summary_reader.h"
#include "../run/clock.h"
#include "../scenario/system.h"
#include "../scenario/yaml/key_units.h"

/* Of the scenario's period. */
static const double LADDER[] = {0.1, 0.2, 0.3, 0.5, 0.75, 1,  1.25, 1.5, 2,  2.5,
                                3,   4,   5,   6,   8,    10, 15,   20,  30, 50};

enum { RUNGS = sizeof LADDER / sizeof LADDER[0], LOOPS_MAX = 32, WORDS_MAX = 256, RUN_S = 60 };

static const char SHORT_RUN[] = "duration_s=0.7", LONG_RUN[] = "duration_s=3";

/* From then on no further run is begun. */
static const uint64_t ENOUGH_NS = 16000000000;

struct capacity_loop {
    const struct hil_array *array;
    double period_us;  /* of the scenario */
    char key[300];     /* the key of its period */
    int fails, holds;  /* rungs; holds: the shortest that is known to, RUNGS: none */
    int tried;         /* rung of the last run */
    double missed;     /* share of its steps in that run, in percent; NAN: there was none */
    double late_us[2]; /* that 99.9 and 99.99 % of the steps kept */
    char set[360];     /* KEY=VALUE */
};

struct capacity {
    const struct hil_arguments *arguments;
    const struct hil_scenario *scenario;
    struct capacity_loop loops[LOOPS_MAX];
    unsigned count;
    char folder[4096];
    double gap_us, gap_bound_us; /* how long a loop stood still in the last run, and may */
    uint64_t begin_ns;
};

static double capacity_period(const struct capacity_loop *l, int rung)
{
    return hil_scenario_rounded(l->key, LADDER[rung] * l->period_us);
}

/* --- the key of a period ---------------------------------------------------------------------- */

static int capacity_find_loops(struct capacity *c)
{
    const struct hil_system *s = c->scenario->system;

    if (s->node_array_count > LOOPS_MAX) {
        fprintf(stderr, "--capacity takes scenarios of up to %d arrays of nodes\n", LOOPS_MAX);
        return -EINVAL;
    }
    for (; c->count < s->node_array_count; c->count++) {
        const struct hil_array *array = &s->node_arrays[c->count];
        struct capacity_loop *l = &c->loops[c->count];
        *l = (struct capacity_loop){.array = array,
                                    .period_us =
                                        (double)s->nodes[array->first].timing.period_ns * 1e-3,
                                    .fails = -1,
                                    .holds = RUNGS};
        snprintf(l->key, sizeof l->key, "nodes.%s.period_us", array->name);
    }
    return 0;
}

/* --- runs ------------------------------------------------------------------------------------- */

static void capacity_read_loop(const struct hil_summary_reader *told, struct capacity_loop *l,
                               unsigned i)
{
    static const char *const names[] = {"p999", "p9999"};
    struct hil_summary_reader_nodes nodes;

    l->missed = NAN;
    if (!hil_summary_reader_nodes(told, i, &nodes) || !(nodes.due > 0))
        return;
    const json_t *late = json_object_get(
        json_object_get(json_object_get(told->root, "nodes"), l->array->name), "late_us");
    l->missed = 100 * nodes.missed / nodes.due;
    for (int k = 0; k < 2; k++)
        l->late_us[k] = hil_summary_reader_number(late, names[k]);
}

static void capacity_read(struct capacity *c)
{
    struct hil_summary_reader told = hil_summary_reader_of_run(c->folder);
    const json_t *checks = json_object_get(json_object_get(told.root, "validity"), "checks");
    const json_t *gap = json_object_get(checks, "gap_us");

    for (unsigned i = 0; i < c->count; i++)
        capacity_read_loop(&told, &c->loops[i], i);
    c->gap_us = hil_summary_reader_number(gap, "value");
    c->gap_bound_us = hil_summary_reader_number(gap, "bound");
    hil_summary_reader_close(&told);
}

/* Runs the scenario with the periods that the loops try. */
static int capacity_run(struct capacity *c, const char *duration)
{
    const struct hil_arguments *a = c->arguments;
    char *words[WORDS_MAX] = {NULL,     "run",      (char *)a->scenario,
                              "--mode", "realtime", "--quiet",
                              "--out",  c->folder},
         self[PATH_MAX], said[16384] = "";
    unsigned n = 8;

    if (!hil_installed_self(self))
        return -ENOENT;
    words[0] = self;
    if (a->options.set_count + a->options.parameter_count + c->count + 4 > (WORDS_MAX - 16) / 2)
        return -E2BIG;
    for (size_t i = 0; i < a->options.parameter_count; i++) {
        words[n++] = "--parameters";
        words[n++] = (char *)a->options.parameters[i];
    }
    for (size_t i = 0; i < a->options.set_count; i++) {
        words[n++] = "--set";
        words[n++] = (char *)a->sets[i];
    }
    for (unsigned i = 0; i < c->count; i++) {
        struct capacity_loop *l = &c->loops[i];
        snprintf(l->set, sizeof l->set, "%s=%.9g", l->key, capacity_period(l, l->tried));
        words[n++] = "--set";
        words[n++] = l->set;
    }
    words[n++] = "--set";
    words[n++] = (char *)duration;
    const int rc = hil_tool_run(NULL, words, RUN_S, said, sizeof said);
    if (rc < 0)
        return rc;
    if (rc == HIL_EXIT_FAILED || rc == HIL_EXIT_USAGE || rc >= 128) {
        fprintf(stderr, "%s", said);
        return -EPROTO;
    }
    capacity_read(c);
    return 0;
}

static bool capacity_held(const struct capacity *c, const struct capacity_loop *l)
{
    return l->missed <= c->scenario->validity.missed_percent;
}

/* --- the search ------------------------------------------------------------------------------- */

/* Chooses the next rungs. Returns whether a loop still searches. */
static bool capacity_choose(struct capacity *c)
{
    bool searches = false;

    for (unsigned i = 0; i < c->count; i++) {
        struct capacity_loop *l = &c->loops[i];
        const bool known = l->holds - l->fails <= 1;
        l->tried = !known ? (l->fails + l->holds) / 2 : l->holds < RUNGS ? l->holds : RUNGS - 1;
        searches |= !known;
    }
    return searches;
}

static void capacity_learn(struct capacity *c)
{
    for (unsigned i = 0; i < c->count; i++) {
        struct capacity_loop *l = &c->loops[i];
        if (capacity_held(c, l))
            l->holds = l->tried < l->holds ? l->tried : l->holds;
        else
            l->fails = l->tried > l->fails ? l->tried : l->fails;
    }
}

/* A loop that does not hold what was found gets the next longer period. Returns whether any did. */
static bool capacity_correct(struct capacity *c)
{
    bool any = false;

    for (unsigned i = 0; i < c->count; i++) {
        struct capacity_loop *l = &c->loops[i];
        if (l->holds == RUNGS || capacity_held(c, l))
            continue;
        l->fails = l->tried;
        l->holds = l->tried + 1;
        any = true;
    }
    return any;
}

static int capacity_search(struct capacity *c)
{
    bool wrong = true;
    int rc = 0;

    while (!rc && capacity_choose(c)) {
        rc = capacity_run(c, SHORT_RUN);
        if (!rc)
            capacity_learn(c);
    }
    while (!rc && wrong) {
        capacity_choose(c);
        rc = capacity_run(c, LONG_RUN);
        wrong = !rc && capacity_correct(c) && hil_clock_monotonic() - c->begin_ns < ENOUGH_NS;
    }
    return rc;
}

/* --- what was found --------------------------------------------------------------------------- */

static void capacity_print_loop(const struct capacity_loop *l, FILE *to)
{
    fprintf(to, "%-24.60s %12g ", l->array->name, l->period_us);
    if (l->holds == RUNGS)
        fprintf(to, "%12s\n", "none");
    else
        fprintf(to, "%12g %14.3f %14.3f\n", capacity_period(l, l->holds), l->late_us[0],
                l->late_us[1]);
}

/* "20 converters at 10 us and a controller at 60 us" */
static void capacity_print_held(const struct capacity *c, FILE *to)
{
    for (unsigned i = 0; i < c->count; i++) {
        const struct capacity_loop *l = &c->loops[i];
        fputs(i == 0 ? "" : i + 1 < c->count ? ", " : " and ", to);
        if (l->array->count > 1)
            fprintf(to, "%u %.60ss ", l->array->count, l->array->name);
        else
            fprintf(to, "a %.60s ", l->array->name);
        if (l->holds == RUNGS)
            fprintf(to, "at no period");
        else
            fprintf(to, "at %g us", capacity_period(l, l->holds));
    }
}

static bool capacity_falls_short(const struct capacity *c)
{
    for (unsigned i = 0; i < c->count; i++)
        if (c->loops[i].holds == RUNGS || LADDER[c->loops[i].holds] > 1)
            return true;
    return false;
}

static void capacity_print(const struct capacity *c, FILE *to)
{
    fprintf(to, "%-24s %12s %12s %14s %14s\n", "us", "scenario", "held", "late, 99.9 %", "99.99 %");
    for (unsigned i = 0; i < c->count; i++)
        capacity_print_loop(&c->loops[i], to);
    if (c->gap_us > c->gap_bound_us)
        fprintf(
            to,
            "loops stood still for %.3g ms, and %g ms is allowed: no period gives a valid run\n",
            c->gap_us * 1e-3, c->gap_bound_us * 1e-3);
    fprintf(to, "this machine holds ");
    capacity_print_held(c, to);
    if (capacity_falls_short(c) || c->gap_us > c->gap_bound_us)
        fprintf(to, "; for the scenario's periods: isolate a core: hiloco doctor %s",
                c->arguments->scenario);
    fputc('\n', to);
}

int hil_capacity(const struct hil_arguments *a, const struct hil_scenario *scenario, FILE *to)
{
    static struct capacity c;
    const char *temporary = getenv("TMPDIR");

    c = (struct capacity){.arguments = a, .scenario = scenario, .begin_ns = hil_clock_monotonic()};
    if (hil_system_is_joined(scenario->system)) {
        fprintf(stderr, "--capacity: a component is outside, and no program of yours is started\n");
        return HIL_EXIT_USAGE;
    }
    if (capacity_find_loops(&c))
        return HIL_EXIT_USAGE;
    snprintf(c.folder, sizeof c.folder, "%s/hiloco-capacity-XXXXXX",
             temporary ? temporary : "/tmp");
    int rc = mkdtemp(c.folder) ? 0 : -errno;
    if (!rc) {
        rc = capacity_search(&c);
        hil_results_clear(c.folder, HIL_OF_A_RUN, stderr);
        rmdir(c.folder);
    }
    if (rc)
        fprintf(stderr, "--capacity: %s\n", strerror(-rc));
    else
        capacity_print(&c, to);
    return rc ? HIL_EXIT_FAILED : HIL_EXIT_OK;
}
