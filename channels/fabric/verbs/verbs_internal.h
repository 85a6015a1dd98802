/*
 * Types and functions that the files of the verbs fabric share.
 *
 *      verbs.c          the fabric, its nodes and their memory
 *      verbs_link.c     links: operations and their completions
 *      verbs_open.c     how a link connects
 *      verbs_connect.c  the connecting thread, which answers requests for links
 *      verbs_target.c   the answers to these requests
 *      verbs_hello.c    what a request contains
 *      verbs_peers.c    what control/ asks about peers, and the loss of a peer
 *
 * Nodes meet and exchange messages over TCP (control/control.h). A serving thread does this, a
 * telling thread calls the core, and a connecting thread answers requests for links. So a link can
 * be accepted while the core is busy, perhaps opening a link back, and the calls of rdma_cm, which
 * may take long, delay no heartbeat. Except for those of links, only the connecting thread destroys
 * the rdma_cm_ids.
 *
 * Locks, in the order of taking: the core's, a link's, a completion queue's, the fabric's.
 */
#ifndef LOCO_VERBS_INTERNAL_H
#define LOCO_VERBS_INTERNAL_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <sched.h>
#include <sys/socket.h>

#include "../../control/control.h"
#include "../../loco/fabric/verbs.h"
#include "verbs_hello.h"

enum {
    VERBS_ARENAS_MAX = 64,   /* of one node */
    VERBS_TARGETS_MAX = 256, /* links of one peer to a node */
    VERBS_RESOLVE_MS = 2000,
};

/* A spinlock. It is mostly free, and held for less time than a system call takes; except that a
 * post keeps its link's while it waits for room in the send queue. */
static inline bool verbs_try_lock(_Atomic bool *lock)
{
    return !atomic_exchange_explicit(lock, true, memory_order_acquire);
}

static inline void verbs_lock(_Atomic bool *lock)
{
    for (unsigned turns = 0; !verbs_try_lock(lock); turns++)
        if (turns > 100)
            sched_yield();
}

static inline void verbs_unlock(_Atomic bool *lock)
{
    atomic_store_explicit(lock, false, memory_order_release);
}

/* --- memory ----------------------------------------------------------------------------- */

/* The addresses and keys of an arena that operations need. */
struct verbs_arena {
    uint64_t base, size;
    uint32_t remote_key, local_key; /* local_key: of own arenas only */
};

/* A node's arenas. Those of a lost peer are kept, as links still point to them. */
struct verbs_arenas {
    struct verbs_arena at[VERBS_ARENAS_MAX];
    _Atomic uint32_t count; /* of own arenas only */
    struct verbs_arenas *next;
};

/* --- links ------------------------------------------------------------------------------ */

struct verbs_queue {
    struct ibv_cq *cq;
    _Atomic bool lock;
    unsigned size, used; /* of a shared queue: its entries, and how many its links may need */
};

/* An operation in flight, or the last one that used the slot. */
struct verbs_slot {
    struct verbs_link *link;
    uint64_t sequence;
    uint64_t number; /* the core's number of the operation */
    bool reads;      /* a read or an atomic: when it is done, the writes before it are placed */
};

struct verbs_link {
    struct loco_link base;
    struct verbs_node *node;
    struct rdma_cm_id *id;
    struct rdma_event_channel *channel;
    struct ibv_qp *qp; /* NULL: the peer was lost before there was one */
    struct verbs_queue *queue;
    struct verbs_queue own_queue;
    const struct verbs_arenas *arenas; /* the peer's */
    _Atomic bool broken;

    /* An operation's sequence: operations are counted from 1 in the order of posting. */
    _Atomic uint64_t completed;
    _Atomic uint64_t posted;
    _Atomic uint64_t signalled; /* the newest operation that asked for a completion */

    _Atomic bool lock;              /* protects posting, and what follows */
    uint64_t last_write, last_read; /* sequences; an atomic counts as a write */
    uint64_t number;                /* the core's number of the newest operation posted */
    unsigned depth, signal_each, inline_max;
    struct verbs_slot *slots; /* by sequence modulo depth */
    unsigned char *staging;   /* for sources that the device cannot inline; else NULL */
    struct ibv_mr *staging_mr;
    struct ibv_send_wr request;
    struct ibv_sge part;

    struct verbs_link *next; /* in the node's list */
};

/* --- peers ------------------------------------------------------------------------------ */

/* What the context of an rdma_cm_id points to: a node's listener, or the end of a peer's link. */
struct verbs_end {
    bool listens;
    struct verbs_node *node;
    uint32_t peer;
    struct rdma_cm_id *id;
    struct verbs_end *next;
};

struct verbs_connection {
    struct control_connection control;
    struct verbs_arenas *arenas; /* the peer's; NULL: it is not up */
};

struct verbs_node {
    struct control_node control;
    struct verbs *verbs;
    struct verbs_end listener;
    struct loco_key own_links; /* of the node to itself */

    struct ibv_context *device;
    struct ibv_pd *pd;
    struct verbs_queue shared;
    struct verbs_arenas own;
    struct ibv_mr *regions[VERBS_ARENAS_MAX];
    struct verbs_arenas *arenas; /* of all peers ever met */
    struct verbs_link *links;
    struct ibv_cq *of_targets; /* nothing ever arrives there */
    void *landing;             /* where flushes read to */
    struct ibv_mr *landing_mr;

    struct verbs_end *targets;     /* the passive ends of links to this node */
    struct verbs_end *dead;        /* to be destroyed by the connecting thread */
    struct control_told *own_loss; /* to be told when the node cannot reach itself; NULL: told */
    bool shuts, shut;              /* for the connecting thread: it is to end; it has ended */
    struct verbs_node *next;
};

static inline struct verbs_connection *verbs_connection_to(const struct verbs_node *node,
                                                           uint32_t peer)
{
    return (struct verbs_connection *)node->control.peers[peer].connection;
}

struct verbs_device {
    struct ibv_context *context;
    bool failed;
};

enum { VERBS_DEVICES_MAX = 8 };

struct verbs {
    struct loco_fabric base;
    struct loco_verbs_config config;
    char **addresses;
    struct control_self self;
    struct control control; /* its lock is the fabric's */

    pthread_t serving, connecting;
    struct rdma_event_channel *channel;
    int wake_connecting;
    _Atomic bool stop; /* the connecting thread */

    struct verbs_node *nodes;
    struct verbs_device devices[VERBS_DEVICES_MAX];
    unsigned device_count;
    bool warned;
};

/* --- verbs.c */

void verbs_wake(int eventfd);

/* Registers memory. A failure is logged with its remedy. Returns 0 or a negative errno. */
int verbs_register(struct verbs_node *node, void *memory, size_t size, unsigned access,
                   struct ibv_mr **region);

/* --- verbs_link.c */

void verbs_queue_close(struct verbs_queue *queue);
int verbs_link_open(struct loco_node *node, uint32_t peer, uint64_t until, struct loco_link **link);
void verbs_link_close(struct loco_link *link);
int verbs_write(struct loco_link *link, struct loco_remote to, const void *from, size_t size);
int verbs_read(struct loco_link *link, struct loco_remote from, void *to, size_t size);
int verbs_fetch_add(struct loco_link *link, struct loco_remote at, uint64_t add, uint64_t *old);
int verbs_compare_swap(struct loco_link *link, struct loco_remote at, uint64_t expected,
                       uint64_t desired, uint64_t *old);
uint64_t verbs_flush(struct loco_link *link);
void verbs_poll(struct loco_link *link);

/* Breaks the links to the peer with these arenas. After this, no answer to them arrives. With the
 * fabric's lock held. */
void verbs_links_break(struct verbs_node *node, const struct verbs_arenas *arenas);

/* --- verbs_hello.c */

struct verbs_hello verbs_hello_of(const struct verbs_node *node);

/* The hello that came with an event; all zero if its sender is not a node of this version. */
struct verbs_hello verbs_hello_from(const struct rdma_cm_event *event);

struct loco_claim verbs_claim_of_link(const struct verbs_node *node, uint32_t from, uint32_t to,
                                      const struct loco_nonce *given);

struct rdma_conn_param verbs_connect_parameters(const struct verbs_node *node,
                                                const struct verbs_hello *hello);
void verbs_connect_set_options(const struct verbs_node *node, struct rdma_cm_id *id);

/* The address at which a node listens, or from which it connects. */
struct sockaddr_storage verbs_connect_address(const struct verbs_node *node, uint32_t id,
                                              bool listening);

/* Begins to find the address of a peer. Returns 0 or a negative errno. */
int verbs_connect_resolve(const struct verbs_node *node, struct rdma_cm_id *id, uint32_t peer);

/* --- verbs_target.c; the connecting thread calls these */

void verbs_on_request(struct verbs_node *node, struct rdma_cm_id *id,
                      const struct verbs_hello *hello);

/* Drops this side's end of a peer's link, unless that was done already. */
void verbs_target_drop(struct verbs_end *end);
void verbs_destroy_end(struct verbs_end *end);

/* --- verbs_connect.c */

/* Finds the device that the node's address belongs to, and takes the node's port. */
int verbs_bind(struct verbs_node *node);
int verbs_listen(struct verbs_node *node);
void *verbs_connecting_thread(void *verbs);

/* --- verbs_open.c */

/* Connects a link's queue pair. Returns 0, -ECONNRESET when the peer is lost, -ETIMEDOUT when it
 * has not answered by `until`, or another negative errno. */
int verbs_link_connect(struct verbs_link *link, struct ibv_qp_init_attr *attributes,
                       uint64_t until);

/* --- verbs_peers.c; all but the last with the fabric's lock held */

extern const struct control_hooks verbs_hooks;

void verbs_post_arena(struct control_connection *connection, uint32_t number);

/* The node cannot reach itself any more. */
void verbs_lose_self(struct verbs_node *node);

/* Finds the key that proves links between this node and the peer. Returns 0, or -ECONNRESET if
 * there is no control connection. */
int verbs_link_key(const struct verbs_node *node, uint32_t peer, struct loco_key *key);

/* An operation to a peer failed. Any thread. */
void verbs_link_failed(struct verbs_link *link, enum ibv_wc_status status);

#endif
