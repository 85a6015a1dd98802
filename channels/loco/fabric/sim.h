/*
 * The sim fabric: all nodes in one process, each thread of each node on a fiber, and a
 * virtual clock that advances only when every fiber waits. The code above the fabric is the
 * production code, unchanged.
 *
 *      loco_sim_open  -->  loco_sim_spawn (for each thread)  -->  loco_sim_run
 *
 * Everything happens in the order of virtual time; at the same time in the order of classes,
 * network first; in one class in the order of arrival. What is random is drawn from the
 * seed, for each link on its own: the same seed gives the same run, bit for bit.
 *
 * One open sim belongs to one thread of the process.
 */
#ifndef LOCO_SIM_H
#define LOCO_SIM_H

#include <stdint.h>

#include "../language.h"
#include "fabric.h"

LOCO_DECLARATIONS

/* The order of what happens at the same virtual time. */
enum loco_sim_class {
    LOCO_SIM_NETWORK = 0, /* deliveries */
    LOCO_SIM_FIRST = 1,   /* fibers: loco_sim_sleep's classes, up to LOCO_SIM_WAITS */
    LOCO_SIM_WAITS = 9,   /* fibers in a relax() */
};

/* One direction between two nodes. */
struct loco_sim_link {
    uint64_t latency_ns; /* one way */
    uint64_t jitter_ns;  /* added, uniform in 0..jitter; a link's operations stay in order */
};

/*
 * How much of what RDMA permits happens. Each level adds to the one before; above none the
 * links' latencies do not count, and at every turn chance says who goes on.
 */
enum loco_sim_chaos {
    LOCO_SIM_CALM,     /* nothing but latency and jitter */
    LOCO_SIM_DELAYED,  /* fibers and links go on in any order; completion before placement */
    LOCO_SIM_TORN,     /* the words of one transfer move in any order, one after the other */
    LOCO_SIM_DEFERRED, /* a source that is not inline is read late, a read is overtaken by later
                          writes of its link, answered early or done twice, atomics are not atomic
                          with the CPU's, send queues are full, fibers are interrupted anywhere */
};

struct loco_sim_config {
    uint64_t seed;
    enum loco_sim_chaos chaos;
    uint64_t steps_max; /* of chaos, before the run counts as stuck; 0: 10 million */
    /* The link from one node to another; NULL: no latency anywhere. */
    struct loco_sim_link (*link)(void *arg, uint32_t from, uint32_t to);
    void *arg;
    uint64_t room[4];
};

/* NULL when there is no memory, or the config asks for what this version does not know. */
struct loco_fabric *loco_sim_open(const struct loco_sim_config *config);

/* Adds a thread that begins at the present virtual time. Returns 0 or -ENOMEM. */
int loco_sim_spawn(struct loco_fabric *sim, void (*body)(void *arg), void *arg);

/* Runs until every fiber has ended. Returns 0; -EDEADLK when all of those left wait for what
 * cannot happen any more; or -ETIME when chaos has taken steps_max steps. */
int loco_sim_run(struct loco_fabric *sim);

/* --- from within a fiber --------------------------------------------------------------- */

uint64_t loco_sim_now(const struct loco_fabric *sim); /* ns */

/* Goes on at `time` (or now, where that is past), as one of `order`. */
void loco_sim_sleep(struct loco_fabric *sim, uint64_t time, unsigned order);

/*
 * Node `id` dies: its peers lose it, under chaos each at a time of its own, and what its operations
 * in flight have not done at a peer until then is never done there. What is left of it is closed as
 * ever (_fini, loco_manager_close), without effect on the others; then it may be opened again, as
 * if restarted.
 */
void loco_sim_crash(struct loco_fabric *sim, uint32_t id);

/* The connection of two nodes breaks, for good: each loses the other, under chaos at a time of
 * its own. */
void loco_sim_cut(struct loco_fabric *sim, uint32_t a, uint32_t b);

/* Ends the fabric; no fiber is left, or they are abandoned where they wait. */
void loco_sim_close(struct loco_fabric *sim);

LOCO_DECLARATIONS_END

#endif
