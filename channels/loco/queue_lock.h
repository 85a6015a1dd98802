/*
 * queue_lock: mutual exclusion among all threads of all participants, by Mellor-Crummey and Scott's
 * queue lock over network memory. A waiting node looks at its own memory only. The holder hands the
 * lock over by one write into the memory of the node that came next, so a lock that many wait for
 * is no traffic at its host.
 *
 * To come, a node puts itself behind the last one, by a compare-and-swap of one word at the lock's
 * host. The threads of one node queue in that node's memory first. `handover` says how often in a
 * row the lock may go to another thread of the same node while other nodes wait; above that, nodes
 * are served strictly in the order in which they came.
 *
 * A release of a lock that nobody waits for is a compare-and-swap, too, and waits for its result: a
 * free lock costs two round trips. That of ticket_lock costs one.
 *
 * A loss of any participant ends the lock: whoever waits, and all later calls but a release, return
 * -ECONNRESET, also at participants that have not lost it themselves. A holder keeps the lock until
 * it releases it. ticket_lock survives losses. A participant that restarts is not taken back: all
 * participants end their endpoints and construct the lock again.
 *
 * Threads: any attached thread; the thread that acquired a lock releases it. Not recursive.
 * Order: what a holder wrote before its release, as far as the release's fence covers it, is
 * visible to every later holder.
 */
#ifndef LOCO_QUEUE_LOCK_H
#define LOCO_QUEUE_LOCK_H

#include "atomic_var.h"
#include "fabric/language.h"
#include "fence.h"

LOCO_DECLARATIONS

/* This node's end of the lock. */
struct loco_queue_lock {
    struct loco_atomic_array words;
    uint32_t host;
    unsigned handover;

    /* The queue of this node's threads. */
    uint64_t local_next __attribute__((aligned(64)));
    uint64_t local_serving;

    /* The rest belongs to the thread that is in. */
    uint64_t place;    /* this node's newest, in the queue of nodes */
    uint64_t follower; /* the newest that was seen to come after one of this node's */
    unsigned passed;   /* how often the lock has stayed with this node since it came here */
    bool kept;         /* the node keeps the lock: its next thread takes it over */
    uint64_t room[4];
};

/* Constructs and joins. Every participant names all the others as `members`, and the same `host`,
 * which is one of the participants, and `handover`. Returns 0 or an error of loco_channel_init;
 * -EINVAL also when `host` is no node, or the network has more than 65,535 nodes. *lock must stay
 * in its place while the endpoint lives. */
int loco_queue_lock_init(struct loco_queue_lock *lock, struct loco_manager *manager,
                         const struct loco_channel *parent, const char *name, uint32_t host,
                         struct loco_members members, unsigned handover);
void loco_queue_lock_fini(struct loco_queue_lock *lock);

/* Waits for the lock, without a limit. Returns 0; -ECONNRESET once a participant was lost; or an
 * error of loco_atomic_compare_swap. After an error the lock is not held. */
int loco_queue_lock_acquire(struct loco_queue_lock *lock);

/* Takes the lock if nobody holds it or waits for it. Returns 0, -EBUSY, or an error as above. Over
 * a network it waits for the host's answers. */
int loco_queue_lock_try(struct loco_queue_lock *lock);

/* Tries until it succeeds, for at most `timeout_ns`. Returns 0, -ETIMEDOUT, or an error as above.
 * It has no place in the queue meanwhile, so all who wait go first. It tries at least once; if a
 * host across the network does not answer a look, it gives up 10 ms after its time is over. A claim
 * that is under way, because the look found the lock free, is waited for until the host answers or
 * is lost. */
int loco_queue_lock_timed(struct loco_queue_lock *lock, uint64_t timeout_ns);

/* Releases the lock. `fence` says which writes later holders will see, as with
 * loco_ticket_lock_release. With LOCO_FENCE_PAIR, for writes to the lock's host, it waits only when
 * it hands over to a thread elsewhere than there. Returns 0, or the first error of the fence or of
 * the release; the lock is released also then, except after -EPERM. The timed call waits for its
 * fence for at most `timeout_ns`; after -ETIMEDOUT the lock is still held. */
int loco_queue_lock_release(struct loco_queue_lock *lock, enum loco_fence fence);
int loco_queue_lock_release_timed(struct loco_queue_lock *lock, enum loco_fence fence,
                                  uint64_t timeout_ns);

LOCO_DECLARATIONS_END

#endif
