/*
 * What the shm fabric's parts share.
 *
 *      shm.c              the fabric, its nodes and operations
 *      shm_map.c          memory files
 *      shm_shared.c       what nodes of one process map of others, once
 *      shm_names.c        where the process is found: a node's name in the run directory
 *      shm_connections.c  how two processes are connected, and who is let in
 *      shm_peers.c        how nodes meet over these connections, and the control thread
 *
 * A `struct shm` is a process's part in a network, of however many nodes: one socket to listen on,
 * the memory files, and a connection to each other process that it shares a channel with. Two
 * fabrics that one process has opened are two processes here.
 */
#ifndef LOCO_SHM_INTERNAL_H
#define LOCO_SHM_INTERNAL_H

#include <pthread.h>
#include <sys/types.h>
#include <sys/un.h>

#include "../../loco/fabric/by_node.h"
#include "../../loco/fabric/shm.h"
#include "../rest.h"
#include "../unsent.h"
#include "shm_wire.h"

/* What others may make a process keep. */
enum {
    SHM_ARENAS_MAX = 64,          /* of one node */
    SHM_RETURNS_MAX = 1000,       /* of one peer that was lost */
    SHM_STRANGERS_MAX = 64,       /* connections without a proof, and as many as there are nodes */
    SHM_STRANGER_NS = 2000000000, /* for that long */
    SHM_REFUSALS_SAID = 8,        /* warnings of strangers */
};

/* The process's memory files: of reserved huge pages, and of others. */
enum { SHM_RESERVED, SHM_ORDINARY, SHM_FILES };

struct shm_file {
    int fd;        /* -1: not needed so far */
    uint64_t used; /* bytes, by arenas of nodes that are open and of those that were */
};

struct shm_range {
    uint64_t offset, size;
};

struct map {
    unsigned char *base;
    size_t size;
    uint32_t file;             /* of an own arena, and where it lies there */
    uint64_t offset;           /* the same */
    bool small;                /* large, but on ordinary pages */
    struct shm_shared *shared; /* a peer's, with other nodes of the process; else NULL */
};

/* Which file in the run directory; all zero: none. */
struct shm_place {
    dev_t device;
    ino_t file;
};

/* To another process, or a stranger, who has proven nothing yet. Only the control thread makes and
 * ends them. */
struct shm_connection {
    struct shm *shm;
    int fd;
    bool called;             /* by this process */
    bool proven;             /* the other has proven itself, and is heard */
    bool heard;              /* the control thread is about to hear all it has to say */
    bool overrun;            /* it took no messages for too long */
    uint32_t own, other;     /* nodes: those that the greetings are between */
    struct loco_nonce nonce; /* this end's */
    struct loco_claim claim; /* of one that was answered: what its proof must be of */
    uint64_t until;          /* a stranger's time */
    struct shm_place place;  /* that was called */
    uint64_t process;        /* the other's number */
    unsigned pairs;          /* of nodes, that are up over it */
    struct loco_unsent unsent;
    bool has_file[SHM_FILES]; /* the other has this process's */
    int files[SHM_FILES];     /* the other's; -1: not known */
    struct shm_connection *next;
};

/* The arenas of a peer, mapped here. One that restarts has new ones; those of the old stay until
 * the node closes, since links of threads, and words that were reached, may still name them. */
struct shm_arenas {
    struct map maps[SHM_ARENAS_MAX];
    struct shm_arenas *older;
};

struct shm_peer {
    uint32_t id;
    bool asked;                 /* the node asked to meet it */
    bool up;                    /* they have met, and are connected */
    bool refused;               /* it is of another network, or out of reach: not tried again */
    unsigned lives;             /* how often it was up */
    uint64_t try_at;            /* when to ask again */
    struct shm_connection *way; /* to it, where it is up or was asked; else NULL */
    uint32_t call;              /* the number of that */
    struct shm_arenas *arenas;  /* NULL: nothing is known of the peer, nor asked */
};

struct shm_node {
    struct loco_node base;
    struct shm *shm;
    char path[sizeof((struct sockaddr_un *)0)->sun_path]; /* its name; empty: it is hidden */
    struct loco_by_node peers;                            /* struct shm_peer */
    unsigned to_reach, to_await; /* asked for, not up: with a lower id; with a higher one */
    bool asked;                  /* for anybody */
    uint64_t mapped;             /* bytes of peers' arenas */
    struct map arenas[SHM_ARENAS_MAX];
    uint32_t arena_count;
    bool closing, closed;
    struct shm_node *next;
};

struct shm {
    struct loco_fabric base;
    char directory[92]; /* room is left for "/node4294967295" in a socket's address */
    uint64_t number;    /* this process's, drawn by chance */
    int epoll, wakeup;
    pthread_t thread;
    pthread_mutex_t lock; /* of everything below, and of what nodes know of peers */
    pthread_cond_t node_closed;
    struct shm_node *nodes;
    struct loco_by_node by_id; /* struct shm_node *, the same */
    uint32_t count;            /* of the network's nodes */
    struct loco_key key;
    int listener;          /* -1: there is none */
    struct loco_rest rest; /* the listener's */
    struct shm_place place;
    struct shm_file files[SHM_FILES];
    struct shm_connection *connections; /* the newest first */
    unsigned strangers;                 /* of these */
    unsigned refusals;                  /* warned of */
    uint32_t calls;                     /* ever made */
    /* uint64_t, ns: who was not there is not tried again before, by any node of the process. */
    struct loco_by_node try_at;
    bool stop, warned;
};

/* --- shm_map.c, shm_shared.c ----------------------------------------------------------------- */

/* Makes a new arena's memory in one of the process's files, or maps a peer's. Returns 0 or a
 * negative errno. */
int shm_map_new(struct shm_file files[SHM_FILES], struct map *map, size_t size);
int shm_map_range(struct map *map, int fd, struct shm_range range);
void shm_close_file(struct shm_file *file);

/* Whether a peer's memory file has this range, and keeps it: 0, -EPERM without the seal, -EPROTO
 * where the file is smaller, or another negative errno. */
int shm_check_range(int fd, struct shm_range range);

/* Maps a peer's memory, or shares what another node of the process has mapped of it, after a look
 * at the file's seal and size. Returns 0, an error as of shm_check_range, or another negative
 * errno.
 */
int shm_share(struct map *map, int fd, struct shm_range range);
void shm_unshare(const struct map *map);

/* --- shm.c ----------------------------------------------------------------------------------- */

/* Makes the run directory, or finds that it keeps other users out. Returns 0 or a negative
 * errno. */
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

/* What is at the address now; all zero: nothing. */
struct shm_place shm_place_at(const struct sockaddr_un *address);

static inline bool shm_same_place(struct shm_place a, struct shm_place b)
{
    return a.device == b.device && a.file == b.file;
}

/* Gives the node its name in the run directory, and the process a socket to listen on if it has
 * none that has a name. Returns 0, -EADDRINUSE or another negative errno. */
int shm_show(struct shm_node *node);
bool shm_is_shown(const struct shm_node *node);
void shm_hide(struct shm_node *node);

/* --- shm_connections.c ----------------------------------------------------------------------- */

void shm_watch(struct shm *shm, int operation, int fd, void *source, uint32_t events);
void shm_warn(struct shm_node *node, const char *text);

/* Who comes again and again fills no log. */
bool shm_is_worth_saying(struct shm *shm);

/* With the lock held. Sends, or keeps to be sent; a file once; what is kept. */
int shm_post(struct shm_connection *connection, const void *data, size_t size, int fd);
void shm_post_file(struct shm_connection *connection, uint32_t file);
void shm_send_queued(struct shm_connection *connection);

/* With the lock held. The connection over which the node may reach the peer, called now where there
 * is none; maybe the other has not proven itself yet. NULL: the peer is not there. */
struct shm_connection *shm_call(struct shm_node *node, uint32_t peer);

/* The control thread: lets in who calls; hears a connection, which may be over then. */
void shm_accept(struct shm *shm);

/* With the lock held. Returns when to look at the listener again, in ms; -1: it needs no look. */
int shm_tend_listener(struct shm *shm);
void shm_hear(struct shm_connection *connection);

/* Drops strangers whose time is over. Returns how soon to look again, in ms; -1: there is none. */
int shm_tend_strangers(struct shm *shm);

/* With the lock held: ends them all. */
void shm_drop_connections(struct shm *shm);

/* --- shm_peers.c ----------------------------------------------------------------------------- */

/* The process's node; NULL: it has none of this id. With the lock held. */
struct shm_node *shm_node_of(const struct shm *shm, uint32_t id);

/* What a connection that is proven has to say; returns whether it may stay. */
bool shm_on_message(struct shm_connection *connection, const struct shm_head *head,
                    const unsigned char *data, size_t size);

/* The peer that was called for refuses the process, or is refused by it; `again`: it may be tried
 * later. */
void shm_peer_refused(struct shm_connection *connection, bool again);

/* All who were up over it are lost; it is still there. */
void shm_connection_lost(struct shm_connection *connection);

/* The fabric's: of each pair the node with the higher id asks to meet. */
int shm_meet(struct loco_node *node, uint32_t peer);

/* Sends to a peer; with the lock held. */
int shm_post_core(struct shm_node *node, struct shm_peer *peer, const void *message, size_t size);
void shm_post_arena(struct shm_node *node, struct shm_peer *peer, uint32_t number);

/* Adds a node to those of the process, whose `count` and `key` are the same for all of them.
 * Returns 0, -EADDRINUSE, -EINVAL where they are not, or another negative errno. */
int shm_enter(struct shm_node *node, const struct loco_key *key);

/* The thread that carries the control messages of all the process's nodes; its argument is
 * the fabric. It is woken when a node was added, or is to close. */
void *shm_control_thread(void *fabric);
void shm_wake_thread(struct shm *shm);

#endif
