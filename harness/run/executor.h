/*
 * Runs loops against the clock, in the calling thread. It waits for a step's time in a busy
 * loop, or asleep and then busy; in a step of its own doing there is no system call, no
 * allocation and no lock.
 */
#ifndef HIL_EXECUTOR_H
#define HIL_EXECUTOR_H

#include "../../channels/loco/thread.h"
#include "clock.h"
#include "crew.h"
#include "loop.h"
#include "state.h"

/* A loop's next step, and when it begins, after the start: when it is due, or later where the
 * loop is behind and must not catch up faster. */
struct hil_pending {
    struct hil_loop *loop;
    uint64_t n, at;
    uint64_t done;    /* the step after the last one that was run */
    uint64_t took_ns; /* the step before */
};

struct hil_executor {
    struct hil_clock clock;
    const _Atomic bool *stop; /* set by others: end soon */
    _Atomic uint64_t *heartbeat;
    uint64_t start_ns; /* on the clock */
    bool stopping;     /* it was told to stop, and does not look any more */
    enum hil_wait wait;
    unsigned count;
    struct hil_pending *loops;
    /* Of a node, where the fabric gains by it: while the executor waits it receives, and quick
     * steps that are due together send together. Else NULL. */
    struct loco_manager *network;
    uint64_t receive_ticks;
    struct hil_crew *crew; /* who does steps with it; NULL: it is alone */
};

/* How long before a step's time a hybrid wait wakes up: what a sleeper is late, but for the
 * rare one. */
static const uint64_t HIL_HYBRID_NS = 100000;

/* Has the loop run from its first step on. */
static inline struct hil_pending hil_pending_first(struct hil_loop *loop)
{
    return (struct hil_pending){loop, loop->first, hil_loop_due(loop, loop->first), 0, 0};
}

/* Runs the loops to the end. Returns 0, -EINTR when told to stop, at their next steps or after
 * their ramps, or the negative errno of a step or of the accounting. */
int hil_executor_run(struct hil_executor *executor);

#endif
