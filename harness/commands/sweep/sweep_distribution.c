/* Finds the groups of runs that differ only by chance, and the distribution of each figure of each
 * measure in a group. */
#include "sweep_distribution.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- groups of runs -------------------------------------------------------------------------- */

static bool group_is_seed(const char *key)
{
    const char *dot = strrchr(key, '.');

    return strcmp(dot ? dot + 1 : key, "seed") == 0;
}

/* If only a seed varies, the seed is what makes the runs differ by chance. */
static bool group_is_of_seeds(const struct sweep *s)
{
    unsigned varying = 0, seeds = 0;

    for (unsigned i = 0; i < s->axis_count; i++) {
        varying += s->axes[i].count > 1;
        seeds += s->axes[i].count > 1 && group_is_seed(s->axes[i].key);
    }
    return varying == 1 && seeds == 1;
}

static unsigned group_size(const struct sweep *s)
{
    return s->arguments->runs ? s->runs : group_is_of_seeds(s) ? s->point_count : 0;
}

bool sweep_has_distribution(const struct sweep *s)
{
    return group_size(s) > 0 && !s->arguments->bisect;
}

bool sweep_group_next(const struct sweep *s, struct sweep_group *g)
{
    const unsigned first = g->sweep ? g->first + g->count : 0;

    *g = (struct sweep_group){s, first, group_size(s)};
    return sweep_has_distribution(s) && first < s->point_count;
}

void sweep_group_name(const struct sweep_group *g, char name[SWEEP_WORDS_BYTES])
{
    const struct sweep *s = g->sweep;
    size_t used = 0;

    name[0] = '\0';
    for (unsigned i = 0; s->arguments->runs && i < s->axis_count && used < SWEEP_WORDS_BYTES; i++)
        if (s->axes[i].count > 1 && !s->axes[i].drawn)
            used += (size_t)snprintf(name + used, SWEEP_WORDS_BYTES - used, "%s%s", used ? "," : "",
                                     s->points[g->first].sets[i]);
}

unsigned sweep_group_passed(const struct sweep_group *g)
{
    unsigned passed = 0;

    for (unsigned i = g->first; i < g->first + g->count; i++)
        passed += sweep_passed(g->sweep, i);
    return passed;
}

/* --- figures --------------------------------------------------------------------------------- */

enum figure { OVERSHOOT, SETTLING, RISE_TIME, STEADY_ERROR, MEAN, PEAK_TO_PEAK, FIGURES };

static const char *const figure_names[FIGURES] = {"overshoot_pct", "settling_ms", "rise_time_ms",
                                                  "steady_error",  "mean",        "pp"};
static const char *const figure_units[FIGURES] = {"%",  "ms", "ms",
                                                  NULL, NULL, NULL}; /* NULL: the measure's */

const char *const sweep_statistic_names[SWEEP_STATISTICS] = {"min", "mean", "p5", "p50",
                                                             "p95", "p99",  "max"};

struct drawn_value {
    double value;
    unsigned point;
};

static double figure_of(const struct hil_summary_reader_measure *m, enum figure figure)
{
    switch (figure) {
    case OVERSHOOT:
        return m->figures.overshoot_pct;
    case SETTLING:
        return m->judged && !m->settled ? INFINITY : m->figures.settling_ms;
    case RISE_TIME:
        return m->figures.rise_time_ms;
    case STEADY_ERROR:
        return m->figures.steady_error;
    case MEAN:
        return m->figures.mean;
    default:
        return m->figures.pp;
    }
}

static int compare_values(const void *a, const void *b)
{
    const struct drawn_value *x = a, *y = b;

    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->point < y->point ? -1 : 1;
}

/* Returns a value that a run actually had. */
static double percentile(const struct drawn_value *sorted, unsigned count, double percent)
{
    const double rank = ceil(percent / 100 * count);

    return sorted[rank < 1 ? 0 : (unsigned)rank - 1].value;
}

/* Infinite values are sorted to the end. */
static void distribute(struct sweep_distribution *d, const struct drawn_value *sorted,
                       unsigned count)
{
    double sum = 0;

    for (d->count = 0; d->count < count && isfinite(sorted[d->count].value); d->count++)
        sum += sorted[d->count].value;
    d->worst = sorted[count - 1].point;
    d->at[SWEEP_LEAST] = sorted[0].value;
    d->at[SWEEP_MEAN] = sum / d->count;
    d->at[SWEEP_P5] = percentile(sorted, count, 5);
    d->at[SWEEP_P50] = percentile(sorted, count, 50);
    d->at[SWEEP_P95] = percentile(sorted, count, 95);
    d->at[SWEEP_P99] = percentile(sorted, count, 99);
    d->at[SWEEP_GREATEST] = sorted[count - 1].value;
}

/* Returns false if no run has the figure. */
static bool find_distribution(const struct sweep_group *g, const char *measure, enum figure figure,
                              struct drawn_value *values, struct sweep_distribution *d)
{
    struct hil_summary_reader_measure m;
    unsigned count = 0;

    for (unsigned i = g->first; i < g->first + g->count; i++) {
        hil_summary_reader_measure(&g->sweep->points[i].told, measure, &m);
        const double value = figure_of(&m, figure);
        if (isnan(value))
            continue;
        values[count++] = (struct drawn_value){value, i};
        d->unit = figure_units[figure] ? figure_units[figure] : m.unit;
    }
    if (count == 0)
        return false;
    d->measure = measure;
    d->figure = figure_names[figure];
    qsort(values, count, sizeof *values, compare_values);
    distribute(d, values, count);
    return true;
}

/* The measures of the first run that has any. */
static json_t *measures_of(const struct sweep_group *g)
{
    json_t *measures = NULL;

    for (unsigned i = g->first; !measures && i < g->first + g->count; i++)
        measures = json_object_get(g->sweep->points[i].told.root, "measures");
    return measures;
}

void sweep_each_distribution(const struct sweep_group *g, sweep_each_distribution_fn *each,
                             void *arg)
{
    struct drawn_value *values = calloc(g->count, sizeof *values);
    struct sweep_distribution d;
    const char *name;
    json_t *measure;

    json_object_foreach(measures_of(g), name, measure)
    {
        for (int figure = 0; values && figure < FIGURES; figure++)
            if (find_distribution(g, name, (enum figure)figure, values, &d))
                each(arg, g, &d);
    }
    free(values);
}
