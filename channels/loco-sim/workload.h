/*
 * A workload: what some threads do to one channel, on the simulator under chaos, with every
 * operation recorded; and the model that must explain the history.
 *
 * The channel under it is the production code; with every fourth seed its completions come from
 * a polling thread, else they are looked for inline. The same seed gives the same run; a failing
 * one prints itself and the smallest failing part of its history that the shrinker finds.
 *
 * This folder is a library of its own, loco-sim, for the test programs of who writes channels:
 * docs/writing-a-channel.md builds one. It is C only, and its names have no prefix.
 */
#ifndef LOCO_SIM_WORKLOAD_H
#define LOCO_SIM_WORKLOAD_H

#include "../loco/loco.h"
#include "linear.h"

/* One thread of one node. */
struct actor {
    struct loco_manager *mgr;
    struct history *history;
    void *object;         /* the node's endpoint, shared by the node's actors */
    uint32_t node, index; /* among all actors */
    uint64_t random;
    _Atomic uint32_t *acting; /* all actors at first; who is waited for takes itself off */
    int *failures;            /* counted by EXPECT */
    const bool *crashed;      /* its node was: what it did last may not have happened */
    unsigned life;            /* of its node */
};

struct workload {
    const char *name;
    uint32_t nodes, threads; /* threads of each node */
    struct model (*model)(void);
    size_t object_size;
    /* At each node: constructs the endpoint in zeroed memory, and ends it. */
    int (*open)(struct loco_manager *mgr, void *object);
    void (*close)(void *object);
    void (*act)(struct actor *actor);
    unsigned crashes; /* of the last node, while it acts; it starts, opens and acts again */
    bool dies;        /* the last node, while it acts, and does not start again */
    unsigned weight;  /* one seed of it takes as long as so many of others; 0: as one */

    int (*run)(uint64_t seed); /* instead of all the above: returns the failures */
};

/* Something that must hold, whatever the history says. */
#define EXPECT(actor, condition)                                                                   \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            (*(actor)->failures)++;                                                                \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
        }                                                                                          \
    } while (0)

uint64_t actor_draw(struct actor *actor, uint64_t below);

/* Lets others go on for some time, of at most so many ns. */
void actor_dawdle(struct actor *actor, uint64_t most);

/* Runs one seed. Returns 0; or 1 after saying on stderr what went wrong (if `loud`). */
int workload_run(const struct workload *workload, uint64_t seed, enum loco_sim_chaos chaos,
                 bool loud);

/* Runs the seeds from `first` on, until one fails. Returns how many passed. */
uint64_t workload_run_seeds(const struct workload *workload, uint64_t first, uint64_t count,
                            enum loco_sim_chaos chaos, bool loud);

#endif
