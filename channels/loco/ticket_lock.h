/*
 * ticket_lock: mutual exclusion among all threads of all participants. Each node's first
 * waiting thread takes a ticket from next_ticket by fetch-and-add, and waits until now_serving
 * says its turn (Mellor-Crummey and Scott's lock, over network memory). Both words are at the
 * lock's host; the threads of one node queue in that node's own memory first.
 *
 * Fairness is one number, `handover`: how often a ticket whose turn has come may be passed
 * before the lock is its own. With 0, tickets are served strictly in order. Above 0, a lock
 * that is left is open to whoever comes first: mostly to the thread that has just left it, or
 * to one that waits at the same node, which takes it over without the network. So a ticket
 * with k others before it waits for (k + 1) * (handover + 1) sections at most. The same number
 * bounds, again, how often a waiting thread is passed by the other threads of its node.
 *
 * A lock that is not held can be had without any other node's help.
 *
 * A lock that a lost participant held, and the tickets that it had, are freed by those who wait,
 * once the fabric at every other participant says that it can write no more. What the lock protects
 * is then as the lost one left it: half changed, maybe. Whoever must know asks loco_peer_lost. A
 * holder that only stands still keeps the lock. A lock ends with its host.
 *
 * A participant that restarts is not taken back: its waits do not end until all have ended their
 * endpoints and constructed the channel anew.
 *
 * Threads: any attached thread; whoever acquired releases. Not recursive.
 * Order: what the holder did before its release, as far as the release's fence covers it, is
 * visible to every later holder.
 */
#ifndef LOCO_TICKET_LOCK_H
#define LOCO_TICKET_LOCK_H

#include "atomic_var.h"
#include "fence.h"
#include "language.h"
#include "memory.h"

LOCO_DECLARATIONS

enum {
    LOCO_HANDOVER_STRICT = 0,
    LOCO_HANDOVER_DEFAULT = 64,
    LOCO_HANDOVER_MAX = 16383,
};

/* This node's end of one lock. */
struct loco_ticket_lock {
    /* This node's threads: the same two words again, and who holds. */
    uint64_t local_next __attribute__((aligned(64)));
    uint64_t local_serving;
    uint64_t local_after; /* the holder's: what now_serving will say after it */
    uint64_t after;       /* the same, of the network's */
    bool kept;            /* the next local thread takes the lock over */
    bool second;          /* the newest claim is in the second of this node's words */
    uint16_t handover;
    uint32_t host;
    size_t count; /* of locks at the host */
    size_t index; /* of next_ticket, in `words` */
    struct loco_atomic_array *words;
};

/* Many locks in one channel: `count` at each participant, which is their host. */
struct loco_ticket_lock_array {
    struct loco_atomic_array words;
    size_t count;                   /* of locks at each host */
    struct loco_ticket_lock *locks; /* by host, then by index */
    uint64_t room[4];
};

/* Constructs and joins an endpoint of a lock whose host is node `host`. `members`: the others
 * that take part, named alike at each, the host among them. `handover` is the same at each, and
 * LOCO_HANDOVER_MAX at most. Errors as of loco_channel_init. */
int loco_ticket_lock_init(struct loco_ticket_lock *lock, struct loco_manager *manager,
                          const struct loco_channel *parent, const char *name, uint32_t host,
                          struct loco_members members, unsigned handover);
void loco_ticket_lock_fini(struct loco_ticket_lock *lock);

int loco_ticket_lock_array_init(struct loco_ticket_lock_array *array, struct loco_manager *manager,
                                const struct loco_channel *parent, const char *name, size_t count,
                                struct loco_members members, unsigned handover);
void loco_ticket_lock_array_fini(struct loco_ticket_lock_array *array);

/* The lock `index` that node `host` hosts; both are in range. */
struct loco_ticket_lock *loco_ticket_lock_at(const struct loco_ticket_lock_array *array,
                                             uint32_t host, size_t index);

/* A hint: this thread will soon acquire the lock. It brings the word that an acquire changes near,
 * where this CPU may use the word itself, and does nothing elsewhere. Useful when there is
 * something else to do first, such as acquiring another lock; a hint at a held lock disturbs its
 * holder. */
static inline void loco_ticket_lock_prefetch(const struct loco_ticket_lock *lock)
{
    const size_t now_serving = lock->index + LOCO_CACHE_LINE / sizeof(uint64_t);

    loco_atomic_prefetch(loco_atomic_at(lock->words, lock->host, now_serving));
}

/* Waits for the lock. Returns 0; or -ECONNRESET when the lock's host was lost; or an error as of
 * loco_atomic_fetch_add. After an error the lock is not held. */
int loco_ticket_lock_acquire(struct loco_ticket_lock *lock);

/* Takes the lock if that needs no waiting for a holder. Returns 0, -EBUSY, or as above. It
 * takes a ticket only if that is served at once. */
int loco_ticket_lock_try(struct loco_ticket_lock *lock);

/* Tries until it succeeds, for at most `timeout_ns`. Returns 0, -ETIMEDOUT, or as above. It
 * holds no ticket meanwhile, which leaves nothing to give back, but no place in the queue
 * either: threads that wait with a ticket go before, always so where `handover` is 0. From afar it
 * looks at least once; a host that does not answer is given up 10 ms after the time is over. */
int loco_ticket_lock_timed(struct loco_ticket_lock *lock, uint64_t timeout_ns);

/*
 * Releases the lock; the fence says which of the holder's writes the next holder will see.
 *
 *      LOCO_FENCE_NONE     none: there were none, or the caller has fenced them
 *      LOCO_FENCE_PAIR     this thread's writes to the lock's host. They and the release travel
 *                          on one link in order, so this waits for nothing, except before a
 *                          handover to another thread of the node
 *      LOCO_FENCE_THREAD   this thread's writes to any node
 *      LOCO_FENCE_GLOBAL   all threads' writes, of this node, to any node
 *
 * On coherent memory all writes are in order, and no fence costs anything. Returns 0, or the
 * first error of the fence or of the release; the lock is released in any case, but for -EPERM from
 * a thread that is not attached. The release is only posted: until it is placed, a try elsewhere
 * may still find the lock busy. The timed one waits for its fence for at most `timeout_ns`; after
 * -ETIMEDOUT the lock is held as before.
 */
int loco_ticket_lock_release(struct loco_ticket_lock *lock, enum loco_fence fence);
int loco_ticket_lock_release_timed(struct loco_ticket_lock *lock, enum loco_fence fence,
                                   uint64_t timeout_ns);

LOCO_DECLARATIONS_END

#endif
