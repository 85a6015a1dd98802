/*
 * Is a history linearizable? That is, can each operation be given one moment between its
 * invocation and its return so that, performed at those moments one after another, a
 * sequential model gives every recorded result?
 *
 * Keys are independent objects: the history is linearizable when each key's part is
 * (Herlihy and Wing's locality), so each is checked alone. linear.c explains the search.
 *
 * A checker's memory is taken once and used again for every history. One thread uses it
 * at a time.
 */
#ifndef LOCO_SIM_LINEAR_H
#define LOCO_SIM_LINEAR_H

#include "models.h"

struct loco_sim_linear; /* a checker */

enum loco_sim_linear_verdict {
    LOCO_SIM_LINEARIZABLE,
    LOCO_SIM_NOT_LINEARIZABLE,
    LOCO_SIM_GAVE_UP, /* the search was cut short: report.why says by what */
};

struct loco_sim_linear_report {
    enum loco_sim_linear_verdict verdict;
    uint32_t configs; /* the work done: configurations visited, over all keys */
    const char *why;  /* of giving up */

    uint64_t key; /* the key that fails or was given up */

    /*
     * When not linearizable: the events before event[at] can be linearized, and with
     * event[at], which is the return of op[culprit], they cannot. So at is the end of the
     * smallest prefix that fails. order[] is one of the orders that come that far, as
     * indices of operations, and state what it leaves; order[] lives in the checker until
     * its next use.
     */
    uint32_t at, culprit;
    const uint32_t *order;
    uint32_t ordered;
    struct loco_sim_model_state state;
};

enum { LOCO_SIM_CONFIGS = 1 << 16 }; /* a good bound of the work for one key */

/*
 * For histories of up to ops_max operations. A key's search gives up after configs_max
 * configurations of about 300 bytes each (memory that is only touched when used). Returns
 * 0, -EINVAL or -ENOMEM; *linear is set on success only.
 */
int loco_sim_linear_open(struct loco_sim_linear **linear, uint32_t ops_max, uint32_t configs_max);
void loco_sim_linear_close(struct loco_sim_linear *linear);

/* *report is always filled. Neither allocates nor fails. */
enum loco_sim_linear_verdict loco_sim_linear_check(struct loco_sim_linear *linear,
                                                   const struct loco_sim_history *history,
                                                   const struct loco_sim_model *model,
                                                   struct loco_sim_linear_report *report);

/* What is wrong, for people: nothing for a linearizable history. */
void loco_sim_linear_print(FILE *file, const struct loco_sim_history *history,
                           const struct loco_sim_linear_report *report);

/*
 * Finds a small part of a failing history that fails for the same reason, in `small`, which
 * has room for as many operations. Operations keep their ids. Returns 0, -EINVAL when the
 * history was not found to fail, -ENOMEM.
 *
 * Plain removal would deceive: any load fails once the store that it saw is removed. So
 * operations are removed, in runs, singly and in pairs, only if
 *  - the failure stands even where those removed may still have happened as recorded,
 *  - what is left is linearizable up to the return that breaks it, and
 *  - what is left still explains that return, once the operations that contradict it are
 *    taken out too (unless nothing in the history ever explained it).
 * The price is that a chain of fetch_adds stays whole, and that a queue's wrong "full" may
 * keep its past. Allocates. The time grows with the cube of the operations: about a
 * millisecond for 60.
 */
int loco_sim_linear_shrink(struct loco_sim_linear *linear, const struct loco_sim_history *history,
                           const struct loco_sim_model *model, struct loco_sim_history *small);

#endif
