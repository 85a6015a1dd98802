/*
 * What the sim's parts share.
 *
 *      sim.c         the fabric: links, operations, arenas
 *      sim_peers.c   nodes that come, tell one another, and go
 *      sim_fibers.c  the threads of the simulated nodes
 *      sim_timed.c   operations take the time that their links take, and nothing else happens
 *      sim_chaos.c   operations do whatever RDMA permits
 *
 * The last two are the sim's physics: one of them is chosen when it is opened.
 */
#ifndef LOCO_SIM_INTERNAL_H
#define LOCO_SIM_INTERNAL_H

#include "../../loco/fabric/by_node.h"
#include "../../loco/fabric/sim.h"
#include "../fiber.h"
#include "../timeline.h"

/* What a timeline entry is; the first member of each. */
enum kind { FIBER, ALARM, ARRIVAL, ANSWER, COMPLETION, NEWS };

/* The end of a fiber's wait. */
struct alarm {
    enum kind kind;
    struct sim_fiber *fiber;
};

/* What is due next on a link: an arrival at the peer, or a completion here. */
struct link_event {
    enum kind kind;
    struct sim_link *link;
};

struct sim_fiber {
    enum kind kind;
    struct sim *sim;
    struct fiber *fiber;
    void (*body)(void *arg);
    void *arg;
    void **context; /* its table of thread contexts */
    struct sim_fiber *next;
    bool control; /* a node's, not the program's: the run does not wait for it */

    /* While it waits in relax(): */
    struct sim_node *waiting; /* at this node, NULL: it does not */
    uint64_t wake_at;         /* latest */
    uint64_t alarm_at;        /* when its alarm rings; UINT64_MAX: it is not set */
    struct alarm alarm;

    /* Chaos: */
    unsigned place; /* among those that may be chosen; 0: none, it sleeps or has ended */
    uint64_t seen;  /* the sim's changes when it last looked */
    unsigned stall; /* turns that it is held back */
};

struct sim_arena {
    unsigned char *base;
    size_t size;
};

/* What a node knows of another. */
struct sim_peer {
    struct sim_node *node;  /* the newest that came up; NULL: none did yet */
    bool asked;             /* the node asked to meet it */
    bool up;                /* it was not lost since */
    uint64_t newest;        /* when the newest news of the peer come */
    struct sim_link *links; /* to all of its lives */
};

struct sim_node {
    struct loco_node base;
    struct sim *sim;
    struct loco_by_node peers; /* struct sim_peer */
    bool closed;
    bool silent; /* it crashed, and what it still had to tell is lost */
    struct sim_arena *arenas;
    uint32_t arena_count;
    struct sim_link *links;
    struct sim_link *unwatched; /* timed: what a wait has to look at */
    unsigned waiting;           /* fibers in relax() */
    struct operation *atomic;   /* chaos: the NIC is between its read and its write */
    struct sim_node *older;     /* the closed one that had this id before */

    /* Chaos: the fiber on which it hears of its peers, and what it has not heard yet. */
    struct sim_fiber *control;
    struct news *news, *newest_news;
};

struct sim_link {
    struct loco_link base;
    struct sim_node *node, *peer;
    struct operation *oldest, *newest; /* not done, in the order of posting */
    bool immediate;                    /* timed, and neither way takes any time */
    uint64_t flushes;                  /* tickets given */
    uint64_t last;                     /* the newest operation's number */
    bool deaf;                         /* the loss of the peer was told here: no answer comes */
    bool severed;                      /* the loss of the node was told there: nothing arrives */
    struct sim_link *next;             /* of the node */
    struct sim_link *next_to_peer;     /* of the node, to the same peer */

    /* Timed: */
    struct loco_sim_link there, back;
    uint64_t random;
    uint64_t last_arrival, last_finish;
    struct operation *travelling; /* the oldest that has not come to the peer */
    struct link_event arrival, completion;
    bool listed; /* it is watched, or unwatched; else nothing is in flight */
    struct sim_link *next_unwatched;

    /* Chaos: its place among the links that have operations in flight; 0: none. */
    unsigned active;
    uint64_t completed, flushes_completed; /* wait to be polled */
    unsigned queued, depth;                /* operations that are not completed; and at most */
};

enum verb { WRITE, READ, FETCH_ADD, COMPARE_SWAP, FLUSH };

/* The words of a transfer, in the order in which chaos moves them. */
struct transfer {
    unsigned moved, words, first, stride;
};

struct operation {
    enum kind kind;
    enum verb verb;
    struct sim_link *link;
    uint64_t number;       /* or a flush's ticket */
    unsigned char *target; /* in the peer's memory */
    const void *source;    /* of a write that is not inline, here; NULL once it is read */
    void *result;          /* of a read or atomic, here */
    size_t size;
    uint64_t operand, expected;
    struct operation *next;
    bool arrived, finished; /* at the peer; as its poster sees it */

    /* Timed: */
    uint64_t arrives, finishes;
    uint64_t place; /* of its arrival on the timeline */

    /* Chaos: */
    bool executed; /* placed; or read, or done, at the peer */
    bool streams;  /* a read's words are answered as they are read */
    bool again;    /* a read is done once more, as after a lost answer */
    unsigned patience;
    struct transfer fetch, apply, answer;

    size_t room;
    unsigned char data[]; /* a write's bytes, a read's result */
};

/* What one node hears of another. */
enum topic { UP, MESSAGE, LOST, LEFT };

struct news {
    enum kind kind;
    enum topic topic;
    struct sim_node *from, *to;
    struct news *next; /* of those that have come, and were not heard */
    size_t size;
    unsigned char data[];
};

/* How operations and fibers go on. */
struct sim_physics {
    void (*interrupt)(struct sim *sim); /* may pause the running fiber; or NULL */
    int (*post)(struct sim_link *link, struct operation *operation); /* takes it over */
    void (*poll)(struct loco_link *link);
    void (*relax)(struct loco_node *node, struct loco_wait *wait);
    void (*sleep)(struct sim *sim, uint64_t time, unsigned class);
    void (*pause)(struct sim_fiber *self); /* goes on with others, until self is next */
};

extern const struct sim_physics sim_timed, sim_chaos;

struct sim {
    struct loco_fabric base;
    struct loco_sim_config config;
    const struct sim_physics *physics;
    uint64_t now;
    struct timeline timeline;
    struct sim_node **nodes;
    uint32_t node_count, open_count;
    uint64_t link_count;
    struct operation *spare; /* small ones */

    struct sim_fiber *fibers; /* every one there ever was */
    unsigned alive;
    struct sim_fiber main; /* loco_sim_run's caller */
    struct sim_fiber *current;
    int result;

    /* Chaos: */
    uint64_t random;
    uint64_t steps, changes;
    int until_preempted;
    uint64_t idle_since; /* the changes when all began to wait ... */
    unsigned looks;      /* ... and how often they have looked again since */
    struct sim_link **active;
    unsigned active_count, active_room;
    struct sim_fiber **crowd; /* the fibers that may be chosen */
    unsigned crowd_count, crowd_room, fiber_count;
};

/* splitmix64: small, and good for any seed. */
static inline uint64_t sim_draw(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void sim_switch(struct sim_fiber *from, struct sim_fiber *to);
void sim_fibers_free(struct sim *sim);

/* A fiber that begins at the present time; or NULL. */
struct sim_fiber *sim_spawn(struct sim *sim, void (*body)(void *arg), void *arg, bool control);

/* Chaos: the fiber may be chosen to go on; and may not, until it is awake again. */
void sim_awake(struct sim_fiber *fiber);
void sim_asleep(struct sim_fiber *fiber);

/* Chaos: waits until something has changed in the sim. */
void sim_wait_for_change(struct sim *sim);

/* The simulation whose fibers are interrupted anywhere, as tests/sim/preempt.c has it: after
 * `until_preempted` more of the running one's steps it is paused. */
extern _Thread_local struct sim *sim_running;
void sim_preempt(struct sim *sim);

void sim_poll(struct loco_link *link);

static inline struct sim_peer *sim_peer_of(const struct sim_node *n, uint32_t peer)
{
    return loco_by_node_find(&n->peers, peer);
}

/* The fabric's, in sim_peers.c. */
int sim_node_open(struct loco_fabric *fabric, uint32_t id, uint32_t count,
                  struct loco_secret secret, const struct loco_events *events,
                  struct loco_node **node);
void sim_node_close(struct loco_node *node);
int sim_meet(struct loco_node *node, uint32_t peer);
int sim_send(struct loco_node *node, uint32_t peer, const void *message, size_t size);

/* The news have come to their node, which takes them over. */
void sim_news_come(struct news *news);

/* Whether the link's operations still have an effect at the peer; and here. */
static inline bool sim_reaches(const struct sim_link *l)
{
    return !l->severed && !l->peer->closed;
}

static inline bool sim_hears(const struct sim_link *l)
{
    return !l->deaf && !l->node->closed;
}

/* Lets the node's waiting fibers look again: something of theirs may have changed. */
void sim_wake(struct sim_node *node);

/* What an operation does at its target, all at once. */
void sim_execute(struct operation *operation);

struct operation *sim_operation_new(struct sim *sim, size_t size);
void sim_operation_free(struct sim *sim, struct operation *operation);

/* Behind the newest of its link. */
static inline void sim_append(struct sim_link *l, struct operation *o)
{
    o->next = NULL;
    if (l->oldest)
        l->newest->next = o;
    else
        l->oldest = o;
    l->newest = o;
}

#endif
