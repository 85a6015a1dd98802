/*
 * Runs loops against the clock, in the calling thread. It waits for a step's time in a busy loop,
 * or sleeps first and then spins. In a step the executor itself makes no system call, allocates no
 * memory and takes no lock.
 */
#ifndef HIL_EXECUTOR_H
#define HIL_EXECUTOR_H

#include <sys/queue.h>

#include "../../channels/loco/thread.h"
#include "clock.h"
#include "crew.h"
#include "loop.h"
#include "state.h"

/* The next step of a batch of loops (batches.h), mostly of one loop, and when it begins, after the
 * start: when it is due, or later if the batch is behind and must not catch up faster. */
struct hil_pending {
    struct hil_loop *loop; /* the first one; `beside` leads to the others */
    uint64_t n, at;
    uint64_t took_ns; /* how long the last step took */
    TAILQ_ENTRY(hil_pending) link;
};

struct hil_executor {
    struct hil_clock clock;
    const _Atomic uint64_t *stop; /* when to end, on the clock, as others say; 0: not yet */
    _Atomic uint64_t *heartbeat;
    uint64_t start_ns; /* on the clock */
    bool stopping;     /* it was told to stop, and no longer checks `stop` */
    enum hil_wait wait;
    unsigned count;
    struct hil_pending *batches;
    TAILQ_HEAD(hil_queue, hil_pending) queue; /* the batches, the one to step next first */
    uint64_t ended_ns; /* when the last step ended, after the start; 0: time has passed since */
    /* A node's manager, if the fabric benefits: the executor receives while it waits, and short
     * steps that are due together send together. Else NULL. */
    struct loco_manager *network;
    uint64_t receive_ticks;
    struct hil_crew *crew; /* threads that share the steps; NULL: none */
    uint64_t stall_ns;     /* shorter stalls are not counted */
    struct hil_stalls stalls;
};

/* How long before a step's time a hybrid wait wakes up. A sleeping thread rarely wakes up later
 * than this. */
static const uint64_t HIL_HYBRID_NS = 100000;

/* A batch of one loop. Begins with its first step. */
static inline struct hil_pending hil_pending_first(struct hil_loop *loop)
{
    return (struct hil_pending){
        .loop = loop, .n = loop->first, .at = hil_loop_due(loop, loop->first)};
}

uint64_t hil_executor_shortest_period_ns(const struct hil_executor *executor);

/* Runs the loops to the end. Returns 0; or -EINTR if they were told to stop, after their next steps
 * or their ramps; or the negative errno of a step or of the accounting. */
int hil_executor_run(struct hil_executor *executor);

#endif
