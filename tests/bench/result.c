#include "result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void result_add(struct result *r, const struct bench_sample *s)
{
    const unsigned run = r->runs;

    r->absent = s->absent;
    r->values[run] = s->value;
    r->against[run] = s->against;
    r->ratios[run] = s->value / s->against;
    for (unsigned i = 0; i < BENCH_WAITS; i++) {
        r->waits[i][run] = s->waits[i];
        r->passed[i][run] = s->passed[i];
    }
    r->longest[run] = s->longest;
    r->longest_against[run] = s->longest_against;
    r->left_out = fmax(r->left_out, s->left_out);
    r->runs = run + 1; /* last, as another process may look at any time */
}

void result_skip(struct result *r, bool failed, const char *why, ...)
{
    va_list values;

    va_start(values, why);
    vsnprintf(r->skipped, sizeof r->skipped, why, values);
    va_end(values);
    r->failed = failed;
    r->ended = true;
}

/* Sorts a copy, as the process that reads a result at a signal must find it whole. */
static double median_of(const double values[RESULT_RUNS_MAX], unsigned runs)
{
    static double copy[RESULT_RUNS_MAX];

    memcpy(copy, values, runs * sizeof copy[0]);
    return bench_median(copy, runs);
}

/* A loop that left out steps did less than it had to. */
static int is_met(const struct result *r, double ratio)
{
    const struct benchmark *b = &r->benchmark;

    if (b->target_ratio == 0 || !isfinite(ratio))
        return -1;
    return r->left_out == 0 && (b->more ? ratio >= b->target_ratio : ratio <= b->target_ratio);
}

struct digest result_digest(const struct result *r)
{
    struct digest d = {.value = median_of(r->values, r->runs),
                       .min = INFINITY,
                       .max = -INFINITY,
                       .against = NAN,
                       .ratio = NAN};

    for (unsigned i = 0; i < r->runs; i++) {
        d.min = fmin(d.min, r->values[i]);
        d.max = fmax(d.max, r->values[i]);
    }
    d.longest = median_of(r->longest, r->runs);
    d.longest_against = median_of(r->longest_against, r->runs);
    for (unsigned i = 0; i < BENCH_WAITS; i++) {
        d.waits[i] = median_of(r->waits[i], r->runs);
        d.passed[i] = median_of(r->passed[i], r->runs);
    }
    if (r->benchmark.against && !r->absent) {
        d.against = median_of(r->against, r->runs);
        d.ratio = median_of(r->ratios, r->runs);
    }
    d.met = is_met(r, d.ratio);
    return d;
}
