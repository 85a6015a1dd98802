/*
 * barrier: nobody leaves before everybody has come. Everything that a participant placed,
 * or only posted, before it came is visible to whoever has left.
 *
 * A participant that restarts is not taken back: waits return -ECONNRESET until all have ended
 * their endpoints and constructed the barrier anew.
 *
 * Threads: one thread of each node.
 */
#ifndef LOCO_BARRIER_H
#define LOCO_BARRIER_H

#include "language.h"
#include "sst.h"

LOCO_DECLARATIONS

struct loco_barrier {
    struct loco_channel channel;
    struct loco_sst sst;
    uint32_t count; /* of rounds; it may wrap */
    unsigned come;  /* members, from the first on, that are known to have come to this one */
    bool waits;     /* this node came, and its wait ran out of time */
    int arrived;    /* then: what coming said */
    uint64_t room[4];
};

/* Constructs and joins. `members` stays valid while the endpoint lives. Errors as of
 * loco_channel_init. */
int loco_barrier_init(struct loco_barrier *barrier, struct loco_manager *manager,
                      const struct loco_channel *parent, const char *name,
                      struct loco_members members);
void loco_barrier_fini(struct loco_barrier *barrier);

/* Comes, and waits for all. Returns 0; -ECONNRESET when a member was lost that had not come; or,
 * when all have come, what the global fence of coming said: -ECONNRESET where writes of this node
 * were lost with any peer (see fence.h). */
int loco_barrier_wait(struct loco_barrier *barrier);

/* The same for at most `timeout_ns`: then -ETIMEDOUT. The node may have come all the same; the next
 * wait goes on with that round, and does not come anew. With 0 it comes and asks without waiting.
 */
int loco_barrier_timed(struct loco_barrier *barrier, uint64_t timeout_ns);

/* The same in two halves, for a thread that serves several nodes: comes, which waits for its fence
 * only; then, as often as it likes, asks whether all have. 1 yes, 0 not yet, or a negative errno as
 * above. */
int loco_barrier_arrive(struct loco_barrier *barrier);
int loco_barrier_passed(struct loco_barrier *barrier);

LOCO_DECLARATIONS_END

#endif
