/*
 * A loop: a fixed-period activity. Each node has one, and an executor runs it. The same loop runs
 * against the clock and in virtual time.
 *
 * Step n (from 0) is due at phase + n * period after the common start.
 */
#ifndef HIL_LOOP_H
#define HIL_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "../scenario/scenario.h"
#include "state.h"

/* A batch that takes longer than this was interrupted, or its first step was slow. Eight short
 * steps take about a tenth of it. */
static const uint64_t HIL_BATCH_LONG_NS = 5000;

struct hil_traced_step;

struct hil_loop {
    /* Does step `n`, which begins at `now_ns` after the start. Returns 0, or a negative errno that
     * ends the run. */
    int (*step)(void *arg, uint64_t n, uint64_t now_ns);
    void *arg;
    uint64_t input_age_ns; /* how old the input of its last step was */
    bool has_input;        /* it has had input */
    struct hil_timing timing;
    struct hil_node_state *state; /* where its steps are counted */
    struct hil_loop *beside;      /* the next loop of its batch (batches.h); NULL: none */
    struct hil_worst *worst;      /* worst misses of all loops of its executor */
    uint32_t node;                /* the loop's node, for `worst` and traces */
    uint64_t end_ns;          /* end of the run, after the start: no step is due then or later */
    uint64_t ramp_ns;         /* length of the ramp to the safe values, the last part of the run */
    struct hil_tap_ring *tap; /* where misses are shown; NULL: nowhere */
    unsigned trace_every;     /* of so many spans of time, steps of one are traced; 0: of all */
    /* Adds the messages that are newer than those of its last traced step; NULL: it adds none. */
    void (*trace_newer)(void *arg, struct hil_traced_step *step);
    uint64_t first;   /* first step of this loop; above 0 if the run was already under way */
    uint64_t late_ns; /* greatest lateness of a long batch that its node has not told of yet */
};

static inline uint64_t hil_loop_due(const struct hil_loop *loop, uint64_t n)
{
    return loop->timing.phase_ns + n * loop->timing.period_ns;
}

/* The earliest time at which step n may begin, after the step before it began and ended at the
 * given times. That is when it is due. If that time is past and the loop limits how fast it catches
 * up, it is later. */
static inline uint64_t hil_loop_begin_at(const struct hil_loop *loop, uint64_t n, uint64_t begin_ns,
                                         uint64_t end_ns)
{
    uint64_t due = hil_loop_due(loop, n), soonest = begin_ns + loop->timing.catch_up_ns;

    return end_ns <= due || soonest <= due || !loop->timing.catch_up_ns ? due : soonest;
}

static inline uint64_t hil_loop_stops_at(const struct hil_loop *loop)
{
    return loop->end_ns - loop->ramp_ns;
}

/* The first step that is due `now_ns` after the start, or later. */
uint64_t hil_loop_first_from(const struct hil_loop *loop, uint64_t now_ns);

/* The end of a loop that stops `stop_ns` after the start, before its step `next`, which may have
 * been due before that. A ramp has at least one step, which reaches the safe values, so the end is
 * later if none is due over the ramp's time. */
static inline uint64_t hil_loop_end(const struct hil_loop *loop, uint64_t stop_ns, uint64_t next)
{
    const uint64_t from = hil_loop_first_from(loop, stop_ns), end = stop_ns + loop->ramp_ns;
    const uint64_t due = hil_loop_due(loop, next > from ? next : from);

    return loop->ramp_ns && due >= end ? due + 1 : end;
}

/* The loop was told to stop `stop_ns` after the start: only the ramp to the safe values is left. */
static inline void hil_loop_stop(struct hil_loop *loop, uint64_t stop_ns, uint64_t next)
{
    if (stop_ns < hil_loop_stops_at(loop))
        loop->end_ns = hil_loop_end(loop, stop_ns, next);
}

/*
 * Accounts for step n of the batch that begins with `loop`. The step began `begin_ns` and ended
 * `end_ns` after the start. Sets *next to the step to do next under the loop's overrun policy. A
 * step counts as run late if it has not ended when the next one is due. The steps of a batch of
 * several that took long count as late until its end, because it is not known when each of them
 * began. A step that the policy leaves out counts as late until it was left out, and is in the
 * lateness figures too. A loop that catches up, and is further behind than its limit, leaves out
 * the steps it owes. The last step of a ramp is never left out. Returns 0, or -ETIME if the
 * policy is to halt.
 */
int hil_loop_account(struct hil_loop *loop, uint64_t n, uint64_t begin_ns, uint64_t end_ns,
                     uint64_t *next);

/* The run's time is over: leaves out steps `n` and later of the batch that were due, but not the
 * last one of a ramp. Returns the next step, which is due later unless it is that one. */
uint64_t hil_loop_give_up(const struct hil_loop *loop, uint64_t n, uint64_t now_ns);

#endif
