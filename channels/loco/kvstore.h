/*
 * kvstore: a linearizable map from 64-bit keys to values of one fixed size, spread over the
 * memory of all nodes (the paper's section "Example application" and its proof of safety).
 *
 *      index      at each node: where every key's value is; a lock-free hash table
 *      slots      at each node: values, each with a counter, a valid bit and a checksum
 *      locks      at each node: an array of ticket locks, one for many keys
 *      trackers   one broadcast from each node: "this key is there now", "it is gone"
 *
 * A read takes no lock: it looks its key up in the own node's index, and reads the slot from
 * wherever that is. An update takes the key's lock and overwrites the slot. An insert and a
 * delete also change every node's index, so they wait until every node's tracker thread has
 * done so. kvstore_op.c has the algorithm and the reasons why it is linearizable.
 *
 * Each node needs its tracker served all the time: by a thread of the store's own
 * (loco_kvstore_start_tracker), or by one of the caller's in loco_kvstore_track.
 *
 * Threads: any attached thread of the node uses the store; a window, and what is in flight in
 * it, belong to one thread.
 * Order: an operation that returned is seen by every operation that starts after it, at any
 * node. It orders nothing but the store's own memory.
 *
 * When a node is lost, so are the values in its memory: operations on them return
 * -ECONNRESET, and so do operations on keys whose lock it hosted. (With LOCO_KV_AT_INSERTER
 * the two differ, and a lost key whose lock is elsewhere can be deleted and inserted anew.)
 * There are no replicas: docs/memory-model.md says why, and what to do instead.
 * Inserts and deletes go on without its acknowledgement. A node that is lost within an
 * insert, update or delete keeps the lock: operations that need it return -EOWNERDEAD, when
 * it has not moved for owner_ns. (So while a node is lost, no other may stand still that long
 * within an operation.) A lost node that restarts is not taken back: it takes part again when all
 * have constructed the store anew.
 */
#ifndef LOCO_KVSTORE_H
#define LOCO_KVSTORE_H

#include <pthread.h>

#include "atomic_var.h"
#include "language.h"
#include "ringbuffer.h"

LOCO_DECLARATIONS

enum { LOCO_KV_VALUE_MIN = 8, LOCO_KV_VALUE_MAX = 4096 };

enum loco_kv_placement {
    /* On the node that hosts the key's lock, while that has room: a write and the release
     * travel on one link in order, and need no fence. */
    LOCO_KV_AT_LOCK,
    /* On the node that inserts the key, as in the paper. */
    LOCO_KV_AT_INSERTER,
};

/* The same at every node. */
struct loco_kvstore_config {
    size_t value_size; /* bytes, LOCO_KV_VALUE_MIN..LOCO_KV_VALUE_MAX */
    uint32_t capacity; /* how many keys inserted by one node the store holds at a time */

    /* Optional; 0 takes the default. */
    enum loco_kv_placement placement;
    uint32_t locks;    /* of all nodes together; one for four keys, at least 64 a node */
    unsigned calls;    /* synchronous calls of one node at a time, further ones wait; 16 */
    uint64_t torn_ns;  /* how long a read goes on that finds its slot half-written; 100 ms */
    uint64_t owner_ns; /* how long a lock may not move, once a node is lost; 2 s */
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
    struct loco_kv_window **calls;      /* one each for synchronous calls */
    LOCO_ATOMIC(uint32_t) * calling;    /* what is with each of them */
    LOCO_ATOMIC(uint32_t) left;         /* how many are left to the tracker */
    LOCO_ATOMIC(bool) sending, serving; /* the own tracker; the others' */
    LOCO_ATOMIC(bool) stopping;
    LOCO_ATOMIC(unsigned) tracking; /* threads in loco_kvstore_track */
    pthread_t thread;
    bool started;
    uint64_t room[8];
};

/* --- setup ------------------------------------------------------------------------------- */

/* Constructs and joins; all nodes of the manager are its members. Errors as of
 * loco_channel_init, and -EINVAL for a configuration out of range. */
int loco_kvstore_init(struct loco_kvstore *store, struct loco_manager *manager,
                      const struct loco_channel *parent, const char *name,
                      const struct loco_kvstore_config *config);

/* Stops the tracker, and ends the endpoint. No operation is in flight here; those of other
 * nodes that still wait for this one's acknowledgement get it when the manager closes, so a
 * barrier before is good manners. Windows are closed. An operation that ran out of time and has not
 * ended by then is dropped: it may keep its lock, as that of a lost node does. What it posted is
 * waited for, at most until the nodes that it went to are lost. */
void loco_kvstore_fini(struct loco_kvstore *store);

/* Starts a thread that attaches and serves the trackers. Returns 0 or a negative errno. */
int loco_kvstore_start_tracker(struct loco_kvstore *store);

/* The body of such a thread, for whoever brings his own (attached): serves until
 * loco_kvstore_stop. */
void loco_kvstore_track(struct loco_kvstore *store);

/* One turn of it: applies what has come, and acknowledges. Returns how many messages; 0 also
 * when another thread is at it. Never waits on coherent memory. Any attached thread. */
unsigned loco_kvstore_serve(struct loco_kvstore *store);

/* Ends the trackers of this node, and waits until they have ended: each at the end of its turn. Any
 * attached thread. */
void loco_kvstore_stop(struct loco_kvstore *store);

/* --- one operation at a time ------------------------------------------------------------- *
 *
 * Each waits until it has taken effect, and returns
 *      0
 *      -EEXIST      insert: the key is there
 *      -ENOENT      update, delete, read: it is not
 *      -ENOSPC      insert: this node has inserted `capacity` keys that are still there
 *      -EAGAIN      read: the value was half-written for torn_ns
 *      -ECONNRESET, -EOWNERDEAD    a node was lost: see above. A write may have taken effect
 *      -EPERM       the calling thread is not attached
 * A value that is read is copied to *value, of value_size bytes, on success only. */

int loco_kvstore_insert(struct loco_kvstore *store, uint64_t key, const void *value);
int loco_kvstore_update(struct loco_kvstore *store, uint64_t key, const void *value);
int loco_kvstore_delete(struct loco_kvstore *store, uint64_t key);
int loco_kvstore_read(struct loco_kvstore *store, uint64_t key, void *value);

/* The same for at most `timeout_ns`: -ETIMEDOUT after that. Then a write may take effect at some
 * later moment, or never; who wants to know reads the key. The tracker brings it to its end: a lock
 * that it holds or waits for is given back, whatever became of it. Until then it is one of the
 * node's `calls`. */
int loco_kvstore_insert_timed(struct loco_kvstore *store, uint64_t key, const void *value,
                              uint64_t timeout_ns);
int loco_kvstore_update_timed(struct loco_kvstore *store, uint64_t key, const void *value,
                              uint64_t timeout_ns);
int loco_kvstore_delete_timed(struct loco_kvstore *store, uint64_t key, uint64_t timeout_ns);
int loco_kvstore_read_timed(struct loco_kvstore *store, uint64_t key, void *value,
                            uint64_t timeout_ns);

/* --- many at a time ---------------------------------------------------------------------- *
 *
 * A window holds the operations that one thread has in flight. Each is started, and ends, on
 * its own; they take effect in any order, between their start and the poll that says so.
 *
 *      loco_kv_start_read(op, key);
 *      ...
 *      if (loco_kv_poll(op) && op->result == 0)
 *              use(op->value);
 *
 * An operation is under way at the latest when it is polled: some are gathered first, so that
 * their cache misses overlap. Polling one also moves the window's others on, so that the order
 * of polling does not matter; but who has writes in flight goes on polling: they hold locks. */

enum loco_kv_kind { LOCO_KV_READ, LOCO_KV_INSERT, LOCO_KV_UPDATE, LOCO_KV_DELETE };

struct loco_kv_op {
    int result;  /* when it is done: as of the synchronous calls */
    void *value; /* value_size bytes in the store's memory, aligned to 8: what was read, while
                  * result is 0 and until the next start; or what is to be written */
    void *user;  /* the caller's */

    /* The store's: */
    enum loco_kv_kind kind;
    /* What comes next, when `ack` is done, given its error; NULL: the operation is at rest.
     * Returns whether to go on at once. */
    bool (*step)(struct loco_kv_op *op, int error);
    struct loco_ack ack;
    uint64_t hash;       /* the key, mixed */
    uint32_t host, slot; /* where its value is */
    uint64_t counter;
    uint32_t lock_host, lock_index;
    uint32_t ticket, seen;      /* ours, and the one that was last seen to be served */
    struct loco_kv_op *behind;  /* of the window, gets the lock from this one */
    unsigned handovers;         /* of the ticket so far */
    bool left;                  /* to the tracker, by a caller whose time was over */
    struct loco_thread *thread; /* over whose links it goes */
    uint64_t flush;             /* a ticket of the link that it wrote its slot on; 0: none yet */
    uint64_t position;          /* of the broadcast, in the tracker */
    uint64_t since;      /* ns, by the clock: of the first torn read, or of `seen`; 0: neither */
    uint64_t *word;      /* 8 bytes of network memory: results of atomics and fences */
    unsigned char *copy; /* a slot in network memory; `value` is within it */
    struct loco_kv_window *window;
};

/* Opens a window of `size` operations for the calling thread. Returns 0 or -ENOMEM. Once the
 * store is set up, only this allocates. */
int loco_kv_window_open(struct loco_kv_window **window, struct loco_kvstore *store, unsigned size);

/* Nothing is in flight in it. */
void loco_kv_window_close(struct loco_kv_window *window);

/* Its operation number i, at rest at first. */
struct loco_kv_op *loco_kv_window_op(struct loco_kv_window *window, unsigned i);

/* Start an operation that is at rest. `value` is copied; NULL: it is at op->value already. */
void loco_kv_start_read(struct loco_kv_op *op, uint64_t key);
void loco_kv_start_insert(struct loco_kv_op *op, uint64_t key, const void *value);
void loco_kv_start_update(struct loco_kv_op *op, uint64_t key, const void *value);
void loco_kv_start_delete(struct loco_kv_op *op, uint64_t key);

/* Whether it is done. Never waits on coherent memory. */
bool loco_kv_poll(struct loco_kv_op *op);

LOCO_DECLARATIONS_END

#endif
