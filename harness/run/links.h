/*
 * The channel between the nodes of a scenario (the power_controller of the paper's appendix
 * "Distributed DC/DC Converter System", for any kind of node). A link is an owned_var of all the
 * signals that go from one node to another.
 *
 *      node 0  --0-3-->  node 3      the sender's owned_var "0-3", pushed in each of its steps
 *      node 0  <--3-0--  node 3
 *
 * In addition there is a star around node 0: an SST in which each node publishes its state
 * (live.h), and a barrier for a common start. Because of the star, the cost of a step does not
 * depend on the number of nodes. A node that restarts is taken back by all of these but the
 * barrier: it learns the start from node 0's row. So a node asks for that row before it adds the
 * barrier.
 *
 * A message has the sender's step number, and the newest step of the receiver that the sender had
 * acted on. From these each node knows the age of its inputs and the round trip to a node that
 * answers, without synchronised clocks: all loops count their steps from the common start, and each
 * node knows that start on its own clock.
 *
 * Used by one thread of each node; if the node has shards, each shard's thread uses the shard's own
 * links (shards.h).
 */
#ifndef HIL_LINKS_H
#define HIL_LINKS_H

#include "../../channels/loco/loco.h"
#include "../scenario/system.h"
#include "live.h"
#include "tuning_vars.h"

/* Crosses the network. Steps are numbered from 1; step 0 means that nothing has come yet. */
struct hil_message {
    uint64_t step;
    uint64_t acted_on; /* the receiver's newest step taken into account; 0: none */
    double values[];   /* one for each signal of the link */
};

_Static_assert(sizeof(struct hil_message) == 16, "crosses the network");

static inline size_t hil_message_size(const struct hil_link *link)
{
    return sizeof(struct hil_message) + link->count * sizeof(double);
}

enum { HIL_DISAGREEMENT_BYTES = 384 };

struct hil_links {
    struct loco_channel channel;
    const struct hil_system *system;
    const struct hil_node_config *node;
    uint32_t *members, *star; /* of the channel; of the SST and the barrier */
    unsigned member_count, star_count;
    struct loco_owned_var *out; /* in the order of the node's links */
    struct loco_owned_var *in;  /* in the order of its incoming links */
    struct loco_sst progress;
    struct loco_barrier barrier;
    struct hil_tuning_vars tuning;
    _Atomic bool lost;                         /* a member was lost at some time */
    _Atomic bool disagrees;                    /* a member has another scenario */
    char disagreement[HIL_DISAGREEMENT_BYTES]; /* how the first one differs; set first */
};

/* Bytes of network memory that the endpoint of node `node` takes. */
size_t hil_links_arena_size(const struct hil_system *system, unsigned node);

/* Constructs and joins this node's endpoint, named "links". It joins only nodes whose scenario has
 * the same listing. Errors as of loco_channel_init. */
int hil_links_init(struct hil_links *links, struct loco_manager *manager,
                   const struct hil_scenario *scenario);

/* Adds the barrier. Only nodes that are there from the start do this. */
int hil_links_add_barrier(struct hil_links *links);

/* Describes how two lines of a listing differ: "nodes.controller.period_us is 40 here and 50
 * there". */
void hil_links_say_difference(const char *here, const char *there, char *text, size_t size);

void hil_links_fini(struct hil_links *links);

#endif
