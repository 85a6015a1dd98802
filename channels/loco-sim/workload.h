/*
 * A workload: what some threads, its actors, do to one channel on the simulator under chaos. Every
 * operation is recorded, and a model must explain the history.
 *
 * The channel is the production code. With every fourth seed a polling thread looks for
 * completions; with the others each thread does so inline. The same seed gives the same run. A run
 * that fails prints its seed, and the smallest failing part of its history that the shrinker finds.
 *
 * This folder is a library of its own, loco-sim, for programs that test a channel:
 * docs/writing-a-channel.md builds one. Its names begin with loco_sim_, like those of the fabric
 * that it runs on (loco/fabric/sim.h).
 *
 * The managers of the nodes have arenas of 256 KiB, and 64 mem_refs of 128 bytes for each thread.
 *
 * Threads: one thread of the process runs a workload; the actors are fibers of that thread.
 */
#ifndef LOCO_SIM_WORKLOAD_H
#define LOCO_SIM_WORKLOAD_H

#include "../loco/fabric/sim_choices.h"
#include "../loco/loco.h"
#include "linear.h"

LOCO_DECLARATIONS

enum {
    LOCO_SIM_NODES_MAX = 8,
    LOCO_SIM_ACTORS_MAX = 16, /* of all nodes */
    LOCO_SIM_OPS_MAX = 512,   /* recorded operations of one run; a run with more fails */
};

/* One thread of one node. */
struct loco_sim_actor {
    struct loco_manager *mgr;         /* the node's; the thread is attached */
    struct loco_sim_history *history; /* of all actors: operations are recorded here */
    void *object;                     /* the node's endpoint, shared by the node's actors */
    uint32_t node, index; /* the actor's node, and its number among all actors, from 0 */
    uint64_t random;      /* the state of loco_sim_actor_draw */
    /* At first the number of all actors. Only act() changes it: where others wait for an actor's
     * end, the actor subtracts 1 when it is done. */
    LOCO_ATOMIC(uint32_t) * acting;
    int *failures;       /* counted by LOCO_SIM_EXPECT */
    const bool *crashed; /* its node has crashed: its last operation may not have happened */
    unsigned life;       /* how often its node was restarted */
};

struct loco_sim_workload {
    const char *name;
    uint32_t nodes, threads; /* threads: of each node, at least 1 */
    struct loco_sim_model (*model)(void);
    size_t object_size; /* of the endpoint, bytes */
    /* Called at each node. `open` constructs the endpoint in zeroed memory, and returns 0 or a
     * negative errno. `close` ends it. */
    int (*open)(struct loco_manager *mgr, void *object);
    void (*close)(void *object);
    /* What each actor does, once every node is ready. It must wait by loco_relax only. */
    void (*act)(struct loco_sim_actor *actor);
    unsigned crashes;   /* how often the last node crashes while it acts, restarts and acts again */
    bool dies;          /* the last node dies while it acts, and does not restart */
    bool parts;         /* an actor cuts a connection, which only the simulator can */
    uint64_t within_ns; /* it crashes or dies within this time after setup; 0: 3,000 */
    unsigned weight;    /* a seed takes as long as so many seeds of other workloads; 0: as one */

    int (*run)(uint64_t seed); /* instead of all the above; returns the number of failures */
};

/* Checks something that must hold whatever the history says. If it does not, it is printed, and the
 * run fails. */
#define LOCO_SIM_EXPECT(actor, condition)                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (*(actor)->failures)++;                                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
        }                                                                                          \
    } while (0)

/* Draws a number from 0 to below - 1 from the actor's own sequence. `below` is above 0. */
uint64_t loco_sim_actor_draw(struct loco_sim_actor *actor, uint64_t below);

/* Waits for a random time of at most `most` ns (above 0) of virtual time, so that others go on. */
void loco_sim_actor_dawdle(struct loco_sim_actor *actor, uint64_t most);

/*
 * Runs one seed. Returns 0; or 1 when a LOCO_SIM_EXPECT did not hold, the model does not explain
 * the history, all threads wait without end, the run does not end, or the workload has too many
 * nodes, threads or operations. If `loud`, stderr says which, with the seed. A LOCO_SIM_EXPECT that
 * did not hold, and an endpoint that did not open, are always printed.
 */
int loco_sim_workload_run(const struct loco_sim_workload *workload, uint64_t seed,
                          enum loco_sim_chaos chaos, bool loud);

/* Chooses what happens in a run, in place of the seed. */
struct loco_sim_director {
    struct loco_sim_chooser chooser;
    /* Set by the run: */
    const struct loco_fabric *sim;
    const struct loco_sim_history *history;
    bool acting; /* every node is ready, and some actor acts */
    /* Set before: */
    bool together; /* each actor waits until all nodes are ready */
};

/* The same with a director. */
int loco_sim_workload_run_by(const struct loco_sim_workload *workload, uint64_t seed,
                             enum loco_sim_chaos chaos, bool loud,
                             struct loco_sim_director *director);

/* Runs `count` seeds from `first` on, until one fails. Returns how many passed. */
uint64_t loco_sim_workload_run_seeds(const struct loco_sim_workload *workload, uint64_t first,
                                     uint64_t count, enum loco_sim_chaos chaos, bool loud);

LOCO_DECLARATIONS_END

#endif
