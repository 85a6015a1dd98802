/*
 * Distributions of the results of runs that differ only by chance: by their drawn values, or by
 * their seed.
 */
#ifndef HIL_SWEEP_DISTRIBUTION_H
#define HIL_SWEEP_DISTRIBUTION_H

#include "sweep.h"

/* Consecutive runs that differ only in their drawn values. */
struct sweep_group {
    const struct sweep *sweep;
    unsigned first, count;
};

/* Moves to the next group; a zeroed group moves to the first. Returns false if there are no more.
 */
bool sweep_group_next(const struct sweep *s, struct sweep_group *g);

/* Writes what the group's runs have in common: "nodes.controller.period_us=20"; "" if there is only
 * one group. */
void sweep_group_name(const struct sweep_group *g, char name[SWEEP_WORDS_BYTES]);
unsigned sweep_group_passed(const struct sweep_group *g);

/* The order of the values of a distribution. Each percentile is the value of an actual run. */
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

/* The distribution of one figure of a measure. A run that does not settle counts as infinitely
 * long; the mean and the count cover only the runs that settle. */
struct sweep_distribution {
    const char *measure, *figure, *unit;
    unsigned count;
    double at[SWEEP_STATISTICS];
    unsigned worst; /* the point with the greatest value */
};

typedef void sweep_each_distribution_fn(void *arg, const struct sweep_group *g,
                                        const struct sweep_distribution *d);
void sweep_each_distribution(const struct sweep_group *g, sweep_each_distribution_fn *each,
                             void *arg);

/* The worst run, and the reason why it is the worst. */
struct sweep_worst {
    unsigned point;
    char words[SWEEP_WORDS_BYTES];
};
void sweep_find_worst(const struct sweep_group *g, struct sweep_worst *worst);

#endif
