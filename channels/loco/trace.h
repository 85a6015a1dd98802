/*
 * Where the library tells a tracer what it does. It knows no tracer itself: the harness gives it
 * the LTTng provider of traces/, another program what it likes.
 *
 * While there is none, which is so at first, an event costs a load and a branch; with one that does
 * not want it, three of each. Else it is a call on the thread that does what is told of, which may
 * be a loop in real time: it must not wait, allocate, or call the library.
 */
#ifndef LOCO_TRACE_H
#define LOCO_TRACE_H

#include <stdbool.h>

#include "fence.h"
#include "language.h"

LOCO_DECLARATIONS

/* The functions are called at their events; none is NULL. `node` is the one that acts, `channel`
 * the full name of what it acts on, valid during the call. */
struct loco_tracer {
    /* An owned_var's copy of `size` bytes (with its checksum) was posted to its readers; or
     * asked for from its owner. */
    void (*push)(uint32_t node, const char *channel, size_t size);
    void (*pull)(uint32_t node, const char *channel, size_t size);

    /* A fence is over. */
    void (*fence)(uint32_t node, enum loco_fence fence);

    /* The lock `index` of those that node `host` hosts is held; or about to be released. */
    void (*lock_acquire)(uint32_t node, const char *channel, uint32_t host, size_t index);
    void (*lock_release)(uint32_t node, const char *channel, uint32_t host, size_t index);

    /* The node has come to the barrier for the `round`th time; or has seen that all have. */
    void (*barrier_enter)(uint32_t node, const char *channel, uint32_t round);
    void (*barrier_leave)(uint32_t node, const char *channel, uint32_t round);

    /* A peer was met; or is gone, having `left` in order or not. */
    void (*peer_join)(uint32_t node, uint32_t peer);
    void (*peer_lost)(uint32_t node, uint32_t peer, bool left);

    /* Where the tracer says whether it wants the event at this moment: 0 there saves the call.
     * NULL: always. */
    const int *push_wanted, *pull_wanted, *fence_wanted;
    const int *lock_acquire_wanted, *lock_release_wanted;
    const int *barrier_enter_wanted, *barrier_leave_wanted;
    const int *peer_join_wanted, *peer_lost_wanted;
    uint64_t room[8];
};

/* From now on all of this process's nodes tell `tracer`, which stays valid; NULL: nobody. Any
 * thread. Returns the one before, to which a call may still be under way. */
const struct loco_tracer *loco_trace_set(const struct loco_tracer *tracer);

LOCO_DECLARATIONS_END

#endif
