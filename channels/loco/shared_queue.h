/*
 * shared_queue: a first-in-first-out queue that all participants push to and pop from. Each pop
 * gets the entry of exactly one push, and all participants see one order: the queue is
 * linearizable. It is bounded, and its entries have one size.
 *
 * The entries are striped over the participants' memories: slot by slot or, on coherent memory,
 * cache line by cache line. Two words at a host count the pushes and the pops. An operation takes a
 * ticket from its word; the ticket says which slot to use, and at which turn. shared_queue.c
 * explains the rest.
 *
 * An operation without a time limit takes its ticket first. So waiting operations are served in the
 * order in which they came, and each costs one atomic operation. An operation with a time limit
 * takes a ticket only when its turn has come, so giving up leaves nothing behind. It looks at least
 * once, however short its time; if a node across the network does not answer a look, it gives up 10
 * ms after its time is over. But a ticket that is being taken is waited for until the node answers
 * or is lost.
 *
 * When a participant is lost, so is its share of the entries. From then on all operations return
 * -ECONNRESET, including those that are waiting, until all participants have constructed the queue
 * again.
 *
 * Threads: any attached thread, any number at a time.
 * Order: a thread that pops an entry also sees what its pusher had placed (fenced) before the push.
 */
#ifndef LOCO_SHARED_QUEUE_H
#define LOCO_SHARED_QUEUE_H

#include "atomic_var.h"
#include "fabric/language.h"

LOCO_DECLARATIONS

struct loco_shared_queue {
    struct loco_channel channel;
    struct loco_atomic_var head; /* the next ticket to pop with */
    struct loco_atomic_var tail; /* the next ticket to push with */
    struct loco_region *slots;
    LOCO_ATOMIC(unsigned char *) *
        direct;        /* by place: its slots' address, if this CPU may use them; else NULL */
    size_t entry_size; /* bytes */
    size_t entry_at;   /* where a slot's entry begins, words */
    size_t slot_size;  /* bytes from slot to slot */
    uint32_t capacity; /* entries; a power of two */
    uint32_t nodes;    /* participants */
    unsigned nodes_shift;
    uint64_t nodes_inverse;   /* 2^nodes_shift / nodes + 1 */
    uint32_t here;            /* this node's place among them, in the order of their ids */
    bool coherent;            /* the fabric is LOCO_COHERENT */
    LOCO_ATOMIC(bool) broken; /* a participant was lost */
    uint32_t run_shift;       /* the slots of 2^run_shift tickets lie together at one node */
    uint64_t room[3];
};

/*
 * Constructs and joins. Every participant names all the others as `members`, and the same `host`,
 * which is one of the participants. `capacity` is in entries, 1 to 2^30, and rounded up to a power
 * of two. An entry has `entry_size` bytes, above 0. In memory it takes 16 bytes more (on coherent
 * memory a small one takes 8 more), rounded up to a multiple of 8, or to whole cache lines if it
 * fills one. Returns
 *      0
 *      -EINVAL  a number out of range; or an entry with its 16 bytes does not fit in a mem_ref
 *               (the manager's block_size)
 *      -ENOMEM  a log line says how much memory the node's share of the entries takes
 *      or another error of loco_channel_init
 */
int loco_shared_queue_init(struct loco_shared_queue *queue, struct loco_manager *manager,
                           const struct loco_channel *parent, const char *name, uint32_t host,
                           struct loco_members members, uint32_t capacity, size_t entry_size);
void loco_shared_queue_fini(struct loco_shared_queue *queue);

/*
 * A push appends a copy of *entry. A pop removes the first entry, and copies it to *entry. They
 * wait for room, or for an entry, for at most `timeout_ns` (UINT64_MAX: without a limit). Return
 *      0
 *      -ETIMEDOUT   the queue is unchanged
 *      -ENOTCONN    a participant has not connected yet. Without a time limit, only while that is
 *                   the host; the slots of the others are waited for
 *      -ECONNRESET  a participant was lost
 *      -EBADMSG     an entry was overwritten by something else
 *      -ENOBUFS     the thread's mem_refs are all taken; on coherent memory none is needed
 *      -EPERM       the calling thread is not attached
 */
int loco_shared_queue_push(struct loco_shared_queue *queue, const void *entry, uint64_t timeout_ns);
int loco_shared_queue_pop(struct loco_shared_queue *queue, void *entry, uint64_t timeout_ns);

/*
 * The same, but they return -EAGAIN when there is no room, or no entry. That is exact: at some
 * moment during the call the queue was full, or empty. They wait only for an operation that is
 * already under way at the same slot and, over a network, for the answers to their own requests. (A
 * push or pop with a timeout of 0 gives up if a node does not answer.)
 */
int loco_shared_queue_try_push(struct loco_shared_queue *queue, const void *entry);
int loco_shared_queue_try_pop(struct loco_shared_queue *queue, void *entry);

LOCO_DECLARATIONS_END

#endif
