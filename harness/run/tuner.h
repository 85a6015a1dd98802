/*
 * How a node is tuned: it hears of a request, and applies it in its first step that is due when the
 * request takes force, or later. Then what is continuous has advanced to the step's time with what
 * was, and what computes at that time does so with what is.
 *
 * A step asks for news by looking at one word. It takes no lock, allocates nothing, and calls no
 * system, whether there are news or not.
 */
#ifndef HIL_TUNER_H
#define HIL_TUNER_H

#include <stdbool.h>

#include "tuning_vars.h"

struct hil_step;

/* What a step looks at: the number of the newest request, which owned_var or the launcher's memory
 * has; the one that was heard of; and whether there is still something to be done about that. */
struct hil_tuner_bell {
    const _Atomic uint64_t *rings;
    uint64_t heard;
    bool busy;
};

static inline bool hil_tuner_is_asked(const struct hil_tuner_bell *bell)
{
    return atomic_load_explicit(bell->rings, memory_order_acquire) != bell->heard || bell->busy;
}

/* Sets step->tuner, where the node has anything to be tuned, or is node 0 of a run that has. What
 * was tuned before the node started again is so still. Returns 0 or a negative errno; the rest is
 * for hil_tuner_close in either case. */
int hil_tuner_open(struct hil_step *step);
void hil_tuner_close(struct hil_step *step);

/* If it is asked: at step n, which is due at `due_ns`, once what is continuous has advanced. */
void hil_tuner_step(struct hil_step *step, uint64_t n, uint64_t due_ns, uint64_t now_ns);

#endif
