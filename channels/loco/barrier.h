/*
 * barrier: no participant leaves before all have arrived. Everything that any participant posted
 * before it arrived is placed and visible to every participant that has left.
 *
 * A participant that restarts is not taken back: waits return -ECONNRESET until all participants
 * have ended their endpoints and constructed the barrier again.
 *
 * Threads: one thread at a time at each node; it is attached.
 */
#ifndef LOCO_BARRIER_H
#define LOCO_BARRIER_H

#include "fabric/language.h"
#include "sst.h"

LOCO_DECLARATIONS

struct loco_barrier {
    struct loco_channel channel;
    struct loco_sst sst;
    uint32_t count; /* rounds that this node has arrived at; it may wrap */
    unsigned come;  /* the first so many members are known to have arrived at this round */
    bool waits;     /* this node has arrived, and its wait ran out of time */
    int arrived;    /* what the newest attempt to arrive returned */
    uint64_t room[4];
};

/* Constructs and joins. The nodes of `members` must stay valid while the endpoint lives. Returns 0
 * or an error of loco_channel_init. */
int loco_barrier_init(struct loco_barrier *barrier, struct loco_manager *manager,
                      const struct loco_channel *parent, const char *name,
                      struct loco_members members);
void loco_barrier_fini(struct loco_barrier *barrier);

/* Arrives, which includes a global fence, and waits until all have arrived. Returns
 *      0
 *      -ECONNRESET  a member was lost before it arrived. Or all have arrived, and the fence found
 *                   that operations of this node were lost with some peer (fence.h)
 *      -ENOTCONN    a member has not connected yet; the node has not arrived
 *      -EPERM       the calling thread is not attached; the node has not arrived */
int loco_barrier_wait(struct loco_barrier *barrier);

/* Does the same, but waits for at most `timeout_ns`; -ETIMEDOUT after that. If the node has arrived
 * by then, the next wait continues with the same round and does not arrive again. With 0 it arrives
 * if that takes no waiting, and returns at once. */
int loco_barrier_timed(struct loco_barrier *barrier, uint64_t timeout_ns);

/* The two halves of a wait, for a thread that serves several nodes. loco_barrier_arrive waits for
 * the fence only, and returns 0, the fence's error, or -ENOTCONN; the node has arrived after 0 and
 * after -ECONNRESET. loco_barrier_passed never waits. It returns 1 when all have arrived, 0 when
 * some have not, or -ECONNRESET when a member was lost before it arrived. It also returns 0 while
 * this node itself has not arrived because its time was over, or a member was not connected. */
int loco_barrier_arrive(struct loco_barrier *barrier);
int loco_barrier_passed(struct loco_barrier *barrier);

LOCO_DECLARATIONS_END

#endif
