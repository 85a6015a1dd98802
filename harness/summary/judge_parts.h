/* Shared by the files that judge: a limit under judgement, and its findings. */
#ifndef HIL_JUDGE_PARTS_H
#define HIL_JUDGE_PARTS_H

#include "judge.h"

/* A limit, and a finding for each of its bounds. */
struct trial {
    const struct hil_judge_run *run;
    const struct hil_system *system;
    const struct hil_limit *limit;
    struct hil_finding *at;
    unsigned count;
};

/* Adds a finding for a bound, without any value yet. */
struct hil_finding *trial_add(struct trial *trial, enum hil_bound bound, const char *part,
                              const char *unit);

/* One value that a bound applies to. */
struct look {
    double value, bound;
    double beyond; /* how far it exceeds the bound; it fails above 0 */
    double time_s;
    bool from_below;
};

/* For values that may be at most, or must be at least, the bound. A value that is not a number
 * fails. */
struct look look_at_most(double value, double bound, double time_s);
struct look look_at_least(double value, double bound, double time_s);

/* Adds the value to the finding, which keeps the worst. Returns whether this one is the worst so
 * far; the caller then has to set its subject. */
struct finding_sum {
    struct hil_finding *finding;
    double beyond; /* of the worst value */
};
bool finding_look(struct finding_sum *sum, const struct look *look);

/* Says why there was nothing to judge. */
__attribute__((format(printf, 3, 4))) void
finding_leave(struct hil_finding *finding, enum hil_outcome outcome, const char *format, ...);

/* Each of these judges the limits of its kind. Returns 0 or a negative errno. */
void judge_measure(struct trial *trial);
int judge_signals(struct trial *trial);
int judge_nodes(struct trial *trial);
int judge_link(struct trial *trial);

/* Finds the figures of `hiloco plot` that show the failures. */
void judge_find_figures(const char *dir, struct hil_finding *findings, unsigned count);

#endif
