/*
 * Tracing: the library calls a tracer at its events. The program provides the tracer; the harness
 * gives it the LTTng provider of traces/.
 *
 * Without a tracer, as at first, an event costs a load and a branch. With a tracer that does not
 * want the event, it costs three of each. Otherwise it costs a call, on the thread that the event
 * happens on. That thread may be in a real-time loop, so the tracer must not wait, allocate, or
 * call the library.
 */
#ifndef LOCO_TRACE_H
#define LOCO_TRACE_H

#include <stdbool.h>

#include "fabric/language.h"
#include "fence.h"

LOCO_DECLARATIONS

/* Each function is called at its event; none may be NULL. `node` is the node that acts. `channel`
 * is the full name of the channel that it acts on, valid during the call. */
struct loco_tracer {
    /* An owned_var's copy of `size` bytes, check word included, was pushed to its readers; or its
     * owner was asked for it. */
    void (*push)(uint32_t node, const char *channel, size_t size);
    void (*pull)(uint32_t node, const char *channel, size_t size);

    /* A fence ended. */
    void (*fence)(uint32_t node, enum loco_fence fence);

    /* Lock `index` at node `host` is now held; or is about to be released. */
    void (*lock_acquire)(uint32_t node, const char *channel, uint32_t host, size_t index);
    void (*lock_release)(uint32_t node, const char *channel, uint32_t host, size_t index);

    /* The node has arrived at the barrier's round `round`, from 1; or has seen that all have. */
    void (*barrier_enter)(uint32_t node, const char *channel, uint32_t round);
    void (*barrier_leave)(uint32_t node, const char *channel, uint32_t round);

    /* A peer is up; or is lost. `left`: it closed in order. */
    void (*peer_join)(uint32_t node, uint32_t peer);
    void (*peer_lost)(uint32_t node, uint32_t peer, bool left);

    /* The event's function is called only while the int here is not 0. NULL: always. */
    const int *push_wanted, *pull_wanted, *fence_wanted;
    const int *lock_acquire_wanted, *lock_release_wanted;
    const int *barrier_enter_wanted, *barrier_leave_wanted;
    const int *peer_join_wanted, *peer_lost_wanted;
    uint64_t room[8];
};

/* From now on all nodes of this process call `tracer`, which must stay valid; NULL: none. Returns
 * the tracer before it; a call to that one may still be under way. Any thread. */
const struct loco_tracer *loco_trace_set(const struct loco_tracer *tracer);

LOCO_DECLARATIONS_END

#endif
