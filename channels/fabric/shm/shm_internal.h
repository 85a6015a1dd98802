/*
 * Types and functions that the files of the shm fabric share.
 *
 *      shm.c              the fabric, its nodes and operations
 *      shm_map.c          memory files
 *      shm_shared.c       mappings of peers' memory, shared by the nodes of this process
 *      shm_names.c        the nodes' names in the run directory, by which others find the process
 *      shm_connections.c  how two processes connect, and which are refused
 *      shm_peers.c        how nodes meet over these connections
 *      shm_control.c      the nodes of the process, and the thread that serves them
 *
 * A `struct shm` is a process's part in a network, for all its nodes: one socket to listen on, the
 * memory files, and a connection to each other process that it shares a channel with. If one
 * process opens two fabrics, they count as two processes here.
 */
#ifndef LOCO_SHM_INTERNAL_H
#define LOCO_SHM_INTERNAL_H

#include <pthread.h>
#include <sys/types.h>
#include <sys/un.h>

#include "../../control/greet.h"
#include "../../loco/fabric/by_node.h"
#include "../../loco/fabric/shm.h"
#include "../accept_backoff.h"
#include "../send_queue.h"
#include "shm_wire.h"

/* Limits on the resources that other processes can make this one use. */
enum {
    SHM_ARENAS_MAX = 64,    /* of one node */
    SHM_RETURNS_MAX = 1000, /* how often one peer may come back after it was lost */
    SHM_STRANGERS_MAX = 64, /* connections without a proof, beyond the number of nodes */
    SHM_REFUSALS_SAID = 8,  /* warnings about strangers */
};

/* The process's memory files: one on reserved huge pages, one on other pages. */
enum { SHM_RESERVED, SHM_ORDINARY, SHM_FILES };

struct shm_file {
    int fd;        /* -1: not needed so far */
    uint64_t used; /* bytes given to arenas, including those of closed nodes */
};

struct shm_range {
    uint64_t offset, size;
};

struct map {
    unsigned char *base;
    size_t size;
    uint32_t file;             /* own arenas: the memory file */
    uint64_t offset;           /* own arenas: their place in that file */
    bool small;                /* it is on ordinary pages although it is large */
    struct shm_shared *shared; /* a peer's memory that this process's nodes share; else NULL */
};

/* Identifies a file in the run directory; all zero: none. */
struct shm_place {
    dev_t device;
    ino_t file;
};

/* A connection to another process, or to a stranger: one that has not yet proven that it knows the
 * secret. Only the control thread makes and ends connections. */
struct shm_connection {
    struct shm *shm;
    int fd;
    struct control_self self;   /* the node here that greets */
    struct control_greet greet; /* once it is proven, the other process's messages are accepted */
    bool heard;                 /* the control thread is reading from it */
    uint64_t until;             /* of one that is not proven: when it is dropped */
    struct shm_place place;     /* the socket that was called */
    int process_fd; /* the other process's pidfd; -1: unproven, or in another PID namespace */
    unsigned pairs; /* pairs of nodes that are up over it */
    struct loco_send_queue unsent;
    bool has_file[SHM_FILES]; /* this process's file was sent to the other process */
    int files[SHM_FILES];     /* the other process's files; -1: not received */
    struct shm_connection *next;
};

/* The arenas of a peer, mapped here. A peer that restarts has new ones. The old ones stay mapped
 * until the node closes, since threads' links and kept addresses may still point there. */
struct shm_arenas {
    struct map maps[SHM_ARENAS_MAX];
    struct shm_arenas *older;
};

struct shm_peer {
    uint32_t id;
    bool asked;                 /* the node asked to meet it */
    bool up;                    /* they have met, and are connected */
    bool refused;               /* it has proven itself, and is unusable: never tried again */
    bool warned;                /* that it is of another network or secret */
    unsigned lives;             /* how often it came up */
    uint64_t try_at;            /* when to ask again */
    struct shm_connection *way; /* the connection over which it is up or was asked; else NULL */
    uint32_t call;              /* the number of that meeting, which all its messages repeat */
    struct shm_arenas *arenas;  /* NULL: this entry is not in use */
};

struct shm_node {
    struct loco_node base;
    struct shm *shm;
    char path[sizeof((struct sockaddr_un *)0)->sun_path]; /* its name; empty: it has none */
    struct loco_by_node peers;                            /* struct shm_peer */
    unsigned to_reach; /* peers asked for that are not up, with a lower id */
    unsigned to_await; /* the same, with a higher id: they ask this node */
    bool asked;        /* it asked for any peer */
    uint64_t mapped;   /* bytes of peers' arenas */
    struct map arenas[SHM_ARENAS_MAX];
    uint32_t arena_count;
    bool closing, closed;
    struct shm_node *next;
};

struct shm {
    struct loco_fabric base;
    char directory[92]; /* room is left for "/node4294967295" in a socket's address */
    int epoll, wakeup;
    pthread_t thread;
    pthread_mutex_t lock; /* protects everything below, and what nodes know of peers */
    pthread_cond_t node_closed;
    struct shm_node *nodes;
    struct loco_by_node by_id;       /* struct shm_node *: the same nodes */
    struct control_self self;        /* of all nodes, but for their ids */
    int listener;                    /* -1: there is none */
    struct loco_accept_backoff rest; /* the listener's */
    struct shm_place place;
    struct shm_file files[SHM_FILES];
    struct shm_connection *connections; /* the newest first */
    unsigned strangers;                 /* connections that are not proven */
    unsigned refusals;                  /* warnings so far */
    uint32_t calls;                     /* meetings asked for so far */
    /* uint64_t, ns: when any node of the process may try an absent peer again. */
    struct loco_by_node try_at;
    bool stop, warned;
};

/* --- shm_map.c, shm_shared.c ----------------------------------------------------------------- */

/* Makes a new arena's memory in one of the process's files, or maps a peer's. Returns 0 or a
 * negative errno. */
int shm_map_new(struct shm_file files[SHM_FILES], struct map *map, size_t size);
int shm_map_range(struct map *map, int fd, struct shm_range range);
void shm_close_file(struct shm_file *file);

/* Checks that a peer's memory file has this range and cannot lose it. Returns 0, -EPERM if the file
 * is not sealed against shrinking, -EPROTO if it is too small, or another negative errno. */
int shm_check_range(int fd, struct shm_range range);

/* Checks a range of a peer's memory file. Maps it, or shares the mapping of another node of this
 * process. Returns 0, an error of shm_check_range, or another negative errno. */
int shm_share(struct map *map, int fd, struct shm_range range);
void shm_unshare(const struct map *map);

/* --- shm.c ----------------------------------------------------------------------------------- */

/* Makes the run directory if it does not exist. Returns 0, -EPERM if other users have access to it,
 * or another negative errno. */
int shm_make_directory(const char *path);

/* What the node knows of a peer; NULL: nothing. */
static inline struct shm_peer *shm_peer_of(const struct shm_node *n, uint32_t id)
{
    struct shm_peer *p = id < n->peers.count ? loco_by_node_find(&n->peers, id) : NULL;

    return p && p->arenas ? p : NULL;
}

/* --- shm_names.c: with the lock held --------------------------------------------------------- */

struct sockaddr_un shm_address_of(const struct shm *shm, uint32_t id);
int shm_new_socket(void);

/* Returns a pidfd of the process at the socket's other end, or a negative errno: -ESRCH if that
 * process has ended. A socket stays open as long as any child that was forked from the process. So
 * only the process itself tells whether it lives. */
int shm_process_at(int socket);
bool shm_process_has_ended(int pidfd);

/* The file at the address now; all zero: there is none. */
struct shm_place shm_place_at(const struct sockaddr_un *address);

static inline bool shm_same_place(struct shm_place a, struct shm_place b)
{
    return a.device == b.device && a.file == b.file;
}

/* Gives the node its name in the run directory. If the process has no listening socket, or its
 * socket has lost its last name, the process gets a new socket. Returns 0, -EADDRINUSE or another
 * negative errno. */
int shm_show(struct shm_node *node);
bool shm_is_shown(const struct shm_node *node);
void shm_hide(struct shm_node *node);

/* --- shm_connections.c ----------------------------------------------------------------------- */

void shm_watch(struct shm *shm, int operation, int fd, void *source, uint32_t events);
void shm_warn(struct shm_node *node, const char *text);

/* Whether a refusal is to be logged, so that strangers cannot fill the log. */
bool shm_is_worth_saying(struct shm *shm);

/* With the lock held: */

/* Sends a message, or queues it if the socket has no room. With a descriptor, or -1. Returns 0 or a
 * negative errno: the message is not sent. */
int shm_post(struct shm_connection *connection, const void *data, size_t size, int fd);
/* Sends one of this process's memory files, unless the other process has it already. */
int shm_post_file(struct shm_connection *connection, uint32_t file);
void shm_send_queued(struct shm_connection *connection);

/* Returns the connection to the peer's process, and calls that process if there is none. The
 * connection may not be proven yet. NULL: the peer is not there. */
struct shm_connection *shm_call(struct shm_node *node, uint32_t peer);

/* Ends the listener's rest when its time is over. Returns when to look again, in ms; -1: it does
 * not rest. */
int shm_tend_listener(struct shm *shm);

/* Drops strangers whose time is over. Returns when to look again, in ms; -1: none is left. */
int shm_tend_strangers(struct shm *shm);

/* Ends all connections. */
void shm_drop_connections(struct shm *shm);

/* The control thread, without the lock: */

/* Accepts a caller. */
void shm_accept(struct shm *shm);

/* Handles the messages of a connection, which may end it. */
void shm_hear(struct shm_connection *connection);

/* The other process has ended. The control thread will find the end of the connection. */
void shm_connection_end(struct shm_connection *connection);

/* --- shm_greetings.c ------------------------------------------------------------------------- */

/* Continues the greetings of a connection. Returns 1 when one was heard, 0 when there is none so
 * far, or -1: the connection is over. Without the lock. */
int shm_greet(struct shm_connection *connection);

/* --- shm_peers.c ----------------------------------------------------------------------------- */

/* The node of this process with that id, or NULL. For the control thread, without the lock: only
 * this thread removes nodes, so the node stays. */
struct shm_node *shm_find_node(struct shm *shm, uint32_t id);

/* Handles a message of a proven connection; returns whether the connection may stay. */
bool shm_on_message(struct shm_connection *connection, const struct shm_head *head,
                    const unsigned char *data, size_t size);

/* Called when the greeting of a call ended in a refusal, by either side, for example because the
 * peer is absent. It is tried again, as the right one may come later. Returns whether the refusal
 * is worth a warning that has not been given yet. */
bool shm_peer_refused(struct shm_connection *connection, bool absent);

/* Loses every peer that was up over the connection. The caller drops the connection afterwards. */
void shm_connection_lost(struct shm_connection *connection);

/* The fabric's meet(). Of each pair, the node with the higher id asks the other one. */
int shm_meet(struct loco_node *node, uint32_t peer);

/* Send a control message, or an arena, to a peer; with the lock held. */
int shm_post_core(struct shm_node *node, struct shm_peer *peer, const void *message, size_t size);
int shm_post_arena(struct shm_node *node, struct shm_peer *peer, uint32_t number);

/* With the lock held: asks for the peers that are missing. Returns when to do so again, in ms; -1:
 * when an event comes. */
int shm_seek_peers(struct shm_node *node);

/* With the lock held: the node leaves all its peers in order. */
void shm_part_from_peers(struct shm_node *node);

/* --- shm_control.c --------------------------------------------------------------------------- */

/* The shorter of two waiting times; -1 is for ever. */
static inline int shm_sooner(int a, int b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    return a < b ? a : b;
}

/* Adds a node to the process. Returns 0, -EINVAL if its `count` or `key` differs from the other
 * nodes', -EADDRINUSE, or another negative errno. */
int shm_enter(struct shm_node *node, const struct loco_key *key);

/* The thread that handles the control messages of all the process's nodes. Its argument is the
 * fabric. It is woken when a node asks for a peer or is to close. */
void *shm_control_thread(void *fabric);
void shm_wake_thread(struct shm *shm);

#endif
