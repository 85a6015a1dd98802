/*
 * Tuning at a node: it receives a request, and applies it in its first step that is due when the
 * request takes force or later. In that step, continuous components have advanced to the step's
 * time with the old values; sampled components then compute with the new ones.
 *
 * A step looks at one word to find out whether there is a request. It takes no lock, allocates
 * nothing and makes no system call, whether there is one or not.
 */
#ifndef HIL_TUNER_H
#define HIL_TUNER_H

#include <stdbool.h>

#include "tuning_vars.h"

struct hil_step;

/* What a step looks at: where the number of the newest request is (in an owned_var, or in the
 * launcher's memory), the newest number that was heard, and whether work for that request is
 * left. */
struct hil_tuning_notice {
    const _Atomic uint64_t *rings;
    uint64_t heard;
    bool busy;
};

static inline bool hil_tuner_is_asked(const struct hil_tuning_notice *notice)
{
    return atomic_load_explicit(notice->rings, memory_order_acquire) != notice->heard ||
           notice->busy;
}

/* Sets step->tuner if something of the node can be tuned, or if this is node 0 and something in the
 * run can. Restores what was tuned before the node started again. Returns 0 or a negative errno. In
 * both cases hil_tuner_close frees what was made. */
int hil_tuner_open(struct hil_step *step);
void hil_tuner_close(struct hil_step *step);

/* Call it if hil_tuner_is_asked, at step n, which is due at `due_ns`, after the continuous
 * components have advanced. */
void hil_tuner_step(struct hil_step *step, uint64_t n, uint64_t due_ns, uint64_t now_ns);

#endif
