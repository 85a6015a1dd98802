/*
 * The sim fabric: all nodes are in one process, each thread of each node runs on a fiber, and a
 * virtual clock advances only when every fiber waits. The code above the fabric is the production
 * code, unchanged.
 *
 *      loco_sim_open  -->  loco_sim_spawn (for each thread)  -->  loco_sim_run
 *
 * Events happen in the order of virtual time. Events of the same time happen in the order of their
 * classes, network first; those of one class in the order of their arrival. Random numbers are
 * drawn from the seed, for each link separately: the same seed gives the same run, bit for bit.
 *
 * Threads: one thread of the process uses an open sim.
 */
#ifndef LOCO_SIM_H
#define LOCO_SIM_H

#include <stdint.h>

#include "fabric.h"
#include "language.h"

LOCO_DECLARATIONS

/* The classes of events, which order those of the same virtual time. */
enum loco_sim_class {
    LOCO_SIM_NETWORK = 0, /* deliveries */
    LOCO_SIM_FIRST = 1,   /* fibers in loco_sim_sleep: from here to below LOCO_SIM_WAITS */
    LOCO_SIM_WAITS = 9,   /* fibers in a relax() */
};

/* The way from one node to another. */
struct loco_sim_link {
    uint64_t latency_ns; /* one way */
    uint64_t jitter_ns;  /* added, uniform in 0..jitter_ns; a link's operations stay in order */
};

/*
 * How much the network misbehaves, within what RDMA permits. Each level adds to the one before. On
 * all levels but LOCO_SIM_CALM latencies are ignored, and at every turn chance decides which fiber
 * or link goes on.
 */
enum loco_sim_chaos {
    LOCO_SIM_CALM,     /* only latency and jitter */
    LOCO_SIM_DELAYED,  /* fibers and links go on in any order; completion comes before placement */
    LOCO_SIM_TORN,     /* the words of one transfer move one by one, in any order */
    LOCO_SIM_DEFERRED, /* sources that are not inline are read late, even while the write is placed;
                          reads are overtaken by later writes of their link, answered early, or
                          done twice; atomics are not atomic with the CPU's, and placed after they
                          are done; send queues are full; fibers are interrupted anywhere, and
                          their stores wait in buffers */
};

struct loco_sim_config {
    uint64_t seed;
    enum loco_sim_chaos chaos;
    uint64_t steps_max; /* a run under chaos counts as stuck after so many steps; 0: 10 million */
    /* Returns the way from one node to another; NULL: there is no latency anywhere. */
    struct loco_sim_link (*link)(void *arg, uint32_t from, uint32_t to);
    void *arg;
    uint64_t room[4];
};

/* Returns a new fabric; NULL when there is no memory or the config's room is not zero. */
struct loco_fabric *loco_sim_open(const struct loco_sim_config *config);

/* Adds a fiber that begins at the present virtual time. Returns 0 or -ENOMEM. */
int loco_sim_spawn(struct loco_fabric *sim, void (*body)(void *arg), void *arg);

/* Runs until every fiber has ended. Returns 0; -EDEADLK when all fibers left wait for something
 * that cannot happen any more; or -ETIME after steps_max steps of chaos. */
int loco_sim_run(struct loco_fabric *sim);

/* --- from within a fiber --------------------------------------------------------------- */

/* Returns the virtual time, ns. */
uint64_t loco_sim_now(const struct loco_fabric *sim);

/* Sleeps until virtual time `time`, ns; until now if that is past. `order` is the fiber's class
 * then.
 */
void loco_sim_sleep(struct loco_fabric *sim, uint64_t time, unsigned order);

/*
 * Node `id` dies. Its peers lose it; under chaos, each at a time of its own. Whatever its
 * operations in flight have not done at a peer by then is never done there. The program closes the
 * dead node's channels and manager as usual, which has no effect on the others. Afterwards it may
 * open the node again, as if it had restarted. A node that is not open is left alone, also by
 * loco_sim_cut.
 */
void loco_sim_crash(struct loco_fabric *sim, uint32_t id);

/* The connection of two nodes breaks and does not come back. Each loses the other; under chaos, at
 * a time of its own. */
void loco_sim_cut(struct loco_fabric *sim, uint32_t a, uint32_t b);

/* Ends the fabric. Fibers that have not ended are abandoned where they wait. */
void loco_sim_close(struct loco_fabric *sim);

LOCO_DECLARATIONS_END

#endif
