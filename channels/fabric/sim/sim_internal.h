/*
 * Types and functions that the files of the sim fabric share.
 *
 *      sim.c         the fabric: links, operations, arenas
 *      sim_peers.c   how nodes open, meet, send control messages, close and crash
 *      sim_fibers.c  the threads of the simulated nodes
 *      sim_timed.c   physics: an operation takes the time that its link is configured to take
 *      sim_chaos.c   physics: operations do anything that RDMA permits, as it is chosen
 *      sim_steps.c   the same for the steps of an operation
 *      sim_stores.c  the same for the processors' store buffers
 *      sim_choices.c who chooses, and what is usual
 *      sim_explain.c who waits for what in a run that does not end
 *
 * The physics is chosen when the sim is opened.
 */
#ifndef LOCO_SIM_INTERNAL_H
#define LOCO_SIM_INTERNAL_H

#include "../../loco/fabric/by_node.h"
#include "../../loco/fabric/fiber.h"
#include "../../loco/fabric/sim.h"
#include "../../loco/fabric/sim_choices.h"
#include "../../loco/fabric/timeline.h"

/* The kind of a timeline entry. It is the first member of each struct that the timeline holds. */
enum kind { FIBER, ALARM, ARRIVAL, ANSWER, COMPLETION, NEWS };

/* The time at which a fiber's wait ends. */
struct alarm {
    enum kind kind;
    struct sim_fiber *fiber;
};

/* The next event of a link: an arrival at the peer, or a completion here. */
struct link_event {
    enum kind kind;
    struct sim_link *link;
};

/* A store that waits in a processor's buffer. */
struct sim_store {
    unsigned char *to;
    uint64_t value;
    unsigned size;
};

enum { SIM_STORES = 8 };

struct sim_fiber {
    enum kind kind;
    struct sim *sim;
    struct loco_fiber *fiber;
    void (*body)(void *arg);
    void *arg;
    void **context; /* its table of thread contexts, by manager */
    struct sim_fiber *next;
    bool control; /* belongs to a node, not to the program: the run does not wait for its end */

    /* While it waits in relax(): */
    struct sim_node *waiting; /* the node that it waits at; NULL: it does not wait */
    uint64_t wake_at;         /* when the wait ends at the latest */
    uint64_t alarm_at;        /* when its alarm is due; UINT64_MAX: it is not set */
    struct alarm alarm;

    const struct sim_node *node; /* where it waited last; or NULL */
    const char *waits_for;       /* if not for its node: what, and of which fiber */
    const struct sim_fiber *waits_on;
    unsigned number; /* from 1, in the order in which the fibers began */
    bool ended;

    /* Chaos: */
    uint64_t rank;  /* where it usually comes, as loco/fabric/sim_choices.h has it */
    uint64_t rest;  /* its rank while its present wait lasts */
    unsigned place; /* in the sim's crowd, from 1; 0: it sleeps or has ended */
    uint64_t seen;  /* the sim's count of changes when it last looked */
    unsigned stall; /* turns for which it is held back */
    struct sim_store stores[SIM_STORES]; /* a ring */
    unsigned store_first, store_count;
    unsigned store_patience; /* turns until the oldest goes */
};

struct sim_arena {
    unsigned char *base; /* a whole cache line */
    size_t size;
};

/* What a node knows of another. */
struct sim_peer {
    struct sim_node *node;  /* the peer as it was opened last; NULL: it never came up */
    bool asked;             /* this node asked to meet it */
    bool up;                /* it came up and was not lost since */
    uint64_t newest;        /* when its newest news arrive */
    struct sim_link *links; /* to the peer, including closed nodes that had its id */
};

struct sim_node {
    struct loco_node base;
    struct sim *sim;
    struct loco_by_node peers; /* struct sim_peer */
    bool closed;
    bool silent; /* it crashed, and its control messages on the way are lost */
    struct sim_arena *arenas;
    uint32_t arena_count;
    struct sim_link *links;
    struct sim_link *unwatched; /* timed: links that the next wait has to watch */
    unsigned waiting;           /* fibers in relax() */
    struct operation *atomic;   /* chaos: its NIC is between the read and write of this atomic */
    struct sim_node *older;     /* the closed node that had this id before */

    /* Chaos: the fiber that handles its news, and the news that wait. */
    struct sim_fiber *control;
    struct news *news, *newest_news;
};

struct sim_link {
    struct loco_link base;
    struct sim_node *node, *peer;
    struct operation *oldest, *newest; /* not done, in the order of posting */
    bool immediate;                    /* timed: the way there and back takes no time */
    uint64_t flushes;                  /* tickets given */
    uint64_t last;                     /* number of the newest operation */
    uint64_t number;                   /* says its nodes, and which of theirs it is */
    bool deaf;                         /* the node knows that the peer is lost: no answer comes */
    bool severed;                      /* the peer knows that the node is lost: nothing arrives */
    struct sim_link *next;             /* the node's next link */
    struct sim_link *next_to_peer;     /* the node's next link to the same peer */

    /* Timed: */
    struct loco_sim_link there, back;
    uint64_t random;
    uint64_t last_arrival, last_finish;
    struct operation *travelling; /* the oldest operation that has not arrived at the peer */
    struct link_event arrival, completion;
    bool listed; /* its completions are watched, or it is in the node's list `unwatched` */
    struct sim_link *next_unwatched;

    /* Chaos: */
    unsigned active; /* place among the links with operations in flight, from 1; 0: none */
    uint64_t completed, flushes_completed; /* numbers that wait to be polled */
    unsigned queued, depth;                /* operations in the send queue, and its size */
};

enum verb { WRITE, READ, FETCH_ADD, COMPARE_SWAP, FLUSH };

/* The words of a transfer: `moved` of them so far, from the word `first` on, `stride` apart. */
struct transfer {
    unsigned moved, words, first, stride;
};

struct operation {
    enum kind kind;
    enum verb verb;
    struct sim_link *link;
    uint64_t number;       /* or a flush's ticket */
    uint64_t id;           /* chaos: no other operation, and no fiber, has it as a number */
    unsigned char *target; /* in the peer's memory */
    const void *source;    /* of a write, in the poster's memory; NULL once it was read */
    void *result;          /* of a read or atomic, in the poster's memory */
    size_t size;
    uint64_t operand, expected;
    struct operation *next;
    bool arrived, finished; /* arrived at the peer; completed for the poster */

    /* Timed: */
    uint64_t arrives, finishes;
    uint64_t place; /* its arrival's place on the timeline */

    /* Chaos: */
    uint64_t rank;     /* as a fiber's */
    bool executed;     /* its effect at the peer is complete */
    bool streams;      /* the words of a read are answered, of a write placed, as they are read */
    bool again;        /* the read is repeated once, as after a lost answer */
    bool late;         /* the atomic is completed, but its word is not written yet */
    unsigned patience; /* how often it is passed over before its next step */
    struct transfer fetch, apply, answer;

    size_t room;
    unsigned char data[]; /* a write's bytes, a read's result */
};

/* News that a node gets about another. */
enum topic { UP, MESSAGE, LOST, LEFT };

struct news {
    enum kind kind;
    enum topic topic;
    struct sim_node *from, *to;
    struct news *next; /* the next that has arrived and was not handled */
    size_t size;
    unsigned char data[];
};

/* How operations and fibers progress. */
struct sim_physics {
    void (*interrupt)(struct sim *sim); /* may pause the running fiber; or NULL */
    int (*post)(struct sim_link *link, struct operation *operation); /* owns the operation */
    void (*poll)(struct loco_link *link);
    void (*relax)(struct loco_node *node, struct loco_wait *wait);
    void (*sleep)(struct sim *sim, uint64_t time, unsigned class);
    void (*pause)(struct sim_fiber *self); /* runs others until self is next */
};

extern const struct sim_physics sim_timed, sim_chaos;

struct sim {
    struct loco_fabric base;
    struct loco_sim_config config;
    const struct sim_physics *physics;
    uint64_t now;
    struct loco_timeline timeline;
    struct sim_node **nodes;
    uint32_t node_count, open_count;
    uint64_t link_count;
    struct operation *spare;  /* small operations, kept for reuse */
    struct sim_block *blocks; /* memory of the nodes' arenas, newest first */

    struct sim_fiber *fibers; /* all that were ever made */
    unsigned alive;
    struct sim_fiber main; /* loco_sim_run's caller */
    struct sim_fiber *current;
    int result;

    /* Chaos: */
    uint64_t random;
    struct loco_sim_chooser *chooser; /* NULL: the seed chooses */
    uint64_t ranks;                   /* given so far */
    int countdown;                    /* with a chooser, in place of until_preempted */
    bool asks;                        /* somebody chooses, or the schedule is fair */
    bool fair;                        /* from now on */
    bool notes;                       /* the chooser is told what happens */
    bool announced;                   /* accesses to memory are */
    uint64_t operations;              /* posted so far */
    const struct operation *subject;  /* of the choice; NULL: the running fiber, at the address */
    const void *subject_at;
    struct sim_observed *observing; /* after the run: what a fiber looks at */
    uint64_t steps, changes;
    unsigned stores; /* in the buffers of all fibers */
    int until_preempted;
    uint64_t idle_since; /* the count of changes when all fibers began to wait */
    unsigned looks;      /* looks of waiting fibers since then */
    struct sim_link **active;
    unsigned active_count, active_room;
    struct sim_fiber **crowd; /* the fibers that may be chosen */
    unsigned crowd_count, crowd_room, fiber_count;
};

/* The generator splitmix64, which works with any seed. */
static inline uint64_t sim_draw(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void sim_switch(struct sim_fiber *from, struct sim_fiber *to);
void sim_fibers_free(struct sim *sim);

/* A fiber that starts at the present time; NULL when there is no memory. */
struct sim_fiber *sim_spawn(struct sim *sim, void (*body)(void *arg), void *arg, bool control);

/* Chaos: lets the fiber be chosen to run; or no longer, until it is awake again. */
void sim_awake(struct sim_fiber *fiber);
void sim_asleep(struct sim_fiber *fiber);

/* Chaos: waits until something has changed in the sim. `what` and `whom` are for whoever asks what
 * the fiber waits for; `whom` may be NULL. */
void sim_wait_for_change(struct sim *sim, const char *what, const struct sim_fiber *whom);

/* The simulation whose fibers may be interrupted at any memory access. tests/sim/preempt.c counts
 * down `until_preempted` at each access, and at 0 calls sim_preempt, which pauses the fiber. */
extern _Thread_local struct sim *sim_running __attribute__((tls_model("initial-exec")));
void sim_preempt(struct sim *sim, const void *at, size_t size, bool writes);

/* --- choices: sim_choices.c ------------------------------------------------------------------- */

uint64_t sim_ask_now(struct sim *sim, enum loco_choice what, uint64_t bound, uint64_t usual,
                     uint64_t drawn);

/* Whoever chooses says a number below `bound`, if the seed says `drawn`. These three are inline, as
 * a run asks many times in each turn, and mostly the seed chooses. */
static inline uint64_t sim_ask(struct sim *sim, enum loco_choice what, uint64_t bound,
                               uint64_t usual, uint64_t drawn)
{
    return sim->asks ? sim_ask_now(sim, what, bound, usual, drawn) : drawn;
}

static inline uint64_t sim_draw_below(struct sim *sim, uint64_t bound)
{
    return (uint64_t)((unsigned __int128)sim_draw(&sim->random) * bound >> 64);
}

/* The same; the seed's number is drawn. */
static inline uint64_t sim_choose(struct sim *sim, enum loco_choice what, uint64_t bound,
                                  uint64_t usual)
{
    const uint64_t drawn = sim_draw_below(sim, bound);

    return sim_ask(sim, what, bound, usual, drawn);
}

/* Whether something happens that usually does not, and does once in so many times by the seed. */
static inline bool sim_chance(struct sim *sim, enum loco_choice what, uint64_t one_in)
{
    const uint64_t drawn = sim_draw_below(sim, one_in);

    return sim_ask(sim, what, 2, 0, drawn == 0);
}

/* Tells whoever chooses what a fiber or an operation does, if that is asked for. */
static inline void sim_note(struct sim *sim, uint64_t who, enum loco_sim_deed deed, uint64_t what)
{
    if (sim->notes)
        sim->chooser->note(sim->chooser, who, deed, what);
}

/* What is told of besides words, with a number of it. */
#define SIM_A_NODE       (1ull << 60)
#define SIM_AN_EXCLUSION (2ull << 60) /* of the atomics at a node */
#define SIM_A_LINK       (3ull << 60)
#define SIM_A_COMPLETION (4ull << 60) /* of a link */

void sim_note_words(struct sim *sim, uint64_t who, enum loco_sim_deed deed, const void *at,
                    size_t size);

/* `self` pauses, and `next` goes on. */
void sim_note_run(struct sim *sim, const struct sim_fiber *self, const struct sim_fiber *next);

enum sim_band { SIM_LAST, SIM_FIBERS, SIM_OPERATIONS };

/* The next rank of those in the band. */
uint64_t sim_rank(struct sim *sim, enum sim_band band);
bool sim_rank_is_chosen(uint64_t rank);
void sim_put_last(struct sim *sim, uint64_t *rank);

/* Who usually has the turn; nobody when nothing can go on. */
struct sim_turn {
    struct operation *operation;
    struct sim_fiber *fiber;
};

struct sim_turn sim_usual_turn(const struct sim *sim, const void *except);

/* Whether the operation, whose turn it is, or the running fiber, is put last instead. */
bool sim_is_delayed(struct sim *sim, struct operation *operation);
bool sim_is_switched(struct sim *sim, const void *at);

/* The network words that a fiber looks at. */
struct sim_observed {
    const void *word[4];
    unsigned words;
};

void sim_observe(struct sim *sim, const void *at);

/* --- chaos: sim_chaos.c and sim_steps.c ------------------------------------------------------- */

bool sim_may_go_on(const struct sim *sim, const struct sim_fiber *fiber);

/* The operation of the highest rank that can make a step; a patient one only if asked for. */
struct operation *sim_best_operation(const struct sim *sim, const struct operation *except,
                                     bool patient);

/* Lets an operation of one link make a step. */
void sim_step_link(struct sim *sim, const struct operation *usual);

/* Adds the link to those with operations in flight. */
int sim_activate(struct sim *sim, struct sim_link *link);

/* Draws what an operation that is posted will do. */
void sim_draw_course(struct sim *sim, struct operation *operation);

/* Stores into the fiber's buffer. Returns false where the caller has to store now, as the place is
 * not network memory; then the buffer is empty. */
bool sim_store(struct sim_fiber *fiber, void *to, uint64_t value, unsigned size);

/* Loads what the fiber's own buffer has. Returns false where memory has it, for sure from now on;
 * so always if `value` is NULL. */
bool sim_load(struct sim_fiber *fiber, const void *from, uint64_t *value, size_t size);

/* Empties the fiber's buffer. */
void sim_drain(struct sim_fiber *fiber);

/* The same, but others may go on before: it is the last moment at which the stores wait. */
void sim_drain_late(struct sim_fiber *fiber);

/* One turn of all the buffers. */
void sim_let_stores_go(struct sim *sim);

/* Whether the place is in an arena of some node. */
bool sim_is_network_memory(const struct sim *sim, const void *at);

/* The number of the word at the place; 0: it is in no arena. */
uint64_t sim_number_of_word(const struct sim *sim, const void *at);

void sim_poll(struct loco_link *link);

static inline struct sim_peer *sim_peer_of(const struct sim_node *n, uint32_t peer)
{
    return loco_by_node_find(&n->peers, peer);
}

/* Functions of the fabric's table, in sim_peers.c. */
int sim_node_open(struct loco_fabric *fabric, uint32_t id, uint32_t count,
                  struct loco_secret secret, const struct loco_events *events,
                  struct loco_node **node);
void sim_node_close(struct loco_node *node);
int sim_meet(struct loco_node *node, uint32_t peer);
int sim_send(struct loco_node *node, uint32_t peer, const void *message, size_t size);

/* Delivers news to their node, which owns them from now on. */
void sim_news_come(struct news *news);

/* Whether the link's operations still take effect at the peer. */
static inline bool sim_reaches(const struct sim_link *l)
{
    return !l->severed && !l->peer->closed;
}

/* Whether the link's operations still complete at its node. */
static inline bool sim_hears(const struct sim_link *l)
{
    return !l->deaf && !l->node->closed;
}

/* Lets the node's waiting fibers check again what they wait for, as it may have changed. */
void sim_wake(struct sim_node *node);

/* Chaos: writes the word of an atomic that has read it. */
void sim_end_atomic(struct operation *operation);

/* Executes the operation at its target, in one step. */
void sim_execute(struct operation *operation);

void sim_operation_free(struct sim *sim, struct operation *operation);

/* Adds the operation to the end of its link's list. */
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
