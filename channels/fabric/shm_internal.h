/*
 * What the shm fabric's parts share: shm.c is the memory, shm_peers.c how the nodes meet.
 */
#ifndef LOCO_SHM_INTERNAL_H
#define LOCO_SHM_INTERNAL_H

#include <pthread.h>
#include <sys/un.h>

#include "by_node.h"
#include "shm.h"
#include "shm_wire.h"

/* What others may make a node keep. */
enum {
    SHM_ARENAS_MAX = 64,          /* of one node */
    SHM_QUEUE_MAX = 16 << 20,     /* bytes of messages that one peer has not taken */
    SHM_RETURNS_MAX = 1000,       /* of one peer that was lost */
    SHM_STRANGERS_MAX = 64,       /* connections without a proof, and as many as there are nodes */
    SHM_STRANGER_NS = 2000000000, /* for that long */
    SHM_REFUSALS_SAID = 8,        /* warnings of strangers */
};

struct queued {
    struct queued *next;
    size_t size;
    int fd; /* an arena's, or -1; not owned */
    unsigned char data[];
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

/* What epoll names: a node's listener, or a connection. */
struct source {
    struct shm_node *node;
    struct shm_peer *peer; /* NULL: the listener, or a stranger, who has proven nothing yet */
    int fd;
    struct loco_nonce nonce; /* this end's */
    struct loco_claim claim; /* of a stranger that was answered: what its proof must be of */
    uint64_t until;          /* a stranger's time */
    struct source *next;     /* among the node's strangers, the newest first */
};

/* The arenas of a peer, mapped here. One that restarts has new ones; those of the old stay until
 * the node closes, since links of threads, and words that were reached, may still name them. */
struct shm_arenas {
    struct map maps[SHM_ARENAS_MAX];
    struct shm_arenas *older;
};

struct shm_peer {
    uint32_t id;
    bool asked; /* the node asked to meet it */
    bool up, bye;
    bool refused;          /* it is of another network, or out of reach: not tried again */
    unsigned lives;        /* how often it was up */
    uint64_t try_at;       /* when to connect again */
    struct source *source; /* NULL: not connected */
    struct queued *queue, **queue_end;
    size_t queued;             /* bytes */
    bool overrun;              /* it took none of them for too long */
    struct shm_arenas *arenas; /* NULL: nothing is known of the peer, nor asked */
};

struct shm_node {
    struct loco_node base;
    struct shm *shm;
    struct source listener;
    char path[sizeof((struct sockaddr_un *)0)->sun_path]; /* empty: it is hidden */
    struct loco_by_node peers;                            /* struct shm_peer */
    unsigned to_reach, to_await; /* asked for, not up: with a lower id; with a higher one */
    bool asked;                  /* for anybody */
    struct loco_key key;
    struct source *strangers;
    unsigned stranger_count, refusals;
    uint64_t mapped; /* bytes of peers' arenas */
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
    pthread_mutex_t lock; /* of everything below, and of the peers' queues and sources */
    pthread_cond_t node_closed;
    struct shm_node *nodes;
    unsigned open_nodes; /* with those that no thread tends yet, or any more */
    struct shm_file files[SHM_FILES];
    /* uint64_t, ns: who was not there is not tried again before, by any node of the process. */
    struct loco_by_node try_at;
    bool stop, warned;
};

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

/* Makes the run directory, or finds that it keeps other users out. Returns 0 or a negative
 * errno. */
int shm_make_directory(const char *path);

/* Binds the node's socket in the run directory. Returns 0 or a negative errno. */
int shm_listen(struct shm_node *node);

/* What the node knows of a peer; NULL: nothing. */
static inline struct shm_peer *shm_peer_of(const struct shm_node *n, uint32_t id)
{
    struct shm_peer *p = loco_by_node_find(&n->peers, id);

    return p && p->arenas ? p : NULL;
}

/* Adds a node that listens to those that the control thread tends. */
void shm_tend(struct shm_node *node);

/* The fabric's: of each pair the node with the higher id connects. */
int shm_meet(struct loco_node *node, uint32_t peer);

/* Sends to a peer; with the lock held. */
int shm_post_core(struct shm_node *node, struct shm_peer *peer, const void *message, size_t size);
void shm_post_arena(struct shm_node *node, struct shm_peer *peer, uint32_t number);

void shm_warn(struct shm_node *node, const char *text);

/* The thread that carries the control messages of all the process's nodes; its argument is
 * the fabric. It is woken when a node was added, or is to close. */
void *shm_control_thread(void *fabric);
void shm_wake_thread(struct shm *shm);

#endif
