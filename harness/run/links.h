/*
 * The channel between the nodes of a scenario (the power_controller of the paper's appendix
 * "Distributed DC/DC Converter System", for any nodes): a link is an owned_var of all the signals
 * that go from one node to another.
 *
 *      node 0  --0-3-->  node 3      the sender's owned_var "0-3", pushed in each of its steps
 *      node 0  <--3-0--  node 3
 *
 * Beside them a star around node 0: an SST in which each node says how it is (live.h), and a
 * barrier for a common start. A node that restarts is taken back, but for the barrier: it learns of
 * the start from node 0's row, so it asks for that before it adds the barrier. So a step costs the
 * same however many nodes there are.
 *
 * A message has the sender's step number, and the newest step of the receiver that the sender had
 * acted on. So every node knows how old its inputs are, and the round trip to who answers, without
 * synchronised clocks: all loops count their steps from the common start, which each puts on its
 * own clock.
 *
 * One thread of each node, or each of its shards the links that it has (shards.h).
 */
#ifndef HIL_LINKS_H
#define HIL_LINKS_H

#include "../../channels/loco/loco.h"
#include "../scenario/system.h"
#include "live.h"
#include "tuning_vars.h"

/* Crosses the network. Steps are numbered from 1; 0 says that nothing came yet. */
struct hil_message {
    uint64_t step;
    uint64_t acted_on; /* the receiver's step that was taken into account; 0: none */
    double values[];   /* as many as the link has */
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
    struct loco_owned_var *out; /* by the node's links */
    struct loco_owned_var *in;  /* by the node's incoming ones */
    struct loco_sst progress;
    struct loco_barrier barrier;
    struct hil_tuning_vars tuning;
    _Atomic bool lost;                         /* a member was, at some time */
    _Atomic bool disagrees;                    /* a member has another scenario */
    char disagreement[HIL_DISAGREEMENT_BYTES]; /* how the first one's differs; once `disagrees` */
};

/* The network memory that the endpoint of node `node` takes, in bytes. */
size_t hil_links_arena_size(const struct hil_system *system, unsigned node);

/* Constructs and joins this node's endpoint, called "links", for nodes with the same listing of
 * their scenario. Errors as of loco_channel_init. */
int hil_links_init(struct hil_links *links, struct loco_manager *manager,
                   const struct hil_scenario *scenario);

/* Adds the barrier, for who is there from the start. */
int hil_links_add_barrier(struct hil_links *links);

/* Says how two lines of a listing differ: "controller.period_us is 40 here and 50 there". */
void hil_links_say_difference(const char *here, const char *there, char *text, size_t size);

void hil_links_fini(struct hil_links *links);

#endif
