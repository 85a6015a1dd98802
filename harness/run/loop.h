/*
 * A loop: a fixed-period activity. A node has one, an executor runs it; the same loop runs
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

struct hil_loop {
    /* Does step `n`, which begins at `now_ns` after the start. 0, or a negative errno that
     * ends the run. */
    int (*step)(void *arg, uint64_t n, uint64_t now_ns);
    void *arg;
    uint64_t input_age_ns; /* its last step's: how old its input was */
    bool has_input;        /* it has had one */
    struct hil_timing timing;
    struct hil_node_state *state;
    struct hil_worst *worst;  /* misses, of all the loops of its executor */
    uint32_t node;            /* whose it is, for those */
    uint64_t end_ns;          /* of the run, after the start: no step that is due then */
    uint64_t ramp_ns;         /* the last part of it: the way to what is safe */
    struct hil_tap_ring *tap; /* where misses are shown; NULL: nowhere */
    uint64_t first;           /* step of this loop; above 0 where the run was under way already */
};

static inline uint64_t hil_loop_due(const struct hil_loop *loop, uint64_t n)
{
    return loop->timing.phase_ns + n * loop->timing.period_ns;
}

/* When step n begins at the earliest, the one before it having begun and ended then: when it is
 * due, unless that is over and the loop must not catch up any faster. */
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

/* Told to stop `now_ns` after the start: what is left is the way to what is safe. */
static inline void hil_loop_stop(struct hil_loop *loop, uint64_t now_ns)
{
    if (now_ns < hil_loop_stops_at(loop))
        loop->end_ns = now_ns + loop->ramp_ns;
}

/* The first step that is due at `now_ns` after the start, or later. */
uint64_t hil_loop_first_from(const struct hil_loop *loop, uint64_t now_ns);

/*
 * Accounts for step n, which began `begin_ns` and ended `end_ns` after the start, and gives
 * the step to do next by the loop's overrun policy. A step is run late when it has not ended
 * by the time the next one is due. A step that the policy leaves out was late until then: the
 * figures of lateness have it as well. A loop that catches up, and is further behind than its
 * limit, leaves out what it owes. Returns 0, or -ETIME when the policy is to halt.
 */
int hil_loop_account(const struct hil_loop *loop, uint64_t n, uint64_t begin_ns, uint64_t end_ns,
                     uint64_t *next);

/* The run's time is over: steps `n` and after were due, and are left out. */
void hil_loop_give_up(const struct hil_loop *loop, uint64_t n, uint64_t now_ns);

#endif
