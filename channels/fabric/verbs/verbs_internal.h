/*
 * Types and functions that the files of the verbs fabric share.
 *
 *      verbs.c          the fabric, its nodes and their memory
 *      verbs_link.c     links: operations and their completions
 *      verbs_open.c     how a link connects
 *      verbs_connect.c  the connecting thread: it listens, asks, and handles events
 *      verbs_control.c  control connections, which nodes ask one another for
 *      verbs_request.c  the answers to requests to connect
 *      verbs_hello.c    what a request contains
 *      verbs_messages.c control messages
 *      verbs_peers.c    the telling thread, and the loss of peers
 *
 * The telling thread calls the core. The connecting thread never does, so it can accept a link
 * while the core is busy, perhaps opening a link back. Except for those of links, only the
 * connecting thread destroys the rdma_cm_ids.
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

#include "../../loco/fabric/verbs.h"
#include "../send_queue.h"
#include "verbs_hello.h"

enum {
    VERBS_ARENAS_MAX = 64, /* of one node */
    VERBS_MESSAGE_MAX = 4096,
    VERBS_RECEIVES = 64,     /* control messages that a node can receive at once */
    VERBS_SENDS = 2,         /* control messages on their way from a node to one peer */
    VERBS_TARGETS_MAX = 256, /* links of one peer to a node */
    VERBS_REFUSALS_SAID = 8, /* warnings about strangers */
    VERBS_RESOLVE_MS = 2000,
    VERBS_PATIENCE = 50, /* after so many attempts they become rarer, and an id in use is logged */
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

/* What an rdma_cm_id belongs to: its context points to a struct verbs_end. */
enum verbs_role { VERBS_LISTENER, VERBS_CONTROL, VERBS_TARGET };

struct verbs_end {
    enum verbs_role role;
    struct verbs_node *node;
    struct verbs_peer *peer;
    struct rdma_cm_id *id;
    struct verbs_end *next;
};

/* A connection for control messages. */
struct verbs_connection {
    struct verbs_end end;
    uint32_t qp_number;
    bool active;             /* this end asked for it */
    bool proven;             /* the peer knows the secret */
    struct loco_nonce nonce; /* of the side that asked for it */
    struct loco_key links;   /* proves that its links belong to it */
    bool established;
    bool announced;            /* the core was told that the peer is up */
    bool down;                 /* it ended, and the core is still to be told */
    bool bye;                  /* the peer leaves in order */
    bool alive_posted;         /* a keep-alive is on its way */
    unsigned busy;             /* bit i: send buffer i is on its way */
    enum ibv_wc_status status; /* the first error of an operation to the peer */
    struct loco_send_queue unsent;
    struct verbs_arenas *arenas; /* the peer's */
};

struct verbs_peer {
    uint32_t id;
    bool asked;                          /* the node asked to meet it */
    struct verbs_connection *connection; /* set up or being set up; else NULL */
    struct verbs_end *targets;           /* the passive ends of its links to this node */
    uint64_t try_at;                     /* when to connect again */
    unsigned attempts;
    bool eager;                  /* its next challenge is answered at once */
    struct loco_nonce challenge; /* the nonce that its proof has to contain */
    struct loco_nonce demand;    /* the nonce that it wants in this node's proof */
    bool warned;                 /* that it is of another network or secret */
};

/* A warning that waits for the telling thread. */
struct verbs_notice {
    struct verbs_notice *next;
    char text[240];
};

struct verbs_node {
    struct loco_node base;
    struct verbs *verbs;
    struct sockaddr_storage *addresses; /* by id */
    struct verbs_end listener;
    struct loco_key key;         /* of the network */
    struct loco_key own_links;   /* of the node to itself */
    struct loco_nonce challenge; /* for callers with a different number of nodes */
    uint32_t foreign_count;      /* a caller's number of nodes, to be told to the core; 0: none */
    unsigned refusals;

    struct ibv_context *device;
    struct ibv_pd *pd;
    struct verbs_queue shared;
    struct verbs_arenas own;
    struct ibv_mr *regions[VERBS_ARENAS_MAX];
    struct verbs_arenas *arenas; /* of all peers ever met */
    struct verbs_link *links;

    /* Control messages of all peers arrive in one receive queue. */
    struct ibv_comp_channel *channel;
    struct ibv_cq *control;
    struct ibv_srq *receives;
    unsigned char *buffers; /* the target of flushes, then buffers to receive, then to send */
    struct ibv_mr *buffers_mr;
    uint64_t alive_at; /* when the next keep-alive is due */

    struct verbs_peer *peers; /* by id, itself included */
    struct verbs_notice *notices;
    struct verbs_end *dead; /* to be destroyed by the connecting thread */
    bool due;               /* the telling thread has something to do */
    bool own_loss;          /* the node cannot reach itself any more */
    bool own_loss_told;     /* the core was told of that */
    _Atomic bool closing;
    bool quiet, closed;
    struct verbs_node *next;
};

struct verbs_device {
    struct ibv_context *context;
    bool failed;
};

enum { VERBS_DEVICES_MAX = 8 };

struct verbs {
    struct loco_fabric base;
    struct loco_verbs_config config;
    char **addresses;

    pthread_t connecting, telling;
    struct rdma_event_channel *channel;
    int wake_connecting, wake_telling, epoll;

    pthread_mutex_t lock;
    pthread_cond_t node_closed;
    struct verbs_node *nodes;
    struct verbs_device devices[VERBS_DEVICES_MAX];
    unsigned device_count;
    bool stop, warned;
};

/* --- verbs.c */

/* Lets the telling thread warn. With the lock held. */
void verbs_warn(struct verbs_node *node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

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

struct verbs_hello verbs_hello_of(const struct verbs_node *node, enum verbs_purpose purpose);

/* The hello that came with an event; all zero if its sender is not a node of this version. */
struct verbs_hello verbs_hello_from(const struct rdma_cm_event *event);

uint64_t verbs_nonce_first_bytes(const struct loco_nonce *nonce);
struct loco_claim verbs_claim_of(const struct verbs_node *node, uint32_t purpose, uint32_t from,
                                 uint32_t to, const struct loco_nonce *asked,
                                 const struct loco_nonce *given);

/* A link's proof contains no challenge, because its key is valid for one control connection only.
 */
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

/* --- verbs_control.c; the connecting thread calls these */

void verbs_destroy_id(struct rdma_cm_id *id);
struct verbs_connection *verbs_connection_new(struct verbs_node *node, struct verbs_peer *peer);
int verbs_connection_make_pair(struct verbs_connection *connection);
void verbs_connection_publish(struct verbs_connection *connection);
struct verbs_connection *verbs_connection_of(const struct verbs_peer *peer, struct verbs *verbs);

/* Drops a connection that failed, or that ended. */
void verbs_connection_drop(struct verbs_connection *connection);
void verbs_connection_start(struct verbs_node *node, struct verbs_peer *peer);
void verbs_connection_on_event(struct verbs_connection *connection,
                               const struct rdma_cm_event *event, const struct verbs_hello *hello);

/* Lets the telling thread tell the core of a peer that knows the secret but has a different number
 * of nodes. With the lock held. */
void verbs_note_foreigner(struct verbs_node *node, uint32_t count);

/* Finds the key that proves links between this node and the peer; any thread. Returns 0, or
 * -ECONNRESET if there is no control connection. */
int verbs_find_link_key(struct verbs_node *node, uint32_t peer, struct loco_key *key);

/* --- verbs_request.c; the connecting thread calls these */

void verbs_on_request(struct verbs_node *node, struct rdma_cm_id *id,
                      const struct verbs_hello *hello);

/* Drops this side's end of a peer's link, unless that was done already. */
void verbs_target_drop(struct verbs_end *end);

/* --- verbs_connect.c */

/* The fabric's meet(). Of each pair, the node with the higher id connects. */
int verbs_meet(struct loco_node *node, uint32_t peer);

/* Finds the device that the node's address belongs to, and takes the node's port. */
int verbs_bind(struct verbs_node *node);
int verbs_listen(struct verbs_node *node);
void *verbs_connecting_thread(void *verbs);

/* --- verbs_open.c */

/* Connects a link's queue pair. Returns 0, -ECONNRESET when the peer is lost, -ETIMEDOUT when it
 * has not answered by `until`, or another negative errno. */
int verbs_link_connect(struct verbs_link *link, struct ibv_qp_init_attr *attributes,
                       uint64_t until);

/* --- verbs_messages.c */

int verbs_control_open(struct verbs_node *node);
void verbs_control_close(struct verbs_node *node);
int verbs_send(struct loco_node *node, uint32_t peer, const void *message, size_t size);

/* With the lock held: */
void verbs_establish(struct verbs_connection *connection);
void verbs_post_arena(struct verbs_connection *connection, uint32_t number);
void verbs_post_bye(struct verbs_connection *connection);
void verbs_node_due(struct verbs_node *node);
bool verbs_is_up(const struct verbs_connection *connection);

/* Posts a keep-alive: an empty write, which the peer's device answers by itself. */
void verbs_post_alive(struct verbs_connection *connection);

/* The connection is over; the telling thread will tell the core. */
void verbs_connection_end(struct verbs_connection *connection, enum ibv_wc_status status);

/* The telling thread, without the lock: handles the messages that have arrived, and tells the core
 * that a peer is up. */
void verbs_drain(struct verbs_node *node);
void verbs_announce(struct verbs_connection *connection);

/* --- verbs_peers.c */

void *verbs_telling_thread(void *verbs);

/* Hands a connection to the connecting thread, to be destroyed. */
void verbs_give_up(struct verbs_connection *connection);

/* An operation to a peer failed. Any thread; without the lock. */
void verbs_link_failed(struct verbs_link *link, enum ibv_wc_status status);

#endif
