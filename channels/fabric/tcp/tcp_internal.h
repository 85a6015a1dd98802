/*
 * Types and functions that the files of the tcp fabric share.
 *
 *      tcp.c           the fabric, its nodes and their memory
 *      tcp_link.c      links: operations and their completions
 *      tcp_hold.c      what a thread holds until it releases
 *      tcp_lane.c      lanes: the connection of two processes, for their links
 *      tcp_target.c    what a lane receives: places writes, executes requests, takes answers
 *      tcp_words.c     copies of odd sizes and places
 *      tcp_link_connect.c
 *                      how links connect
 *      tcp_service.c   the thread that serves all of these, and control/
 *
 * To serve means to receive from lanes and connections, to handle what came, and to end those that
 * broke. One thread at a time serves: the one that has the lock `serving`. Mostly that is the
 * service thread. A thread that waits serves, too, but only lanes, unless the service thread does
 * not get to run.
 *
 * The service thread never calls the core and never waits for another thread. So a link can be
 * opened to a node whose core is busy, even if that core is opening a link back.
 *
 * Locks are taken in this order: the core's, `connecting`, `serving`, the fabric's, a lane's.
 */
#ifndef LOCO_TCP_INTERNAL_H
#define LOCO_TCP_INTERNAL_H

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>

#include "../../control/control.h"
#include "../../loco/fabric/context.h"
#include "../../loco/fabric/tcp.h"
#include "tcp_wire.h"

enum {
    TCP_ARENAS_MAX = 64,   /* of one node */
    TCP_TARGETS_MAX = 256, /* links of one peer to a node, at once */
    TCP_LINE = 64,         /* bytes of a cache line */
};

/* --- memory ----------------------------------------------------------------------------- */

struct tcp_arena {
    unsigned char *base; /* of this process's own arenas only */
    uint64_t size;
};

/* A node's arenas. Links point to those of their peer, so these stay when the peer is lost. */
struct tcp_arenas {
    struct tcp_arena at[TCP_ARENAS_MAX];
    _Atomic uint32_t count; /* of a node's own arenas only */
    struct tcp_arenas *next;
};

static inline bool tcp_arena_has(const struct tcp_arenas *arenas, uint32_t arena, uint64_t offset,
                                 uint64_t size)
{
    if (arena >= TCP_ARENAS_MAX)
        return false;
    const uint64_t all = __atomic_load_n(&arenas->at[arena].size, __ATOMIC_ACQUIRE);
    return all > 0 && offset <= all && size <= all - offset;
}

/* --- links and lanes -------------------------------------------------------------------- */

/* The other end of a peer's link. */
struct tcp_target {
    struct tcp_node *node; /* NULL: there is no link, or its peer was lost */
    struct control_peer *peer;
    struct tcp_request last; /* the link's last write, which was checked; zero: none so far */
    unsigned char *place;    /* where that was placed */
};

/* What one poll() looks at: the epoll, and the lanes' sockets. These are not in the epoll, because
 * the kernel would have to note each packet there. */
struct tcp_looks {
    struct pollfd *at;
    struct tcp_lane **lanes; /* by index of `at`; the first entry is the epoll's, without a lane */
    unsigned count, room;
};

enum {
    TCP_DEPTH = 1024, /* unanswered reads, atomics and flushes of one lane */
    TCP_BUFFER = 64 << 10,
    /* A link does not wait because others have filled the lane. Half of the answers, and this much
     * of the output, are kept for links that have little there: so many requests with answers, and
     * so many bytes. */
    TCP_SHARES = 128 << 10,
    TCP_SHARE_ASKED = 8,
    TCP_SHARE = 8 << 10,
    TCP_LOG = 4 << 10, /* bytes of a lane's held writes */
};

/* A request that waits for its answer. A long read is several requests. */
struct tcp_pending {
    struct tcp_link *link; /* NULL: the answer is dropped, because the peer was lost */
    uint16_t index;        /* of the link */
    uint32_t size;         /* of the answer's body */
    uint64_t number;       /* the core's number of the link's newest operation before it */
    uint64_t sequence;     /* of the link */
    unsigned char *to;     /* NULL: a flush, whose answer is empty */
};

/* What a link, or the log, has in the output. With the lane's lock held. */
struct tcp_share {
    uint64_t end;  /* of its newest bytes, in the lane */
    size_t unsent; /* bytes since the kernel had all of its bytes */
};

/* Held writes, as they will be sent. One thread at a time has claimed the log, and appends to it.
 */
struct tcp_log {
    _Atomic bool claimed;
    _Atomic uint32_t end; /* of the writes in it, bytes */
    uint32_t begin; /* of those that were not moved to the output yet; with the lane's lock held */
    struct tcp_share share;
    _Alignas(uint64_t) unsigned char bytes[TCP_LOG];
};

/* The connection to another process, for the links between its nodes and the nodes here, in both
 * directions. It stays while any node here is connected with any node there. */
struct tcp_lane {
    int fd; /* -1 while it is idle */
    struct tcp *tcp;
    _Atomic bool broken;
    _Atomic bool failed; /* some of its links failed, and were not reported yet */
    _Atomic bool held;   /* the output has writes that wait for a release */
    _Atomic bool owes;   /* the output has answers that are not sent */

    struct tcp_log log;

    /* With `serving` held: */
    struct tcp_target targets[TCP_LINKS_MAX]; /* the other ends of the peers' links, by index */
    bool owed;                                /* the service thread knows that it owes */
    size_t in;                                /* bytes of the input that were not handled yet */
    unsigned char input[TCP_BUFFER];

    pthread_mutex_t lock; /* protects what follows; never held for long */
    uint64_t process;     /* the other process's number */
    struct sockaddr_storage here, there;
    struct tcp_link *links;                /* of this end */
    uint64_t indices[TCP_LINKS_MAX / 64];  /* which indices are taken */
    uint64_t begin;                        /* bytes sent before those in the output */
    size_t out, sent;                      /* bytes in the output; those sent already */
    uint64_t asked, answered;              /* requests with an answer, since it began */
    size_t awaited;                        /* bytes of the outstanding answers */
    struct tcp_pending pending[TCP_DEPTH]; /* a ring of the unanswered requests */
    unsigned char output[TCP_BUFFER + TCP_SHARES + TCP_ANSWERS]; /* there is room for answers */

    struct tcp_lane *next; /* in the fabric's list */
};

struct tcp_link {
    struct loco_link base;
    const struct tcp_arenas *arenas; /* the peer's */
    struct tcp_link *next;           /* in the node's list */
    struct tcp_link *beside;         /* in the lane's list */

    /* One cache line: all that posting a held write touches besides the base. */
    _Alignas(TCP_LINE) struct tcp_lane *_Atomic lane; /* NULL: to the node itself, or a lost peer */
    _Atomic uint64_t waiting;                         /* unanswered requests */
    struct tcp_request last; /* its thread's last held write; zero: none so far */
    _Atomic bool held;       /* the thread held a write, perhaps after the newest request */
    _Atomic bool broken;
    bool own; /* leads to the node itself */

    /* With the lane's lock held: */
    bool failed;                     /* it broke, and that was not reported yet */
    uint16_t index;                  /* in the lane */
    uint64_t number;                 /* the core's number of the newest operation not held */
    uint64_t sequence;               /* of the newest request; they are numbered from 1 */
    uint64_t last_write, last_reads; /* by sequence */
    struct tcp_share share;

    struct tcp_node *node;
};

_Static_assert(offsetof(struct tcp_link, lane) % TCP_LINE == 0 &&
                   offsetof(struct tcp_link, index) - offsetof(struct tcp_link, lane) < TCP_LINE,
               "whole lines");

/* --- nodes -------------------------------------------------------------------------------- */

struct tcp_connection {
    struct control_connection control;
    struct tcp_arenas *arenas;               /* the peer's; NULL: it is not up */
    uint32_t link_number;                    /* of the newest link of this end */
    uint64_t links_seen[TCP_LINKS_MAX / 64]; /* numbers of the peer's links */
};

struct tcp_node {
    struct control_node control;
    struct tcp *tcp;
    struct tcp_arenas own;
    struct tcp_arenas *arenas; /* the arenas of its peers */
    struct tcp_link *links;
};

static inline struct tcp_connection *tcp_connection_to(const struct tcp_node *node, uint32_t peer)
{
    return (struct tcp_connection *)node->control.peers[peer].connection;
}

struct tcp {
    struct loco_fabric base;
    struct loco_tcp_config config;
    char **addresses;
    struct control_self self;
    struct control control;
    pthread_t service;
    _Atomic bool stop;

    pthread_mutex_t connecting; /* held by the thread that opens a link */
    uint64_t calls;             /* the process to which a lane is being made; 0: none */
    struct tcp_lane *_Atomic lanes;

    pthread_mutex_t serving;    /* held by the thread that serves; protects what follows: */
    _Atomic uint64_t tend_at;   /* when nodes are to be looked after */
    _Atomic uint64_t served_ns; /* when a waiting thread last served */
    _Atomic unsigned kept_out;  /* how often a waiting thread could not serve, since then */
    _Atomic bool starves;       /* the service thread does not get to run */
    struct tcp_looks looks;     /* of the waiting threads */
    unsigned turns;             /* of the waiting threads */
};

/* --- tcp.c */

uint64_t tcp_now(void);
/* A lock with priority inheritance: its holder runs at the priority of the most urgent waiter. */
int tcp_init_lock(pthread_mutex_t *lock);

/* --- tcp_link.c */

int tcp_link_open(struct loco_node *node, uint32_t peer, uint64_t until, struct loco_link **link);
void tcp_link_close(struct loco_link *link);
int tcp_link_write(struct tcp_link *link, struct loco_remote to, const void *from, size_t size);
int tcp_read(struct loco_link *link, struct loco_remote from, void *to, size_t size);
int tcp_fetch_add(struct loco_link *link, struct loco_remote at, uint64_t add, uint64_t *old);
int tcp_compare_swap(struct loco_link *link, struct loco_remote at, uint64_t expected,
                     uint64_t desired, uint64_t *old);
uint64_t tcp_flush(struct loco_link *link);
void tcp_poll(struct loco_link *link);

/* The link broke, and with it perhaps its peer. With the fabric's lock held. */
void tcp_link_failed(const struct tcp_link *link);

/* Breaks the links to the peer with these arenas. After this, no answer to them is placed. With
 * the fabric's lock held. */
void tcp_links_break(struct tcp_node *node, const struct tcp_arenas *arenas);

/* --- tcp_lane.c */

/* With the lane's lock held. Both return 0 or -ECONNRESET, and may release the lock to wait: */

/* Posts a request, followed by its data. */
int tcp_lane_post(struct tcp_link *link, struct tcp_request request, const void *data, size_t size);
/* The same for a request with an answer. */
int tcp_lane_ask(struct tcp_link *link, struct tcp_request request, const void *data, size_t size,
                 const struct tcp_pending *pending);

/* Whether the output has room for `size` bytes of the owner of this share. If not, first sends what
 * the kernel takes. */
bool tcp_lane_has_room(struct tcp_lane *lane, struct tcp_share *share, size_t size);
/* Notes that these were added to the output. */
void tcp_lane_note(struct tcp_lane *lane, struct tcp_share *share, size_t size);

/* Sends what was posted, as far as the kernel takes it. The rest is sent with the answers. */
void tcp_lane_send(struct tcp_lane *lane);

/* Adds the head of an answer to the output. Returns the room for its `size` bytes; NULL when the
 * peer asked for more than it may. */
unsigned char *tcp_lane_answer(struct tcp_lane *lane, enum tcp_operation operation, uint16_t link,
                               size_t size);

/* Without it: */

/* Returns false for an answer that no node sends. */
bool tcp_lane_hear_answer(struct tcp_lane *lane, const struct tcp_request *answer,
                          const unsigned char *body);
/* Sends the answers in the output, as far as the kernel takes them. */
void tcp_lane_send_answers(struct tcp_lane *lane);
void tcp_lane_break(struct tcp_lane *lane);

/* These four with the fabric's `connecting` held. The first finds a lane that leads to the peer's
 * process and has a free index; NULL: there is none. */
struct tcp_lane *tcp_lane_find(const struct tcp_link *link, uint64_t process);
/* Posts the link's greeting, once there is room for it. Returns 0, -ECONNRESET, or -ETIMEDOUT:
 * nothing was posted by `until`, and the link is on no lane. */
int tcp_lane_join(struct tcp_lane *lane, struct tcp_link *link,
                  const struct control_greeting *greeting, uint64_t until);
/* How many lanes lead from the node to that peer. */
unsigned tcp_lanes_count(const struct tcp_node *node, uint32_t peer, uint64_t process);
/* Takes the socket. Returns 0 or a negative errno. */
int tcp_lane_make(struct tcp_link *link, int fd, uint64_t process);
/* The same for one whose first link is a peer's, with `serving` and the fabric's lock held. */
int tcp_lane_take(struct tcp_node *node, struct control_peer *peer, int fd);

void tcp_lane_leave(struct tcp_lane *lane, struct tcp_link *link);
/* Drops the answers to the link, as its peer is lost. */
void tcp_lane_forget(struct tcp_lane *lane, const struct tcp_link *link);
void tcp_lanes_free(struct tcp *tcp);

/* Reports the links that failed. */
void tcp_tend_lanes(struct tcp *tcp);
/* With the fabric's lock held: ends the lanes to a process with which no node here is connected any
 * more. */
void tcp_lanes_end(struct tcp *tcp, uint64_t process);

/* Sends all writes that wait for a release, whichever thread holds them. */
void tcp_lanes_send_held(struct tcp *tcp);

/* --- tcp_hold.c */

/* Holds the write, or posts it (tcp_link_write) if it cannot be held. */
int tcp_write(struct loco_link *link, struct loco_remote to, const void *from, size_t size);
void tcp_hold(struct loco_node *node);
void tcp_release(struct loco_node *node);
void tcp_relax(struct loco_node *node, struct loco_wait *wait);

/* Whether the calling thread holds what it writes. */
bool tcp_holds(const struct tcp *tcp);

/* Moves the held writes to the lane's output. With the lane's lock held, which it may release to
 * wait. */
void tcp_lane_collect(struct tcp_lane *lane);

/* The calling thread holds no longer, as the fabric closes. */
void tcp_hold_forget(const struct tcp *tcp);

/* --- tcp_target.c: with `serving` held, but for the first */

/* Executes an atomic, and returns the word's old value. */
uint64_t tcp_execute(uint64_t *word, enum tcp_operation operation,
                     const struct tcp_operands *operands);

void tcp_lane_serve(struct tcp_lane *lane);
/* Serves the lanes on which something came. */
void tcp_serve_lanes(struct tcp *tcp);
/* Serves the lanes where poll() saw something. */
void tcp_looks_serve(const struct tcp_looks *looks);
/* Fills `looks` with all lanes. If memory is short, some are left out this time. */
void tcp_looks_gather(struct tcp_looks *looks, const struct tcp *tcp);
void tcp_looks_free(struct tcp_looks *looks);
/* Ends the lanes that are broken, and serves the others. */
void tcp_look_after_lanes(struct tcp *tcp);

/* With the fabric's lock held: */

void tcp_target_add(struct tcp_lane *lane, uint16_t index, struct tcp_node *node,
                    struct control_peer *peer);
/* After this, no request of the peer's links is executed. */
void tcp_targets_drop(const struct tcp_node *node, const struct control_peer *peer);

/* --- tcp_link_connect.c: all but tcp_link_connect with the fabric's lock held */

/* Connects a link. Returns 0, -ECONNRESET when the peer is lost, -ETIMEDOUT when it has not
 * answered by `until`, or another negative errno. */
int tcp_link_connect(struct tcp_link *link, uint64_t until);

/* The peer whose link this greeting opens; the greeting came over socket `fd`. NULL: refused. */
struct control_peer *tcp_admit_link(struct tcp_node *node, int fd,
                                    const struct control_greeting *greeting);

/* Handles the greeting of a link. The caller's socket becomes a lane's. */
void tcp_hear_link(struct control_connection *stranger);

/* --- tcp_service.c: the service thread */

void *tcp_service_thread(void *tcp);
/* A thread that waits serves one lane, or all lanes (NULL), unless another thread serves. */
void tcp_serve_in_wait(struct tcp *tcp, struct tcp_lane *lane);
#endif
