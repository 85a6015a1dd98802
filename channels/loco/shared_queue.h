/*
 * shared_queue: a first-in-first-out queue that all the participants push to and pop from.
 * Each pop gets what exactly one push put in, and the order is one for all: the queue is
 * linearizable. It is bounded, and its entries are of one size.
 *
 * The entries are striped over the participants' memories, slot by slot; two words at a host
 * count the pushes and the pops. An operation takes a ticket from its word, and the ticket
 * says which slot and which turn there. shared_queue.c tells the rest.
 *
 * An operation that may wait for ever takes its ticket first, so that those who wait are
 * served in the order they came, at one atomic operation each. One with a time limit takes a
 * ticket only when its turn has come, so that giving up leaves nothing behind. From afar it looks
 * at least once; a node that does not answer is given up 10 ms after the time is over.
 *
 * A participant that is lost takes its share of the entries with it: from then on operations
 * return -ECONNRESET, until all have constructed the queue anew. So does one that waits, whose
 * ticket is then lost.
 *
 * Threads: any attached thread, any number at a time.
 * Order: who pops an entry also sees what the pusher placed (fenced) before pushing it.
 */
#ifndef LOCO_SHARED_QUEUE_H
#define LOCO_SHARED_QUEUE_H

#include "atomic_var.h"
#include "language.h"

LOCO_DECLARATIONS

struct loco_shared_queue {
    struct loco_channel channel;
    struct loco_atomic_var head; /* the next ticket to pop with */
    struct loco_atomic_var tail; /* the next ticket to push with */
    struct loco_region *slots;
    LOCO_ATOMIC(unsigned char *) *
        direct;        /* by place: its slots, where this CPU may use them; else NULL */
    size_t entry_size; /* bytes */
    size_t entry_at;   /* in a slot, words */
    size_t slot_size;  /* bytes from slot to slot */
    uint32_t capacity; /* entries; a power of two */
    uint32_t nodes;    /* participants */
    unsigned nodes_shift;
    uint64_t nodes_inverse;   /* 2^nodes_shift / nodes */
    uint32_t here;            /* this node's place among them, in the order of their ids */
    bool coherent;            /* the fabric is LOCO_COHERENT */
    LOCO_ATOMIC(bool) broken; /* a participant was lost */
    uint64_t room[4];
};

/*
 * Constructs and joins. Every participant names all the others as `members`, and the same
 * `host` among them. `capacity`, in entries, is rounded up to a power of two; an entry is of
 * `entry_size` bytes, and must fit in a mem_ref beside two words: -EINVAL where the manager's
 * block_size is too small for that. It takes two words more (a small one takes one on coherent
 * memory), rounded up to whole words, or to cache lines from one on; -ENOMEM, with a log line that
 * says how much that is, where this machine has no room for its share. Other errors as of
 * loco_channel_init.
 */
int loco_shared_queue_init(struct loco_shared_queue *queue, struct loco_manager *manager,
                           const struct loco_channel *parent, const char *name, uint32_t host,
                           struct loco_members members, uint32_t capacity, size_t entry_size);
void loco_shared_queue_fini(struct loco_shared_queue *queue);

/*
 * Puts a copy of *entry behind all the others; or, popping, takes the first of all out. Waits
 * for at most `timeout_ns` (UINT64_MAX: for ever) for room, or for an entry. Returns 0,
 * -ETIMEDOUT, -ECONNRESET as above, -EBADMSG when an entry was overwritten by somebody else,
 * -ENOBUFS when the thread's mem_refs are all taken (on coherent memory none is needed), or -EPERM
 * from a thread that is not attached.
 */
int loco_shared_queue_push(struct loco_shared_queue *queue, const void *entry, uint64_t timeout_ns);
int loco_shared_queue_pop(struct loco_shared_queue *queue, void *entry, uint64_t timeout_ns);

/*
 * The same, but -EAGAIN when there is no room, or no entry: strictly, there was a moment
 * during the call at which the queue was full, or empty. They wait for nothing else than an
 * operation at the same slot that is under way already.
 */
int loco_shared_queue_try_push(struct loco_shared_queue *queue, const void *entry);
int loco_shared_queue_try_pop(struct loco_shared_queue *queue, void *entry);

LOCO_DECLARATIONS_END

#endif
