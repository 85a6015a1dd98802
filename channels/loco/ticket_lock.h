/*
 * ticket_lock: mutual exclusion among all threads of all participants. It is Mellor-Crummey and
 * Scott's ticket lock, over network memory: a waiting thread takes a ticket from next_ticket by
 * fetch-and-add, and waits until now_serving reaches its ticket. Both words are at the lock's host.
 * The threads of one node queue in that node's own memory first, and only the first of them takes a
 * ticket.
 *
 * The number `handover` sets the fairness: how many other threads may take the lock first once a
 * ticket's turn has come. With 0, tickets are served strictly in order. Above 0, a released lock
 * goes to the first thread that takes it. Mostly that is the thread that has just released it, or
 * one that waits at the same node and takes it over without the network. So a ticket with k others
 * before it waits for (k + 1) * (handover + 1) critical sections at most. The same number limits
 * how often other threads of its node pass a waiting thread.
 *
 * A lock that is not held can be acquired without the help of any other node's threads.
 *
 * When a participant is lost, the threads that wait free the lock that it held and the tickets that
 * it had, once the fabric at every other participant has said that it can write no more. The lost
 * holder may have left the data under the lock half changed; a caller that must know asks
 * loco_peer_lost. A holder that only stands still keeps the lock. A lock ends with its host.
 *
 * A participant that restarts is not taken back: its waits do not end until all participants have
 * ended their endpoints and constructed the channel again.
 *
 * Threads: any attached thread; the thread that acquired a lock releases it. Not recursive.
 * Order: what a holder wrote before its release, as far as the release's fence covers it, is
 * visible to every later holder.
 */
#ifndef LOCO_TICKET_LOCK_H
#define LOCO_TICKET_LOCK_H

#include "atomic_var.h"
#include "fabric/language.h"
#include "fence.h"
#include "memory.h"

LOCO_DECLARATIONS

enum {
    LOCO_HANDOVER_STRICT = 0,
    LOCO_HANDOVER_DEFAULT = 64,
    LOCO_HANDOVER_MAX = 16383,
};

/* This node's end of one lock. */
struct loco_ticket_lock {
    /* The queue of this node's threads: next_ticket and now_serving once more. */
    uint64_t local_next __attribute__((aligned(64)));
    uint64_t local_serving;
    uint64_t local_after; /* what the holder's release will set local_serving to */
    uint64_t after;       /* what it will set the host's now_serving to */
    bool kept;            /* the node keeps the lock: its next thread takes it over */
    bool second;          /* the newest claim is in the second of this node's words */
    uint16_t handover;
    uint32_t host;
    uint32_t count;  /* of locks at the host */
    uint32_t index;  /* of next_ticket, in `words` */
    uint64_t inside; /* the host's now_serving while this node is in, where the CPU does not reach
                      * it */
    struct loco_atomic_array *words;
};

/* Many locks in one channel: `count` at each participant, which is their host. */
struct loco_ticket_lock_array {
    struct loco_atomic_array words;
    size_t count;                   /* of locks at each host */
    struct loco_ticket_lock *locks; /* by host, then by index */
    uint64_t room[4];
};

/* Constructs and joins an endpoint of a lock whose host is node `host`. Every participant names all
 * the others as `members`; the host is one of the participants. `handover` is the same at each, and
 * at most LOCO_HANDOVER_MAX. Returns 0 or an error of loco_channel_init; -EINVAL also when a number
 * is out of range. */
int loco_ticket_lock_init(struct loco_ticket_lock *lock, struct loco_manager *manager,
                          const struct loco_channel *parent, const char *name, uint32_t host,
                          struct loco_members members, unsigned handover);
void loco_ticket_lock_fini(struct loco_ticket_lock *lock);

/* Does the same for `count` locks at each participant, which is their host. */
int loco_ticket_lock_array_init(struct loco_ticket_lock_array *array, struct loco_manager *manager,
                                const struct loco_channel *parent, const char *name, size_t count,
                                struct loco_members members, unsigned handover);
void loco_ticket_lock_array_fini(struct loco_ticket_lock_array *array);

/* Returns the lock `index` at node `host`. Both must be in range. */
struct loco_ticket_lock *loco_ticket_lock_at(const struct loco_ticket_lock_array *array,
                                             uint32_t host, size_t index);

/* A hint: the calling thread will soon acquire the lock. If this CPU may use the lock's words
 * itself, the cache line that an acquire changes is fetched; otherwise nothing happens. Useful when
 * there is something else to do first, such as acquiring another lock. A hint at a held lock slows
 * its holder down. */
static inline void loco_ticket_lock_prefetch(const struct loco_ticket_lock *lock)
{
    const size_t now_serving = lock->index + LOCO_CACHE_LINE / sizeof(uint64_t);

    loco_atomic_prefetch(loco_atomic_at(lock->words, lock->host, now_serving));
}

/* Waits for the lock, without a limit. Returns 0; -ECONNRESET when the lock's host was lost; or an
 * error of loco_atomic_fetch_add. After an error the lock is not held. */
int loco_ticket_lock_acquire(struct loco_ticket_lock *lock);

/* Takes the lock if no thread holds it or waits for it with a ticket that must come first. Returns
 * 0, -EBUSY, or an error as above. Over a network it waits for the host's answers;
 * loco_ticket_lock_timed with a time of 0 gives up a host that does not answer. */
int loco_ticket_lock_try(struct loco_ticket_lock *lock);

/* Tries until it succeeds, for at most `timeout_ns`. Returns 0, -ETIMEDOUT, or an error as above.
 * It holds no ticket meanwhile: there is nothing to give back at the end, but it has no place in
 * the queue either. Threads that wait with a ticket go first; if `handover` is 0, always. It tries
 * at least once, however short its time; if a look over the network is not answered (by the host,
 * or by a member that is asked whether it has lost the holder, too), it gives up 10 ms after its
 * time is over. But a claim that is under way, because the look found the lock free, is waited for
 * until the host answers or is lost. */
int loco_ticket_lock_timed(struct loco_ticket_lock *lock, uint64_t timeout_ns);

/*
 * Releases the lock. The fence says which writes later holders will see:
 *
 *      LOCO_FENCE_NONE     none: there were none, or the caller has fenced them
 *      LOCO_FENCE_PAIR     the calling thread's writes to the lock's host. They travel in order
 *                          with the release, on one link; so this waits only before a handover
 *                          to another thread of the node
 *      LOCO_FENCE_THREAD   the calling thread's writes to any node
 *      LOCO_FENCE_GLOBAL   the writes of all threads of this node to any node
 *
 * On coherent memory all writes are in order, and no fence costs anything. Returns 0, or the first
 * error of the fence or of the release. The lock is released also after an error, except after
 * -EPERM (the calling thread is not attached). The release is only posted: until it is placed, a
 * try at another node may still find the lock busy. The timed call waits for its fence for at most
 * `timeout_ns`; after -ETIMEDOUT the lock is still held.
 */
int loco_ticket_lock_release(struct loco_ticket_lock *lock, enum loco_fence fence);
int loco_ticket_lock_release_timed(struct loco_ticket_lock *lock, enum loco_fence fence,
                                   uint64_t timeout_ns);

LOCO_DECLARATIONS_END

#endif
