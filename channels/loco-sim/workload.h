/*
 * A workload: what some threads do to one channel, on the simulator under chaos, with every
 * operation recorded; and the model that must explain the history.
 *
 * The channel under it is the production code; with every fourth seed its completions come from
 * a polling thread, else they are looked for inline. The same seed gives the same run; a failing
 * one prints itself and the smallest failing part of its history that the shrinker finds.
 *
 * This folder is a library of its own, loco-sim, for the test programs of those who write channels:
 * docs/writing-a-channel.md builds one. It is C only. Its names begin with loco_sim_, as those of
 * the fabric do that it runs on (loco/fabric/sim.h).
 *
 * Threads: one thread of the process runs a workload, and its actors are fibers of that thread.
 */
#ifndef LOCO_SIM_WORKLOAD_H
#define LOCO_SIM_WORKLOAD_H

#include "../loco/loco.h"
#include "linear.h"

enum {
    LOCO_SIM_NODES_MAX = 8,
    LOCO_SIM_ACTORS_MAX = 16, /* of all nodes */
    LOCO_SIM_OPS_MAX = 512,   /* recorded in one run; with more of them it fails */
};

/* One thread of one node. */
struct loco_sim_actor {
    struct loco_manager *mgr;         /* the node's; the thread is attached */
    struct loco_sim_history *history; /* of all actors: where operations are recorded */
    void *object;                     /* the node's endpoint, shared by the node's actors */
    uint32_t node, index;             /* its node; and which of all actors it is, both from 0 */
    uint64_t random;                  /* the state of loco_sim_actor_draw */
    _Atomic uint32_t *acting;         /* how many actors act still: at first all. One that is waited
                                         for takes itself off, and is not counted again */
    int *failures;                    /* counted by LOCO_SIM_EXPECT */
    const bool *crashed; /* whether its node did: what it did last may not have happened */
    unsigned life;       /* how often its node was restarted */
};

struct loco_sim_workload {
    const char *name;
    uint32_t nodes, threads; /* threads of each node, from 1 */
    struct loco_sim_model (*model)(void);
    size_t object_size; /* of the endpoint, bytes */
    /* At each node: constructs the endpoint in zeroed memory, which returns 0 or a negative errno;
     * and ends it. */
    int (*open)(struct loco_manager *mgr, void *object);
    void (*close)(void *object);
    /* What each actor does, once every node is ready. Its waits go through loco_relax. */
    void (*act)(struct loco_sim_actor *actor);
    unsigned crashes;   /* of the last node, while it acts; it starts, opens and acts again */
    bool dies;          /* the last node, while it acts, and does not start again */
    uint64_t within_ns; /* after setup it crashes, or dies; 0: 3,000 */
    unsigned weight;    /* one seed of it takes as long as so many of others; 0: as one */

    int (*run)(uint64_t seed); /* instead of all the above: returns the failures */
};

/* Something that must hold, whatever the history says; else it is printed, and the run fails. */
#define LOCO_SIM_EXPECT(actor, condition)                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (*(actor)->failures)++;                                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
        }                                                                                          \
    } while (0)

/* A number from 0 to below - 1, of the actor's own sequence; `below` is above 0. */
uint64_t loco_sim_actor_draw(struct loco_sim_actor *actor, uint64_t below);

/* Lets others go on for some time, of at most `most` ns (above 0) of virtual time. */
void loco_sim_actor_dawdle(struct loco_sim_actor *actor, uint64_t most);

/*
 * Runs one seed. Returns 0; or 1 when something expected did not hold, when the model does not
 * explain the history, when all threads wait for ever or the run does not end, or when the workload
 * has too many nodes, threads or operations. If `loud`, stderr says which, with the seed.
 */
int loco_sim_workload_run(const struct loco_sim_workload *workload, uint64_t seed,
                          enum loco_sim_chaos chaos, bool loud);

/* Runs `count` seeds from `first` on, until one fails. Returns how many passed. */
uint64_t loco_sim_workload_run_seeds(const struct loco_sim_workload *workload, uint64_t first,
                                     uint64_t count, enum loco_sim_chaos chaos, bool loud);

#endif
