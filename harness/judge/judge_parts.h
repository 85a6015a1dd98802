/* What the files that judge share: a limit on trial, and its findings. */
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

/* A finding that nothing was looked at for yet. */
struct hil_finding *trial_add(struct trial *trial, enum hil_bound bound, const char *part,
                              const char *unit);

/* A value that the bound is for. */
struct look {
    double value, bound;
    double beyond; /* how far it is past the bound; above 0: it fails */
    double time_s;
    bool from_below;
};

/* Values up to, or from, the bound. A value that is no number fails. */
struct look look_at_most(double value, double bound, double time_s);
struct look look_at_least(double value, double bound, double time_s);

/* Adds it to the finding, which is of the worst. Returns whether this is the worst so far: then
 * who it is of is to be said. */
struct finding_sum {
    struct hil_finding *finding;
    double beyond; /* of the worst */
};
bool finding_look(struct finding_sum *sum, const struct look *look);

/* Why there was nothing to judge. */
__attribute__((format(printf, 3, 4))) void
finding_leave(struct hil_finding *finding, enum hil_outcome outcome, const char *format, ...);

/* Each judges limits of its kind. 0 or a negative errno. */
void judge_measure(struct trial *trial);
int judge_signals(struct trial *trial);
int judge_nodes(struct trial *trial);
int judge_link(struct trial *trial);

/* Says which figures of `hiloco plot` show what failed. */
void judge_find_figures(const char *dir, struct hil_finding *findings, unsigned count);

#endif
