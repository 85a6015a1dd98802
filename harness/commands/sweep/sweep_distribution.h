/*
 * What the runs of a sweep came to that differ by chance alone: what is drawn for each of them, or
 * the seed that draws.
 */
#ifndef HIL_SWEEP_DISTRIBUTION_H
#define HIL_SWEEP_DISTRIBUTION_H

#include "sweep.h"

/* Runs that follow one another, and differ by what was drawn alone. */
struct sweep_group {
    const struct sweep *sweep;
    unsigned first, count;
};

/* The next group, of the first one zeros. False: there are no more. */
bool sweep_group_next(const struct sweep *s, struct sweep_group *g);

/* "controller.period_us=20": what its runs have in common; "" where all have. */
void sweep_group_name(const struct sweep_group *g, char name[SWEEP_WORDS_BYTES]);
unsigned sweep_group_passed(const struct sweep_group *g);

/* The order of the values of a distribution. Percentiles are values that a run had. */
enum {
    SWEEP_LEAST,
    SWEEP_MEAN,
    SWEEP_P5,
    SWEEP_P50,
    SWEEP_P95,
    SWEEP_P99,
    SWEEP_GREATEST,
    SWEEP_STATISTICS
};
extern const char *const sweep_statistic_names[SWEEP_STATISTICS];

/* A figure of a measure. A run that does not settle takes infinitely long; the mean, and the count,
 * are of those that settle. */
struct sweep_distribution {
    const char *measure, *figure, *unit;
    unsigned count;
    double at[SWEEP_STATISTICS];
    unsigned worst; /* the point of the greatest */
};

typedef void sweep_each_distribution_fn(void *arg, const struct sweep_group *g,
                                        const struct sweep_distribution *d);
void sweep_each_distribution(const struct sweep_group *g, sweep_each_distribution_fn *each,
                             void *arg);

/* The run that came off worst, and why it is that. */
struct sweep_worst {
    unsigned point;
    char words[SWEEP_WORDS_BYTES];
};
void sweep_find_worst(const struct sweep_group *g, struct sweep_worst *worst);

#endif
