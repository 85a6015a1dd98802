/*
 * The one seam to the network. Everything above this file is written once; a fabric is one
 * table of functions below it.
 *
 *      manager --opens--> node            a participant, on a fabric
 *      thread  --opens--> link            its private queue pair to one peer
 *      link    --posts--> operations      one-sided: write, read, fetch-add, compare-swap
 *
 * Three words are kept apart, because RDMA keeps them apart:
 *      posted   the operation was handed to the fabric
 *      done     its completion was seen; a read's result is here, a write's source may be reused
 *      placed   a write's bytes are visible in the peer's memory; flush() gives this
 *
 * Operations of one link: a write is placed before a later write of the link, and before a
 * later read or atomic of the link executes. Nothing else is ordered, and nothing orders
 * two links. An aligned 8-byte word is never torn, anything larger may be.
 */
#ifndef LOCO_FABRIC_H
#define LOCO_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../language.h"

LOCO_DECLARATIONS

/* What an operation's post returns, besides a negative errno. */
enum {
    LOCO_POSTED = 0, /* it will be done later: link->done reaches its number */
    LOCO_DONE = 1,   /* it is done already */
};

/* What a fabric can do; channels ask. */
enum {
    /* The peers' memory is this machine's coherent memory: each operation is done when
     * posted, and one fence of the posting CPU places all its earlier ones. */
    LOCO_COHERENT = 1 << 0,
    /* The fabric's atomics and the CPU's own compose on one word. */
    LOCO_CPU_ATOMICS = 1 << 1,
    /* clock() is one clock for all the nodes. */
    LOCO_SHARED_CLOCK = 1 << 2,
    /* Nothing is ever seen half-written, of whatever size: the nodes take turns, and one goes on
     * only where another waits. */
    LOCO_WHOLE = 1 << 3,
};

/* A source of at most this many bytes is read when the write is posted; a longer one may be
 * read until the write is done, and must lie in network memory. */
enum { LOCO_INLINE_MAX = 64 };

/* A place in a peer's memory, as the peer told it. */
struct loco_remote {
    uint32_t arena; /* the peer's number of the arena */
    uint32_t known; /* 0 until the peer told */
    uint64_t offset;
};

/* A large mapping that regions are cut from. */
struct loco_arena {
    unsigned char *base;
    size_t size;
    uint32_t number; /* among this node's arenas, from 0 */
};

/* A thread's private queue pair to one peer. A fabric appends its own fields. */
struct loco_link {
    struct loco_node *node;
    uint32_t peer;
    LOCO_ATOMIC(uint64_t) posted; /* the newest operation's number; the core numbers them upwards */
    LOCO_ATOMIC(uint64_t) done;   /* this one and all the earlier ones of the link are done */
    LOCO_ATOMIC(uint64_t) flushed; /* the newest flush that is done, by its ticket */

    /* The rest is the core's own. */
    LOCO_ATOMIC(uint64_t) written; /* the newest write; set once it is posted */
    LOCO_ATOMIC(uint64_t) placed;  /* this write and all the earlier ones of the link are placed */
    LOCO_ATOMIC(uint64_t) asked;   /* the newest write that a flush was posted behind ... */
    LOCO_ATOMIC(uint64_t) ticket;  /* ... and the newest ticket of such a flush */
    LOCO_ATOMIC(uint64_t)
    lost; /* what of the operations up to this one was not done never will be */
    LOCO_ATOMIC(uint32_t) losses; /* how often operations were lost ... */
    uint32_t told;                /* ... and how many of those the link's thread was told of */
    struct loco_link *older;      /* the thread's link to the peer before it restarted ... */
    uint32_t epoch;               /* ... and when that was */
};

/* A wait in progress: how long it may last, and how long it has lasted. */
struct loco_wait {
    uint64_t until; /* by clock(); UINT64_MAX: for ever */
    uint64_t turns; /* of relax() so far */
};

/*
 * What a node hears. One call at a time for each node; none after node_close() began.
 *
 * A peer that was lost may come back: a new process, or a new node_open in an old one, under the
 * same id. It is up again then, and a fabric guarantees
 *      - peer_lost comes between two peer_up of the same peer, at both of its ends; no message of
 *        the old one comes after it, none of the new one before the second peer_up;
 *      - once peer_lost was called, nothing that the old one posted is placed here any more, and no
 *        answer of an operation to the old one lands here: an ack that says -ECONNRESET gives the
 *        results' memory back, and the sources';
 *      - a link that was open then reaches the new one never, whatever address it is given: its
 *        operations fail, or go to the old one's memory, which stays while the link is open (and,
 *        where there is reach(), the node). It can be posted to, polled and closed as before;
 *      - a link that is opened after the second peer_up reaches the new one only.
 */
struct loco_events {
    void (*peer_up)(void *arg, uint32_t peer);
    void (*message)(void *arg, uint32_t peer, const void *message, size_t size);
    void (*peer_lost)(void *arg, uint32_t peer, bool left); /* left: it closed in order */
    /* Met, and refused, a node that knows the secret and counts other nodes. NULL: nobody asks. */
    void (*foreigner)(void *arg, uint32_t count);
    /* Something worth a warning; `text` is a whole sentence without a newline. */
    void (*warning)(void *arg, const char *text);
    void *arg;
};

/* What the nodes of a network know, and nobody else does; of no bytes: anybody may take part. It is
 * not kept. */
struct loco_secret {
    const void *bytes;
    size_t size;
};

/* An open fabric: the first member of each fabric's own structure. */
struct loco_fabric {
    const struct loco_fabric_ops *ops;
    unsigned capabilities;
    /* While it is 0, where reach() reaches, a CPU's own stores are as good as a write: nobody waits
     * whom that would wake, and nobody is dead. It stays 0 on a fabric that is LOCO_COHERENT. */
    unsigned busy;
};

/* A participant: the first member of each fabric's own structure. */
struct loco_node {
    struct loco_fabric *fabric;
    uint32_t id;
    uint32_t count; /* the nodes are 0..count-1 */
    struct loco_events events;
};

struct loco_fabric_ops {
    const char *name;

    /* --- nodes and control messages: any thread, may block briefly ----------------- */

    /* Takes part as node `id` of `count`. A peer that does not prove that it knows the secret is
     * refused, and a warning says so. */
    int (*node_open)(struct loco_fabric *fabric, uint32_t id, uint32_t count,
                     struct loco_secret secret, const struct loco_events *events,
                     struct loco_node **node);
    void (*node_close)(struct loco_node *node);
    /* Connects with a peer, now or when it is there, and again whenever it comes back. Both ask
     * for it; the connection may be there as soon as one has. Once for each peer. */
    int (*meet)(struct loco_node *node, uint32_t peer);
    /* Sends a control message: reliable, in order, after everything mapped before it. */
    int (*send)(struct loco_node *node, uint32_t peer, const void *message, size_t size);
    /* Maps zeroed memory that peers may reach; it lives as long as the node. */
    int (*arena_map)(struct loco_node *node, size_t size, struct loco_arena *arena);
    /* Where this CPU itself may use a peer's memory, as long as the node is open; NULL: nowhere.
     * Only a fabric with LOCO_COHERENT and LOCO_CPU_ATOMICS has this op; or one that is LOCO_WHOLE,
     * for writes while it is not busy. Else it is NULL. */
    void *(*reach)(struct loco_node *node, uint32_t peer, struct loco_remote at, size_t size);
    int (*link_open)(struct loco_node *node, uint32_t peer, struct loco_link **link);
    void (*link_close)(struct loco_link *link);

    /* --- operations: the link's own thread ------------------------------------------ *
     * A post may wait while earlier operations fill the link's queue, and ends if the peer is lost.
     * link->posted has the operation's number already. One that is LOCO_DONE, or failed,
     * has set link->done where the fabric ever returns LOCO_POSTED. */

    int (*write)(struct loco_link *link, struct loco_remote to, const void *from, size_t size);
    int (*read)(struct loco_link *link, struct loco_remote from, void *to, size_t size);
    /* Atomics act on an aligned 8-byte word and give its old value to *old. */
    int (*fetch_add)(struct loco_link *link, struct loco_remote at, uint64_t add, uint64_t *old);
    int (*compare_swap)(struct loco_link *link, struct loco_remote at, uint64_t expected,
                        uint64_t desired, uint64_t *old);
    /* Posts what places every earlier operation of the link, and returns a ticket (from 1):
     * link->flushed reaches it then. Any thread of the node. NULL on a coherent fabric. */
    uint64_t (*flush)(struct loco_link *link);
    /* Looks for completions and advances done and flushed. Any thread of the node. */
    void (*poll)(struct loco_link *link);
    /* What the calling thread writes, to whomever, may wait until it releases as often as it held:
     * so that one system call sends what goes to one process. It waits no longer than until the
     * thread posts anything else on the link, or relaxes. NULL where there is nothing to gain. */
    void (*hold)(struct loco_node *node);
    void (*release)(struct loco_node *node);

    /* --- time: any thread ----------------------------------------------------------- */

    uint64_t (*clock)(struct loco_node *node); /* ns */
    /* One turn of a wait. Every wait of the library goes through here. It may last until something
     * comes to this node, or `until`: who waits for another node's memory to change sets that. */
    void (*relax)(struct loco_node *node, struct loco_wait *wait);
};

LOCO_DECLARATIONS_END

#endif
