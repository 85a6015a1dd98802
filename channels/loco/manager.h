/*
 * The manager: a node's participation in the network. It connects to the peers that the node's
 * channels name, and owns what the channels share: arenas, threads, and the channels' names.
 *
 * Setup takes four calls, and then only channels are used:
 *
 *      loco_manager_open     joins the network as one node of a fixed set
 *      loco_..._init         constructs channel endpoints (any number of them)
 *      loco_manager_ready    waits until every endpoint has found its peers
 *      ...
 *      loco_manager_close    after the channels' _fini
 *
 * Several managers may live in one process, each a node of its own.
 */
#ifndef LOCO_MANAGER_H
#define LOCO_MANAGER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/by_node.h"
#include "fabric/context.h"
#include "fabric/fabric.h"
#include "fabric/language.h"

LOCO_DECLARATIONS

struct loco_channel;
struct loco_thread;
struct loco_memory;

/*
 * Which thread looks for completions. LOCO_INLINE: the thread that asks for an ack's state, or
 * waits; best where a loop owns its core. LOCO_POLLED: the thread that calls loco_manager_poll, the
 * paper's polling thread; all others read what it found. On a fabric whose operations are done when
 * they are posted, this makes no difference.
 */
enum loco_completions { LOCO_INLINE, LOCO_POLLED };

enum loco_level { LOCO_WARNING, LOCO_ERROR };

/* Gets a line about something that went wrong, without a newline. It may be called on any thread,
 * and with the manager's lock held; so it must not wait for other threads of the library. */
typedef void loco_log_fn(void *arg, enum loco_level level, const char *text);

struct loco_manager_config {
    uint32_t node;       /* this node's id, 0..node_count-1 */
    uint32_t node_count; /* the same at every node; at most INT32_MAX */

    /* Optional; 0 or NULL takes the default. */
    size_t arena_size;                 /* bytes; default 64 MiB */
    size_t block_size;                 /* bytes of a mem_ref, at most UINT32_MAX; default 4096 */
    size_t block_count;                /* of each thread, at most UINT32_MAX; default 256 */
    enum loco_completions completions; /* default LOCO_INLINE */
    struct loco_secret secret; /* the same at every node; without one any process may take part */
    loco_log_fn *log;
    void *log_arg;
    uint64_t room[8];
};

/* A peer that some channel of this node names, or that has connected by itself. */
struct loco_peer {
    LOCO_ATOMIC(bool) lost; /* and no channel has taken it back */
    bool named;             /* the fabric was asked to connect with it */
    bool up;                /* control messages can be sent to it */
    bool linked;            /* every thread has a link to it since it was last up */
    LOCO_ATOMIC(bool) left; /* when it was last lost, it had closed in order */
    void *channels;         /* those it is a member of: a tsearch tree by full name */
};

struct loco_manager {
    struct loco_fabric *fabric;
    struct loco_node *node;
    uint32_t id, count;
    unsigned slot; /* this manager's index in the tables of the threads' contexts */
    struct loco_manager_config config;

    /* Recursive: a join callback that constructs a sub-channel holds it already. */
    pthread_mutex_t lock;
    struct loco_memory *memory;
    LOCO_ATOMIC(struct loco_thread *) threads; /* contexts, newest first; they are never removed */
    void *channels;                            /* a tsearch tree by full name */
    uint32_t endpoints;                        /* endpoints constructed so far */
    unsigned unready;                          /* joined channels that still miss a member */
    LOCO_ATOMIC(uint32_t) foreign_count; /* node count of a peer that counts otherwise, or 0 */
    unsigned malformed;                  /* malformed messages received */
    int error;                           /* no channel's, for loco_manager_ready */
    struct loco_by_node peers;           /* of struct loco_peer */
    LOCO_ATOMIC(uint32_t) epoch;  /* counts the times that all threads got links to some peer */
    LOCO_ATOMIC(uint32_t) losses; /* counts the times that a link lost operations with its peer */
    LOCO_ATOMIC(uint32_t) lost;   /* not used any more: the fabric counts these */
    unsigned failed;              /* channels whose setup met an error */
    int channel_error;            /* one such error; 0: none */
};

/*
 * Joins the network as config->node and attaches the calling thread. Returns
 *      0
 *      -EINVAL      `node` is not below `node_count`; a number is out of range; the room is not
 *                   zero; or, on shm, an open node of this fabric has another count or secret
 *      -EADDRINUSE  another process takes part as this node
 *      -ENOSPC      this process has LOCO_MANAGERS_MAX managers already
 *      -ENOMEM
 *      or an error of the fabric
 * Any thread. `fabric` must stay open until the manager is closed.
 */
int loco_manager_open(struct loco_manager **manager, struct loco_fabric *fabric,
                      const struct loco_manager_config *config);

/*
 * Waits until every joined endpoint of this node has met all its members, for at most `timeout_ns`
 * (UINT64_MAX: without a limit; 0 only asks). Returns
 *      0
 *      -ETIMEDOUT   unless timeout_ns is 0, a log line says which channel misses which nodes
 *      -EPROTO      an endpoint and a member's do not agree, or one of the two cannot map the
 *                   other's memory (logged at both nodes); or a node has another node count than
 *                   this one (logged; foreign_count is its count)
 *      -ENOBUFS     a member does not take its control messages, and 16 MiB of them wait (logged)
 *      -ECONNRESET  a peer was lost before it was met
 *      or an error of opening links to a peer
 * The errors of an endpoint are returned until it is ended; a lost peer's, also until that is back.
 * Called again later, it waits for the peers that have restarted and are up again.
 * Any attached thread.
 */
int loco_manager_ready(struct loco_manager *manager, uint64_t timeout_ns);

/* Looks for completions of every thread of the node. With LOCO_POLLED some thread calls this again
 * and again, from before loco_manager_ready until after the last wait. Any thread. */
void loco_manager_poll(struct loco_manager *manager);

/* Whether the peer was lost, and no channel has taken it back yet. (loco_channel_check answers for
 * one channel.) Any thread, wait-free. `node` is below the node count. */
static inline bool loco_peer_lost(const struct loco_manager *manager, uint32_t node)
{
    const struct loco_peer *peer =
        (const struct loco_peer *)loco_by_node_find(&manager->peers, node);

    return peer && atomic_load_explicit(&peer->lost, memory_order_acquire);
}

/* Whether a lost peer closed in order, and did not die. Any thread, wait-free. */
static inline bool loco_peer_left(const struct loco_manager *manager, uint32_t node)
{
    const struct loco_peer *peer =
        (const struct loco_peer *)loco_by_node_find(&manager->peers, node);

    return peer && atomic_load_explicit(&peer->left, memory_order_acquire);
}

/* Waits until everything that was posted is placed, or lost with its peer; then leaves the network
 * and frees the manager. An attached thread calls it, when all channels have been ended and no
 * other thread uses the manager. The timed call waits for at most `timeout_ns`; after -ETIMEDOUT
 * the manager is still open. To leave takes up to 1 s more on tcp, while a peer stands still. NULL
 * is ignored. */
void loco_manager_close(struct loco_manager *manager);
int loco_manager_close_timed(struct loco_manager *manager, uint64_t timeout_ns);

/* Returns the time on the fabric's clock, ns. Clocks of different nodes are the same one only on a
 * fabric that says LOCO_SHARED_CLOCK. Any thread. */
static inline uint64_t loco_clock(const struct loco_manager *manager)
{
    return manager->fabric->ops->clock(manager->node);
}

/* Begins a wait that ends `timeout_ns` from now (UINT64_MAX: never). Any thread. */
struct loco_wait loco_wait_for(const struct loco_manager *manager, uint64_t timeout_ns);

/* Does one turn of the wait: lets other threads, or the simulator, go on. Returns 0, or -ETIMEDOUT
 * when the wait's time is over. A program's own waiting loops call this, too. */
static inline int loco_relax(const struct loco_manager *manager, struct loco_wait *wait)
{
    manager->fabric->ops->relax(manager->node, wait);
    if (wait->until != UINT64_MAX && loco_clock(manager) >= wait->until)
        return -110; /* ETIMEDOUT, without errno.h in a public header */
    return 0;
}

/* Formats a line and passes it to the log callback, if there is one. */
void loco_log(const struct loco_manager *manager, enum loco_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

LOCO_DECLARATIONS_END

#endif
