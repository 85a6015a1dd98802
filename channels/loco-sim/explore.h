/*
 * Ways to choose what happens in a workload's run, besides the seed:
 *
 *      record         as the seed says; the answers are kept
 *      replay         some answers as given, all others the usual ones
 *      depth first    every run with so many preemptions and so many delays, once; of runs that are
 *                     the same but for the order of unrelated things, one
 *      PCT            ranks are random, and so are the moments at which one is put last
 *
 * A run that fails is known by its answers: those that were not the usual ones (choices are in
 * loco/fabric/sim_choices.h). It is shrunk: a simple run of the same workload and seed is
 * looked for; and answers are dropped, preemptions first, then delays, then the rest. As text,
 * answers are such as "switch:12 tear:3=2": the twelfth time that the simulator asked for a switch
 * the answer was 1, and the third time that it asked how much to move, 2. What was asked before the
 * actors act is counted by itself, as in "switch:12early". The word "drawn" in front means that the
 * answers were recorded.
 *
 * Depth first and PCT act only while the actors act. All else goes the usual way. The seed still
 * says what loco_sim_actor_draw gives. The only preemptions there are are switches at words of
 * network memory and at operations, if another thread or operation can go on; so threads of one
 * node that share other memory are not told apart. Preemptions at words need channels that are
 * compiled for it, as the library's own are in its tests.
 *
 * PCT ("A randomized scheduler with probabilistic guarantees of finding bugs", Burckhardt et al.)
 * finds a bug of depth d, one that needs d things to come in some order, with a chance of at least
 * 1 / (n k^(d-1)) in each run of n threads and operations and k moments. That is proven of their
 * algorithm. In ours a thread that waits is put last as well, and the bound is an estimate, which
 * the faults that were tried exceed 7 times and more (loco-sim(7)).
 */
#ifndef LOCO_SIM_EXPLORE_H
#define LOCO_SIM_EXPLORE_H

#include "workload.h"

LOCO_DECLARATIONS

struct loco_sim_answer {
    enum loco_choice what;
    bool early;      /* before the first actor acts */
    uint32_t number; /* of those of its kind since then, or of the early ones; from 1 */
    uint64_t value;
};

struct loco_sim_answers {
    struct loco_sim_answer *answer;
    size_t count, room;
    bool drawn; /* of a run that was recorded */
};

void loco_sim_answers_free(struct loco_sim_answers *answers);

/* Returns 0, -EINVAL or -ENOMEM. */
int loco_sim_answers_read(struct loco_sim_answers *answers, const char *text);
void loco_sim_answers_print(const struct loco_sim_answers *answers, FILE *file);

/* What to run. */
struct loco_sim_case {
    const struct loco_sim_workload *workload;
    uint64_t seed;
    enum loco_sim_chaos chaos;
};

/* These return 0 if the run passes, 1 if it fails, or -ENOMEM. */

/* Runs as the seed says, and keeps the answers. */
int loco_sim_record(const struct loco_sim_case *run, struct loco_sim_answers *answers);

/* Runs with the answers. If `loud`, stderr has each of them, as it is given, between the operations
 * of the history; and why the run fails. */
int loco_sim_replay(const struct loco_sim_case *run, const struct loco_sim_answers *answers,
                    bool loud);

/* Finds fewer answers with which a run fails. It takes up to half a minute of the
 * processor. */
int loco_sim_shrink(const struct loco_sim_case *run, struct loco_sim_answers *answers);

struct loco_sim_budget {
    unsigned preemptions, delays;
};

/* Makes the runs within the budget, until one fails, whose answers are returned then. `runs` is
 * how many there were. */
int loco_sim_depth_first(const struct loco_sim_case *run, struct loco_sim_budget budget,
                         struct loco_sim_answers *answers, uint64_t *runs);

/* For PCT: how many of each there were at most in the runs so far. */
struct loco_sim_size {
    uint64_t ranked, moments; /* threads and operations; times at which one could be put last */
};

/* Makes the run of the seed. */
int loco_sim_pct(const struct loco_sim_case *run, unsigned depth, struct loco_sim_size *size,
                 struct loco_sim_answers *answers);

/* The least chance that one run finds a bug of the depth, by the formula. */
double loco_sim_pct_chance(const struct loco_sim_size *size, unsigned depth);

LOCO_DECLARATIONS_END

#endif
