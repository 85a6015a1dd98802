/*
 * kvstore: a linearizable map from 64-bit keys to values of one fixed size, spread over the
 * memory of all nodes (the paper's section "Example application" and its proof of safety).
 *
 *      index      at each node: a lock-free hash table that says where each key's value is
 *      slots      at each node: values, each with a counter, a valid bit and a checksum
 *      locks      at each node: an array of ticket locks, one for many keys
 *      trackers   from each node: a broadcast that tells the others of inserted and deleted keys
 *
 * A read takes no lock: it looks up the key in its own node's index, and reads the slot at the node
 * that the index says. An update takes the key's lock and overwrites the slot; a compare_swap reads
 * the slot under the lock first. An insert or a
 * delete also changes every node's index, so it waits until every node's tracker has done that.
 * kvstore/kvstore_op.c has the algorithm, and the argument that it is linearizable.
 *
 * At each node a thread must serve the tracker all the time: one that the store starts
 * (loco_kvstore_start_tracker), or one of the program in loco_kvstore_track.
 *
 * Threads: any attached thread of the node. A window, with the operations in flight in it, belongs
 * to one thread.
 * Order: an operation that has returned is seen by every operation that starts after it, at any
 * node. Nothing but the store's own memory is ordered.
 *
 * Each value has one copy. When a node is lost, so are the values in its memory: operations on
 * their keys return -ECONNRESET. So do writes of keys whose lock it hosted; with
 * LOCO_KV_AT_INSERTER those are other keys. A key whose value is lost can be deleted and inserted
 * again if its lock is at another node. Inserts and deletes go on without the lost node's
 * acknowledgement. docs/paper.md says what to use for values that must outlive a node.
 *
 * A node that is lost within an insert, update or delete keeps that key's lock. Operations that
 * need the lock return -EOWNERDEAD once it has not moved for owner_ns. So while a node is lost, no
 * other node may stand still for that long within an operation. A node that restarts is not taken
 * back: it takes part again once all nodes have constructed the store again.
 */
#ifndef LOCO_KVSTORE_H
#define LOCO_KVSTORE_H

#include <pthread.h>

#include "atomic_var.h"
#include "fabric/language.h"
#include "ringbuffer.h"
#include "watch.h"

LOCO_DECLARATIONS

enum { LOCO_KV_VALUE_MIN = 8, LOCO_KV_VALUE_MAX = 4096 };

enum loco_kv_placement {
    /* On the node that hosts the key's lock, while that has room. A write and the lock's release
     * then travel on one link, in order, and need no fence. */
    LOCO_KV_AT_LOCK,
    /* On the node that inserts the key, as in the paper. */
    LOCO_KV_AT_INSERTER,
};

/* The same at every node, except `calls`, `torn_ns` and `owner_ns`. Endpoints that differ refuse
 * each other. */
struct loco_kvstore_config {
    size_t value_size; /* bytes, LOCO_KV_VALUE_MIN..LOCO_KV_VALUE_MAX */
    uint32_t capacity; /* the number of keys inserted by one node that the store can hold */

    /* Optional; 0 takes the default. */
    enum loco_kv_placement placement; /* default LOCO_KV_AT_LOCK */
    uint32_t locks;    /* of all nodes together; default one for four keys, at least 64 a node */
    unsigned calls;    /* of one node at a time: so many synchronous reads, as many updates, and as
                        * many inserts and deletes; more have to wait; default 16 */
    uint64_t torn_ns;  /* how long a read of a half-written slot is tried again; default 100 ms */
    uint64_t owner_ns; /* how long a lock may stand still once a node is lost; default 2 s */
    uint64_t room[4];
};

struct kv_index;
struct kv_slots;
struct loco_kv_window;

struct loco_kvstore {
    struct loco_channel channel;
    struct loco_kvstore_config config;
    uint32_t locks_each; /* at one node */
    struct kv_index *index;
    struct kv_slots *slots;
    struct loco_atomic_array locks;
    struct loco_ringbuffer *trackers;   /* by sender */
    struct loco_kv_window **calls;      /* windows of one operation, for synchronous calls */
    LOCO_ATOMIC(uint32_t) * calling;    /* the state of each of them */
    LOCO_ATOMIC(uint32_t) left;         /* how many of them are left to the tracker */
    LOCO_ATOMIC(bool) sending, serving; /* a thread sends on its own tracker; serves the others' */
    LOCO_ATOMIC(bool) stopping;
    LOCO_ATOMIC(unsigned) tracking; /* calls of loco_kvstore_track, and the store's own thread */
    pthread_t thread;
    bool started;
    /* Those that were closed with operations in flight, which the tracker finishes. */
    LOCO_ATOMIC(struct loco_kv_window *) windows_left;
    uint64_t room[7];
};

/* --- setup ------------------------------------------------------------------------------- */

/* Constructs and joins. All nodes of the manager take part. Returns 0 or an error of
 * loco_channel_init; -EINVAL also for a configuration out of range. */
int loco_kvstore_init(struct loco_kvstore *store, struct loco_manager *manager,
                      const struct loco_channel *parent, const char *name,
                      const struct loco_kvstore_config *config);

/* Stops the tracker and ends the endpoint. The caller makes sure that no operation of this node is
 * in flight and that its windows are closed. An operation of another node that waits for this
 * node's acknowledgement goes on only when the manager closes; so the nodes should pass a barrier
 * first. A timed operation that ran out of time and has not ended yet is dropped: it may keep its
 * lock, as a lost node does. So is one of a window that was closed. What it posted is waited for,
 * at most until the nodes that it went to are lost. The timed call waits for at most `timeout_ns`.
 * After -ETIMEDOUT the endpoint has not ended, but its tracker has been told to stop; the caller
 * ends the endpoint later, by either call. An attached thread. */
void loco_kvstore_fini(struct loco_kvstore *store);
int loco_kvstore_fini_timed(struct loco_kvstore *store, uint64_t timeout_ns);

/* Starts a thread that attaches and serves the trackers. Returns 0 or a negative errno. */
int loco_kvstore_start_tracker(struct loco_kvstore *store);

/* The body of such a thread, for an attached thread of the program: serves the trackers until
 * loco_kvstore_stop. */
void loco_kvstore_track(struct loco_kvstore *store);

/* Serves the trackers once: applies the messages that have arrived, and acknowledges them. Returns
 * their number; 0 also when another thread is serving. Never waits on coherent memory. Any attached
 * thread. */
unsigned loco_kvstore_serve(struct loco_kvstore *store);

/* Makes this node's tracker threads end, and waits until each has finished its turn. The thread
 * that the store started then detaches, so it waits for what it posted, at most until the nodes
 * that this went to are lost. The timed call waits for at most `timeout_ns`. After -ETIMEDOUT the
 * threads still end as soon as they can. Any attached thread. */
void loco_kvstore_stop(struct loco_kvstore *store);
int loco_kvstore_stop_timed(struct loco_kvstore *store, uint64_t timeout_ns);

/* --- one operation at a time ------------------------------------------------------------- *
 *
 * Each waits until it has taken effect, and returns
 *      0
 *      -EEXIST      insert: the store has the key
 *      -ENOENT      all others: the store does not have the key
 *      -ECANCELED   compare_swap: the key has another value
 *      -ENOSPC      insert: the store holds `capacity` keys that this node has inserted
 *      -EAGAIN      read: the value was half-written for torn_ns; compare_swap: by a lost node
 *      -ECONNRESET, -EOWNERDEAD    a node was lost: see above. A write may have taken effect
 *      -EPERM       the calling thread is not attached
 * *value has value_size bytes; a read changes it on success only. A compare_swap sets the key to
 * *desired if its value is *expected, all bytes alike. After -ECANCELED *expected is the value that
 * the key has; nothing else changes *expected. */

int loco_kvstore_insert(struct loco_kvstore *store, uint64_t key, const void *value);
int loco_kvstore_update(struct loco_kvstore *store, uint64_t key, const void *value);
int loco_kvstore_delete(struct loco_kvstore *store, uint64_t key);
int loco_kvstore_read(struct loco_kvstore *store, uint64_t key, void *value);
int loco_kvstore_compare_swap(struct loco_kvstore *store, uint64_t key, void *expected,
                              const void *desired);

/* Do the same, but wait for at most `timeout_ns`; -ETIMEDOUT after that. The write may then take
 * effect at any later moment, or never; reading the key tells. The tracker finishes the operation,
 * and gives back the lock that it holds or waits for. Until then it is one of the node's `calls`,
 * and a call that would wait for the same lock, or for the same node's answer, does not begin.
 * An insert or a delete may return up to 10 ms late, if another thread of the node has sent the
 * store's last message over a network, and it is not yet placed. */
int loco_kvstore_insert_timed(struct loco_kvstore *store, uint64_t key, const void *value,
                              uint64_t timeout_ns);
int loco_kvstore_update_timed(struct loco_kvstore *store, uint64_t key, const void *value,
                              uint64_t timeout_ns);
int loco_kvstore_delete_timed(struct loco_kvstore *store, uint64_t key, uint64_t timeout_ns);
int loco_kvstore_read_timed(struct loco_kvstore *store, uint64_t key, void *value,
                            uint64_t timeout_ns);
int loco_kvstore_compare_swap_timed(struct loco_kvstore *store, uint64_t key, void *expected,
                                    const void *desired, uint64_t timeout_ns);

/*
 * Reads the next key and its value, in no particular order. *cursor is 0 before the first key, and
 * the store moves it on. Any number of cursors may be in use, and none has to be ended.
 *
 *      uint64_t cursor = 0, key;
 *      while ((rc = loco_kvstore_next(store, &cursor, &key, value)) != -ENOENT)
 *              if (rc == 0)
 *                      use(key, value);
 *
 * Keys may come and go meanwhile. Each key that is given is read then: the key has that value at a
 * moment within the call. Each key that is not given is missing at a moment between the first call
 * and the end. So a key that is there all the time is given. It is given once, unless it is deleted
 * and inserted again. The iteration as a whole is not one moment.
 *
 * Returns 0; -ENOENT: there are no more keys; -EAGAIN or -ECONNRESET, as a read of *key: its value
 * cannot be read, and the next call goes on behind it; -EPERM; or, the timed call only, -ETIMEDOUT:
 * the next call goes on at the same key. `value` may be NULL.
 */
int loco_kvstore_next(struct loco_kvstore *store, uint64_t *cursor, uint64_t *key, void *value);
int loco_kvstore_next_timed(struct loco_kvstore *store, uint64_t *cursor, uint64_t *key,
                            void *value, uint64_t timeout_ns);

/* --- many at a time ---------------------------------------------------------------------- *
 *
 * A window holds the operations that one thread has in flight. Each starts and ends on its own.
 * They take effect in any order, each between its start and the poll that reports it as done.
 *
 *      loco_kv_start_read(op, key);
 *      ...
 *      if (loco_kv_poll(op) && op->result == 0)
 *              use(op->value);
 * or
 *      while ((op = loco_kv_window_next(window)))
 *              use(op);
 *
 * A started operation may not begin before it is polled: several are gathered first, so that their
 * cache misses overlap. Polling one operation also advances the window's others, so the order of
 * polling does not matter. A thread with writes in flight must go on polling, since they hold
 * locks. */

enum loco_kv_kind {
    LOCO_KV_READ,
    LOCO_KV_INSERT,
    LOCO_KV_UPDATE,
    LOCO_KV_DELETE,
    LOCO_KV_COMPARE_SWAP,
};

struct loco_kv_op {
    int result;  /* once it is done: as the synchronous calls return */
    void *value; /* value_size bytes in the store's memory, aligned to 8. After a read with result
                  * 0, or a compare_swap with -ECANCELED: what was read, until the next start.
                  * Before a write: what to write */
    void *user;  /* the program's own */

    /* The rest belongs to the store. */
    enum loco_kv_kind kind;
    /* The next step, to be called with the error of `ack` once that is done; NULL: the operation is
     * at rest. Returns whether to go on at once. */
    bool (*step)(struct loco_kv_op *op, int error);
    struct loco_ack ack;
    uint64_t hash;       /* the key, mixed one to one */
    uint32_t host, slot; /* where its value is */
    uint64_t counter;
    uint32_t lock_host, lock_index;
    uint32_t ticket, seen;      /* its own ticket; the ticket last seen to be served */
    struct loco_kv_op *behind;  /* the window's operation that gets the lock from this one */
    unsigned handovers;         /* of the ticket so far */
    bool left;                  /* it was cancelled, or its caller left it to the tracker */
    struct loco_thread *thread; /* which wrote its slot, or has it now */
    uint64_t flush;             /* the ticket of a flush behind the write of its slot; 0: none */
    uint64_t position;          /* of its message in the tracker */
    uint64_t since;             /* the clock at the first torn read, or at `seen`, ns; 0: neither */
    uint64_t *word;             /* 8 bytes of network memory, for results of atomics and fences */
    unsigned char *copy;        /* a slot in network memory, with `value` in it */
    struct loco_kv_window *window;
    uint32_t wrote;                    /* the node that it wrote to; this node: to none yet */
    unsigned char *expected, *desired; /* the values of a compare_swap */
    bool unreported; /* loco_kv_poll and loco_kv_window_next have not said that it is done */
};

/* Opens a window of `size` operations for the calling thread. Returns 0 or -ENOMEM. Once the
 * store is set up, no other call allocates. */
int loco_kv_window_open(struct loco_kv_window **window, struct loco_kvstore *store, unsigned size);

/* Closes the window. Operations in flight are cancelled, and finished by the tracker: writes may
 * still take effect. */
void loco_kv_window_close(struct loco_kv_window *window);

/* Returns the window's operation i, from 0. It is at rest at first. */
struct loco_kv_op *loco_kv_window_op(struct loco_kv_window *window, unsigned i);

/* Start an operation that is at rest, and do not wait. `value`, `expected` and `desired` are
 * copied; NULL for `value` or `desired`: it is at op->value already. */
void loco_kv_start_read(struct loco_kv_op *op, uint64_t key);
void loco_kv_start_insert(struct loco_kv_op *op, uint64_t key, const void *value);
void loco_kv_start_update(struct loco_kv_op *op, uint64_t key, const void *value);
void loco_kv_start_delete(struct loco_kv_op *op, uint64_t key);
void loco_kv_start_compare_swap(struct loco_kv_op *op, uint64_t key, const void *expected,
                                const void *desired);

/* Whether the operation is done. Never waits on coherent memory; elsewhere for 10 ms at most, while
 * what another thread of the node has sent is not placed. Only the window's thread. */
bool loco_kv_poll(struct loco_kv_op *op);

/* Returns an operation that is done, and whose end no call has reported yet; NULL: there is none
 * now. Moves all operations of the window on. Waits as loco_kv_poll does. */
struct loco_kv_op *loco_kv_window_next(struct loco_kv_window *window);

/* Whether loco_kv_window_next would return an operation. Moves all operations of the window on, and
 * waits as that does. Another attached thread may look in place of the window's, if the two
 * synchronise: so does loco_watch. */
bool loco_kv_window_look(struct loco_kv_window *window);

/* An item for loco_poll and loco_watch, whose result is what that says. */
struct loco_poll_item loco_poll_operation(struct loco_kv_window *window);

/* Gives an operation up. It stays in flight until it is polled to its end, since what it has posted
 * may still arrive, and a ticket that it has taken must be given back. If it has not begun to
 * change the store by then, it changes nothing, and its result is -ETIMEDOUT. */
void loco_kv_cancel(struct loco_kv_op *op);

LOCO_DECLARATIONS_END

#endif
