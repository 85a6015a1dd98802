/*
 * The control plane of a fabric whose nodes listen at addresses: how they meet, send the core's
 * messages, and lose each other. The fabric keeps memory, links and operations. It puts its own
 * members behind these structures, and fills in four hooks.
 *
 *      node.c       how nodes are opened and closed, and find their addresses
 *      meet.c       how they connect, and who is let in
 *      life.c       messages, heartbeats, and the loss of peers
 *      turn.c       what the fabric's thread does for all of this
 *      tell.c       the thread that calls the core
 *
 * A control connection begins with greetings (wire.h). Then it carries messages:
 *
 * here    the first message, by the caller, when the other side has proven itself. The other side
 *         sends nothing before that
 * core    a control message of the core
 * alive   the sender is there, and has nothing else to say
 * bye     the last message: the node leaves in order
 *
 * and one kind that is the fabric's own. A thread of the fabric serves: it receives, and looks
 * after the nodes when that is due. It never calls the core, and never waits for another thread.
 */
#ifndef LOCO_CONTROL_CONTROL_H
#define LOCO_CONTROL_CONTROL_H

#include <pthread.h>
#include <sys/socket.h>

#include "../fabric/accept_backoff.h"
#include "greet.h"
#include "stream.h"

enum {
    CONTROL_MESSAGE_MAX = 4096,
    CONTROL_STRANGERS_MAX = 64, /* connections without a proof at a node, beyond its nodes */
    CONTROL_REFUSALS_SAID = 8,  /* warnings about strangers */
    CONTROL_PATIENCE = 50,      /* after so many attempts a peer is called less often */
};

static const uint64_t CONTROL_MS = 1000000;

enum control_kind {
    CONTROL_HERE = 1,
    CONTROL_OWN, /* the fabric's */
    CONTROL_CORE,
    CONTROL_ALIVE,
    CONTROL_BYE
};

/* What epoll points to. It is the first member of listeners and connections. */
struct control_end {
    bool listens;
    int fd; /* -1: closed, and about to be freed */
    uint32_t events;
    struct control_node *node;
    struct control_end *next; /* in the list `dead` */
};

/* A connection for control messages. At first it is a stranger's, who has proven nothing yet. */
struct control_connection {
    struct control_end end;
    struct control_peer *peer; /* NULL: a stranger, so far */
    struct control_greet greet;
    struct control_stream stream;
    bool connecting;           /* the kernel has not connected yet */
    bool established;          /* both ends know that the other one knows the secret */
    bool down;                 /* it ended, and the core was not told yet */
    bool bye;                  /* the peer leaves in order */
    uint64_t until;            /* by when it must be established */
    uint64_t alive_ns;         /* when the next heartbeat is due */
    uint64_t heard_ns;         /* when the peer was heard last */
    uint64_t doubt_ns;         /* a link broke: when the peer is lost, unless it says bye; 0: no */
    const char *failure;       /* of an operation, which broke the link; NULL: it is not known */
    struct control_told *loss; /* to be told when the established connection ends */
    struct control_connection *next; /* in the list of strangers */
};

struct control_peer {
    uint32_t id;
    bool asked;    /* the node asked to meet it */
    bool warned;   /* that it is of another network or secret */
    bool lost;     /* it was lost, and the core was not told yet */
    size_t untold; /* bytes of its messages that the core was not told yet */
    struct control_connection *connection; /* established, or about to be; NULL: none */
    unsigned target_count;                 /* the fabric's: the peer's links to this node */
    uint64_t try_at;                       /* when to connect again */
    unsigned attempts;
};

struct control_node {
    struct loco_node base;
    struct control *control;
    struct control_self self;
    struct sockaddr_storage *addresses; /* by id */
    struct control_end listener;
    struct loco_accept_backoff rest; /* the listener's */
    struct control_peer *peers;      /* by id, itself included */
    struct control_connection *strangers;
    unsigned stranger_count, refusals;
    uint64_t leave_by; /* it leaves: when the connections it still has are cut; 0: it stays */
    struct control_told *quiet; /* to be told last */
    _Atomic bool closing;
    bool closed;
    struct control_node *next;
};

/* News for the core. */
enum control_news {
    CONTROL_UP,
    CONTROL_SAID,
    CONTROL_LOST,
    CONTROL_LEFT,
    CONTROL_FOREIGNER,
    CONTROL_WARNING,
    CONTROL_QUIET
};

/* What a fabric does about a connection; with the lock held. */
struct control_hooks {
    size_t connection_size; /* of the fabric's structure, which begins with control_connection */
    /* Both ends are proven: sends what the peer must know before the core's messages. Returns 0 or
     * a negative errno. */
    int (*up)(struct control_connection *connection);
    /* Handles a message of the fabric's own. Returns false for one that no node sends. */
    bool (*heard)(struct control_connection *connection,
                  const struct loco_control_message *message);
    /* The connection ends. After this, neither the peer's operations nor its answers change
     * memory; only then is the core told that the peer is lost. */
    void (*cut_off)(struct control_connection *connection);
    /* A stranger greets for a link: takes its socket, or refuses. */
    void (*linked)(struct control_connection *stranger);
};

/* A process's part. */
struct control {
    const struct control_hooks *hooks;
    const struct control_self *self; /* protocol, version and process, for all nodes */
    char **names;                    /* the nodes' addresses, by id */
    uint32_t name_count;
    uint16_t port;
    unsigned timeout_ms;
    int epoll, wake;
    pthread_t telling;

    pthread_mutex_t lock; /* the fabric's, too */
    pthread_cond_t node_closed, news;
    struct control_node *nodes;
    struct control_told *told, **told_end;
    bool stop_telling;

    struct control_end *dead; /* closed in this turn, and freed at its end */
    _Atomic bool due;         /* nodes are to be looked after at once */
    _Atomic bool stop;        /* the serving thread ends */
};

static inline uint64_t control_timeout_ns(const struct control *control)
{
    return control->timeout_ms * CONTROL_MS;
}

/* --- node.c: without the lock */

/* The members before `epoll` are filled in. Returns 0 or a negative errno. */
int control_open(struct control *control);
/* After its nodes have closed, and the fabric's thread has ended. */
void control_close(struct control *control);
/* Finds the addresses, and makes what the node needs. */
int control_node_open(struct control *control, struct control_node *node, uint32_t id,
                      uint32_t count, struct loco_secret secret, const struct loco_events *events);
/* Listens. From now on the node meets peers. */
int control_node_start(struct control_node *node);
/* Waits until the node that was started has left. */
void control_node_stop(struct control_node *node);
void control_node_free(struct control_node *node);
void control_wake(struct control *control);

/* --- tell.c */

void *control_telling_thread(void *control);
/* Makes news without data. NULL: there is no memory. News that must not fail is made early: of a
 * peer's loss when the peer connects, and of a node's end when the node opens. */
struct control_told *control_told_new(struct control_node *node, enum control_news news,
                                      uint32_t peer);
/* Tells that the peer is lost; or that it left. */
void control_tell_loss(struct control_told *loss, bool left);
/* Tells the news, and frees it then. */
void control_tell(struct control_told *told);
/* Returns 0 or -ENOMEM. */
int control_tell_message(struct control_connection *connection, const void *message, size_t size);
/* These two do nothing if there is no memory. The node met one of a network of `count` nodes. */
void control_tell_foreigner(struct control_node *node, uint32_t count);
void control_warn(struct control_node *node, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void control_forget_told(struct control *control);

/* --- meet.c */

int control_listen(struct control_node *node);
void control_accept(struct control_node *node);
/* Both return whether there is something to be looked at again soon: the listener rests, or there
 * are strangers, whose time ends. */
bool control_tend_listener(struct control_node *node, uint64_t now);
bool control_tend_strangers(struct control_node *node, uint64_t now);
/* Takes the connection off the list of strangers, if it is there. */
void control_forget_stranger(struct control_connection *connection);
void control_call(struct control_node *node, struct control_peer *peer);

/* Continues the greetings of a connection. */
void control_greet(struct control_connection *connection);
/* Refuses, and drops the connection. */
void control_refuse(struct control_connection *connection, enum loco_refusal why);
/* Warns of a caller that is refused, unless there were many such warnings. */
void control_warn_of(struct control_node *node, uint32_t id, uint32_t count, const char *why);
/* The same of a program that is no node. */
void control_warn_of_program(struct control_node *node);

/* A socket on its way to a peer, or a negative errno. */
int control_connect_start(const struct control_node *node, uint32_t peer);
bool control_is_at_home(int fd, const struct sockaddr_storage *home);

/* --- life.c: the first two without the lock, for the fabric's table */

int control_send(struct loco_node *node, uint32_t peer, const void *message, size_t size);
int control_meet(struct loco_node *node, uint32_t peer);

/* Both ends know that the other is of this network. Returns false if the connection was dropped for
 * want of memory. */
bool control_establish(struct control_connection *connection);
bool control_is_up(const struct control_connection *connection);
int control_post(struct control_connection *connection, uint32_t kind, const void *body,
                 size_t size);
/* Receives from an established connection. */
void control_hear(struct control_connection *connection);
/* A link broke. The peer is lost when this time is over, unless it says bye. `failure` has the
 * error of the operation that broke the link; NULL: it is not known. */
void control_doubt(struct control_connection *connection, uint64_t patience_ns,
                   const char *failure);
/* Ends the connection. The loss of the peer is told later. */
void control_connection_end(struct control_connection *connection);
/* Closes a connection without telling the core, and frees it at the end of the turn. */
void control_connection_drop(struct control_connection *connection);
/* Whether any node of this process has a connection to that process. */
bool control_is_connected_with(const struct control *control, uint64_t process);

/* Looks after a node's connections: sends heartbeats, notices losses, calls peers. Returns whether
 * a peer that it calls is missing, so that it is to be looked at again soon. */
bool control_tend_peers(struct control_node *node, uint64_t now);
/* Tells the peers of a node that closes. */
void control_leave(struct control_node *node, uint64_t now);
/* Whether all of them have closed their connections, or the time for that is over. */
bool control_has_left(const struct control_node *node, uint64_t now);

/* --- turn.c: the first four by the thread that serves, without the lock */

/* Receives what has come. */
void control_serve(struct control *control);
/* Looks after the nodes. Returns when they are to be looked after again. */
uint64_t control_tend(struct control *control, uint64_t now);
/* At the end of a turn, when no event names them any more. */
void control_free_dead(struct control *control);
/* A thread that does nothing else, until `stop`. */
void *control_serving_thread(void *control);

int control_watch(struct control *control, struct control_end *end, uint32_t events);
/* Takes the socket away from `end`, and returns it. */
int control_take_socket(struct control *control, struct control_end *end);
/* Closes the socket now. Frees `end` at the end of the turn. */
void control_bury(struct control *control, struct control_end *end);

#endif
