/*
 * The manager: a node's participation in the network. It connects to the peers that channels
 * name, and owns what the node's channels share: arenas, threads, and the channels' names.
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
#include "language.h"

LOCO_DECLARATIONS

struct loco_channel;
struct loco_thread;
struct loco_memory;

/*
 * Who looks for completions. Inline: the thread that asks for an ack's state, or waits; best
 * where a loop owns its core. Polled: whoever calls loco_manager_poll, and the others only read
 * what it found; that is the paper's polling thread. It makes no difference on a fabric whose
 * operations are done when posted.
 */
enum loco_completions { LOCO_INLINE, LOCO_POLLED };

enum loco_level { LOCO_WARNING, LOCO_ERROR };

/* Hears of what went wrong: one line without a newline. Any thread. */
typedef void loco_log_fn(void *arg, enum loco_level level, const char *text);

struct loco_manager_config {
    uint32_t node;       /* this node's id, 0..node_count-1 */
    uint32_t node_count; /* the same at every node */

    /* Optional; 0 or NULL takes the default. */
    size_t arena_size;  /* bytes; 64 MiB */
    size_t block_size;  /* bytes of a mem_ref; 4096 */
    size_t block_count; /* mem_refs of each thread; 256 */
    enum loco_completions completions;
    struct loco_secret secret; /* the same at every node; none: who reaches a node may take part */
    loco_log_fn *log;
    void *log_arg;
    uint64_t room[8];
};

/* A peer that some channel of the node names, or that has come by itself. */
struct loco_peer {
    LOCO_ATOMIC(bool) lost;
    bool named;     /* the fabric was asked to connect with it */
    bool up;        /* control messages can be sent */
    bool linked;    /* every thread has a link to it, as it is now */
    void *channels; /* that it is a member of: tsearch tree by full name */
};

struct loco_manager {
    struct loco_fabric *fabric;
    struct loco_node *node;
    uint32_t id, count;
    unsigned slot; /* among the managers of this process: the index in a thread's context */
    struct loco_manager_config config;

    /* Recursive: a join callback that constructs a sub-channel holds it already. */
    pthread_mutex_t lock;
    struct loco_memory *memory;
    LOCO_ATOMIC(struct loco_thread *) threads; /* newest first; none is taken off */
    void *channels;                            /* tsearch tree by full name */
    uint32_t endpoints;                        /* ever constructed */
    unsigned unready;                          /* joined channels that still wait for a peer */
    uint32_t foreign_count;       /* nodes of a network that a foreigner is of; 0: none */
    unsigned malformed;           /* messages */
    int error;                    /* the first error of the setup; ready() returns it */
    struct loco_by_node peers;    /* struct loco_peer: those that channels name */
    LOCO_ATOMIC(uint32_t) epoch;  /* how often every thread got a link to some node */
    LOCO_ATOMIC(uint32_t) losses; /* how often a link's operations were lost with its peer */
};

/*
 * Joins the network as config->node and attaches the calling thread. Returns 0, -EINVAL
 * for ids that make no sense, or another count or secret than the fabric's other nodes have on shm,
 * -EADDRINUSE when the node's place is taken, -ENOSPC after
 * LOCO_MANAGERS_MAX managers in this process, or what the fabric said. Any thread.
 */
int loco_manager_open(struct loco_manager **manager, struct loco_fabric *fabric,
                      const struct loco_manager_config *config);

/*
 * Waits until every channel endpoint of this node has joined and connected with all the
 * peers that it expects, for at most `timeout_ns`. Returns 0; -ETIMEDOUT, with a log line that
 * says which channel misses whom (without it where timeout_ns is 0, which only asks); -EPROTO when
 * an endpoint and a peer's disagree (logged at both), or a node counts other nodes than this one
 * does (logged; foreign_count says how many); -ECONNRESET when a peer was lost meanwhile.
 * Later it waits in the same way for the peers that restarted, from when they are seen to be up.
 * Any attached thread.
 */
int loco_manager_ready(struct loco_manager *manager, uint64_t timeout_ns);

/* Looks for completions of every thread of the node. With LOCO_POLLED somebody calls this again
 * and again, from before loco_manager_ready to after the last wait. Any thread. */
void loco_manager_poll(struct loco_manager *manager);

/* Whether the peer was seen to die, and no channel has taken it back yet (loco_channel_check asks
 * for one channel). Any thread, wait-free. */
static inline bool loco_peer_lost(const struct loco_manager *manager, uint32_t node)
{
    const struct loco_peer *peer =
        (const struct loco_peer *)loco_by_node_find(&manager->peers, node);

    return peer && atomic_load_explicit(&peer->lost, memory_order_acquire);
}

/* Leaves, when all that was posted is placed, or lost with its peer. The channels' _fini have run,
 * and no other thread uses the manager. The timed one waits for at most `timeout_ns`; after
 * -ETIMEDOUT the manager is open. */
void loco_manager_close(struct loco_manager *manager);
int loco_manager_close_timed(struct loco_manager *manager, uint64_t timeout_ns);

/* ns on the fabric's clock. Any thread. */
static inline uint64_t loco_clock(const struct loco_manager *manager)
{
    return manager->fabric->ops->clock(manager->node);
}

/* A wait that ends `timeout_ns` from now (UINT64_MAX: never). */
struct loco_wait loco_wait_for(const struct loco_manager *manager, uint64_t timeout_ns);

/* One turn of the wait. Returns 0, or -ETIMEDOUT when its time is over. */
static inline int loco_relax(const struct loco_manager *manager, struct loco_wait *wait)
{
    manager->fabric->ops->relax(manager->node, wait);
    if (wait->until != UINT64_MAX && loco_clock(manager) >= wait->until)
        return -110; /* ETIMEDOUT, without errno.h in a public header */
    return 0;
}

/* Formats one line for the log callback. */
void loco_log(const struct loco_manager *manager, enum loco_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

LOCO_DECLARATIONS_END

#endif
