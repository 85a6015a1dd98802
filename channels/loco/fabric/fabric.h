/*
 * The one seam to the network. Everything above this file is written once; a fabric is one
 * table of functions below it.
 *
 *      manager --opens--> node            a participant, on a fabric
 *      thread  --opens--> link            its private queue pair to one peer
 *      link    --posts--> operations      one-sided: write, read, fetch-add, compare-swap
 *
 * RDMA distinguishes three states of an operation, and so does this interface:
 *      posted   the operation was handed to the fabric
 *      done     its completion was seen; a read's result is here, a write's source may be reused
 *      placed   a write's bytes are visible in the peer's memory; flush() makes sure of that
 *
 * An atomic reads its word and then writes it. The atomics of one node's words are atomic with each
 * other: each reads what the one before it wrote, although that may not be placed yet. Anything
 * else that is done to the word between an atomic's read and its placement is lost: a write of any
 * other link, and, without LOCO_CPU_ATOMICS, a store of the CPU. A compare-and-swap that fails
 * writes nothing.
 *
 * On one link, a write is placed before any later write of the link is placed, and before any later
 * read or atomic of the link executes. So is an atomic, from the moment on that it is done. No
 * other operations of a link are ordered, and operations of different links are never ordered. An
 * aligned 8-byte word is never torn; anything larger may be.
 */
#ifndef LOCO_FABRIC_H
#define LOCO_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "language.h"

LOCO_DECLARATIONS

/* What an operation's post returns, besides a negative errno. */
enum {
    LOCO_POSTED = 0, /* it will be done later: link->done will reach its number */
    LOCO_DONE = 1,   /* it is done already */
};

/* What a fabric can do: bits of loco_fabric.capabilities. */
enum {
    /* The peers' memory is this machine's coherent memory. Each operation is done when it is
     * posted, and a fence of the posting CPU places all its earlier operations. */
    LOCO_COHERENT = 1 << 0,
    /* The fabric's atomics and the CPU's own are atomic with each other. */
    LOCO_CPU_ATOMICS = 1 << 1,
    /* clock() is one clock for all nodes. */
    LOCO_SHARED_CLOCK = 1 << 2,
    /* Nothing is ever seen half-written, whatever its size. The nodes take turns, and a node goes
     * on only when another waits. */
    LOCO_WHOLE = 1 << 3,
    /* An atomic that is done is also placed. Without this, an atomic that is done has read the
     * word, and its new value is placed later, as a write's. LOCO_CPU_ATOMICS includes this. */
    LOCO_ATOMICS_PLACED = 1 << 4,
};

/* A write's source of at most this many bytes is read when the write is posted. A longer one may be
 * read until the write is done, and must lie in network memory. */
enum { LOCO_INLINE_MAX = 64 };

/* A place in a peer's memory, as the peer has announced it. */
struct loco_remote {
    uint32_t arena;  /* the arena's number at the peer */
    uint32_t known;  /* 1; 0: the peer has not announced it yet */
    uint64_t offset; /* in the arena, bytes */
};

/* A large mapping that regions are cut from. */
struct loco_arena {
    unsigned char *base;
    size_t size;     /* bytes */
    uint32_t number; /* among this node's arenas, from 0 */
};

/* A thread's private queue pair to one peer. A fabric appends its own fields. */
struct loco_link {
    struct loco_node *node;
    uint32_t peer;
    LOCO_ATOMIC(uint64_t) posted; /* the newest operation's number; the core numbers them upwards */
    LOCO_ATOMIC(uint64_t) done;   /* this operation and all earlier ones of the link are done */
    LOCO_ATOMIC(uint64_t) flushed; /* the ticket of the newest flush that is done */

    /* The rest belongs to the core. */
    LOCO_ATOMIC(uint64_t) written; /* the newest write; set once it is posted */
    LOCO_ATOMIC(uint64_t) placed;  /* this write and all earlier ones of the link are placed */
    LOCO_ATOMIC(uint64_t) asked;   /* the newest write behind which a flush was posted */
    LOCO_ATOMIC(uint64_t) ticket;  /* the newest ticket of such a flush */
    LOCO_ATOMIC(uint64_t)
    lost; /* operations up to this one that were not done by then never will be */
    LOCO_ATOMIC(uint32_t) losses; /* how often operations of the link were lost */
    uint32_t told;                /* how many of these losses its thread was told of */
    struct loco_link *older;      /* the thread's link to the peer before the peer restarted */
    uint32_t epoch;               /* the manager's, since which this link replaces the older one */
};

/* A wait in progress. */
struct loco_wait {
    uint64_t until; /* its end, ns by clock(); UINT64_MAX: none */
    uint64_t turns; /* calls of relax() so far */
};

/*
 * The events that a fabric reports to a node: one call at a time, and none once node_close() has
 * begun.
 *
 * A peer that was lost may come back under the same id: as a new process, or by a new node_open in
 * an old one. It is then up again. Call the peer's two lives the old and the new peer. A fabric
 * guarantees:
 *      - peer_lost comes between the two peer_up, at this node and at the peer. No message of the
 *        old peer comes after peer_lost, and none of the new peer before the second peer_up.
 *      - Once peer_lost was called, nothing that the old peer posted is placed here, and no answer
 *        of an operation on the old peer arrives here. So when an ack says -ECONNRESET, the memory
 *        of its sources and results may be reused.
 *      - A link that was open at the loss never reaches the new peer, whatever address it is given.
 *        Its operations fail, or go to the old peer's memory, which stays while the link is open
 *        (with reach(): while the node is open). It can still be posted to, polled and closed.
 *      - A link that is opened after the second peer_up reaches the new peer only.
 *
 * A peer that is lost has not always died: a connection may break while both nodes live. Then each
 * of the two loses the other, and a third node may keep both. So locks of a lost node are freed
 * only when every participant has lost it. A LOCO_COHERENT fabric cannot take back a store that is
 * under way. There a peer is lost only when it has closed, or its process has ended; what this node
 * cannot map, or cannot send, is an error of the channel that needs it.
 */
struct loco_events {
    void (*peer_up)(void *arg, uint32_t peer);
    void (*message)(void *arg, uint32_t peer, const void *message, size_t size);
    void (*peer_lost)(void *arg, uint32_t peer, bool left); /* left: it closed in order */
    /* A node that knows the secret was refused because its node count differs. May be NULL. */
    void (*foreigner)(void *arg, uint32_t count);
    /* Something worth a warning; `text` is a whole sentence without a newline. */
    void (*warning)(void *arg, const char *text);
    void *arg;
};

/* What only the nodes of a network know. With size 0 any node may take part. The bytes are read
 * during the call that they are passed to, and not kept. */
struct loco_secret {
    const void *bytes;
    size_t size;
};

/* An open fabric: the first member of each fabric's own structure. */
struct loco_fabric {
    const struct loco_fabric_ops *ops;
    unsigned capabilities; /* LOCO_COHERENT and so on */
    /* While this is 0, a CPU's own stores, where reach() allows them, do the same as a write: no
     * thread waits that a write would wake, and no node is dead. Always 0 on a LOCO_COHERENT
     * fabric.
     */
    unsigned busy;
    /* Counts the peers that the managers' channels know to be lost. */
    LOCO_ATOMIC(uint32_t) lost;
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

    /* --- nodes and control messages: any thread, may block briefly ----------------- *
     * Those that return an int return 0 or a negative errno. */

    /* Takes part as node `id` of `count`. A peer that does not prove that it knows the secret is
     * refused, and a warning says so. */
    int (*node_open)(struct loco_fabric *fabric, uint32_t id, uint32_t count,
                     struct loco_secret secret, const struct loco_events *events,
                     struct loco_node **node);
    void (*node_close)(struct loco_node *node);
    /* Connects with a peer, now or when it is there, and again whenever it comes back. Both nodes
     * call it; the connection may be made once one of them has. Called once for each peer. */
    int (*meet)(struct loco_node *node, uint32_t peer);
    /* Sends a control message: reliably, in order, and after every arena mapped before it. -ENOBUFS
     * or -ENOMEM: it is not sent, since too many messages to the peer wait already. */
    int (*send)(struct loco_node *node, uint32_t peer, const void *message, size_t size);
    /* Maps zeroed memory that peers may reach. It lives as long as the node. */
    int (*arena_map)(struct loco_node *node, size_t size, struct loco_arena *arena);
    /* Returns where this CPU itself may use a peer's memory, as long as the node is open; NULL:
     * nowhere. The op is NULL except on fabrics that are LOCO_COHERENT and LOCO_CPU_ATOMICS, and on
     * fabrics that are LOCO_WHOLE, there for writes while the fabric is not busy. */
    void *(*reach)(struct loco_node *node, uint32_t peer, struct loco_remote at, size_t size);
    /* Opens a link to a peer that was up, or to the node itself. Waits for the peer until `until`
     * at most, ns by clock() (UINT64_MAX: no limit); then returns -ETIMEDOUT. A fabric may have a
     * limit of its own, too. */
    int (*link_open)(struct loco_node *node, uint32_t peer, uint64_t until,
                     struct loco_link **link);
    void (*link_close)(struct loco_link *link);

    /* --- operations: the link's own thread ------------------------------------------ *
     * Return LOCO_POSTED, LOCO_DONE or a negative errno. A post may wait while earlier operations
     * fill the link's queue, but no longer than until the peer is lost. The core has stored the
     * operation's number in link->posted. A fabric that ever returns LOCO_POSTED sets link->done
     * before it returns LOCO_DONE or an error. */

    int (*write)(struct loco_link *link, struct loco_remote to, const void *from, size_t size);
    int (*read)(struct loco_link *link, struct loco_remote from, void *to, size_t size);
    /* Atomics act on an aligned 8-byte word and give its old value to *old. */
    int (*fetch_add)(struct loco_link *link, struct loco_remote at, uint64_t add, uint64_t *old);
    int (*compare_swap)(struct loco_link *link, struct loco_remote at, uint64_t expected,
                        uint64_t desired, uint64_t *old);
    /* Posts a flush and returns its ticket, from 1. Once link->flushed has reached the ticket,
     * every earlier operation of the link is placed. Any thread of the node. NULL on a coherent
     * fabric. */
    uint64_t (*flush)(struct loco_link *link);
    /* Looks for completions and advances done and flushed. Any thread of the node. */
    void (*poll)(struct loco_link *link);
    /* After hold() the calling thread's writes may be held back until it has called release() as
     * often as hold(), so that one system call sends all that go to one process. A held write is
     * also sent when the thread posts another kind of operation on its link, or relaxes. NULL where
     * nothing is gained. */
    void (*hold)(struct loco_node *node);
    void (*release)(struct loco_node *node);

    /* --- time: any thread ----------------------------------------------------------- */

    uint64_t (*clock)(struct loco_node *node); /* ns */
    /* One turn of a wait. Every wait of the library goes through here. A turn may last until
     * something arrives at this node, or until wait->until. So a thread that waits for another
     * node's memory to change sets `until`. */
    void (*relax)(struct loco_node *node, struct loco_wait *wait);
};

LOCO_DECLARATIONS_END

#endif
