/*
 * The checker: is a history linearizable? It is, if each operation can be given one moment between
 * its invocation and its return, so that a sequential model that performs the operations in the
 * order of these moments gives every recorded result.
 *
 * Keys are independent objects. A history is linearizable when each key's part is (Herlihy and
 * Wing's locality), so each key is checked alone. linear.c explains the search.
 *
 * A checker allocates its memory once and uses it for every history. One thread at a time uses it.
 */
#ifndef LOCO_SIM_LINEAR_H
#define LOCO_SIM_LINEAR_H

#include "models.h"

LOCO_DECLARATIONS

struct loco_sim_linear; /* a checker */

enum loco_sim_linear_verdict {
    LOCO_SIM_LINEARIZABLE,
    LOCO_SIM_NOT_LINEARIZABLE,
    LOCO_SIM_GAVE_UP, /* the search was cut short; report.why says why */
};

struct loco_sim_linear_report {
    enum loco_sim_linear_verdict verdict;
    uint32_t configs; /* the work done: configurations visited, over all keys */
    const char *why;  /* why the search gave up */

    uint64_t key; /* the key that fails or was given up */

    /*
     * When not linearizable: the events before event[at] can be linearized, but not together with
     * event[at], which is the return of op[culprit]. So `at` is the end of the smallest prefix that
     * fails. order[] has the indices of operations in one of the orders that reach that point, and
     * `state` is the state after them. order[] lies in the checker until its next use.
     */
    uint32_t at, culprit;
    const uint32_t *order;
    uint32_t ordered;
    struct loco_sim_model_state state;
};

enum { LOCO_SIM_CONFIGS = 1 << 16 }; /* a good configs_max */

/*
 * Opens a checker for histories of up to ops_max operations. The search for one key gives up after
 * configs_max configurations. Each takes about 300 bytes, which are touched only when used. Returns
 * 0, -EINVAL or -ENOMEM; *linear is set on success only.
 */
int loco_sim_linear_open(struct loco_sim_linear **linear, uint32_t ops_max, uint32_t configs_max);
void loco_sim_linear_close(struct loco_sim_linear *linear);

/* Checks the history and fills in *report. Does not allocate, and cannot fail. */
enum loco_sim_linear_verdict loco_sim_linear_check(struct loco_sim_linear *linear,
                                                   const struct loco_sim_history *history,
                                                   const struct loco_sim_model *model,
                                                   struct loco_sim_linear_report *report);

/* Prints what is wrong, for people to read. Prints nothing for a linearizable history. */
void loco_sim_linear_print(FILE *file, const struct loco_sim_history *history,
                           const struct loco_sim_linear_report *report);

/*
 * Finds a small part of a failing history that fails for the same reason, and copies it to `small`,
 * which has room for as many operations. Operations keep their ids. Returns 0; -EINVAL when the
 * history does not fail; or -ENOMEM.
 *
 * Simply removing operations would mislead: any load fails once the store that it saw is removed.
 * So operations are removed, in runs, singly and in pairs, only if
 *  - the history fails even if the removed operations may still have happened as recorded,
 *  - what is left is linearizable up to the return that breaks it, and
 *  - what is left still explains that return once the operations that contradict it are removed
 *    too (unless nothing in the history ever explained it).
 * As a consequence a chain of fetch_adds stays whole, and a queue's wrong "full" may keep its past.
 * Allocates. The time grows with the cube of the number of operations: about a millisecond for 60.
 */
int loco_sim_linear_shrink(struct loco_sim_linear *linear, const struct loco_sim_history *history,
                           const struct loco_sim_model *model, struct loco_sim_history *small);

LOCO_DECLARATIONS_END

#endif
