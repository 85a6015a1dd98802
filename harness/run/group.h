/*
 * A group: the nodes that one thread serves. They go through the stages of a run together.
 */
#ifndef HIL_GROUP_H
#define HIL_GROUP_H

#include "crew.h"
#include "node.h"
#include "poller.h"

struct hil_group {
    const struct hil_run *run;
    struct hil_node **nodes;
    unsigned count;
    bool began; /* the run has begun */
    struct hil_poller poller;
    struct hil_crew *crew; /* NULL: the thread has no helpers */
};

/* An upper bound for a meeting of all nodes in the network that virtual time simulates; 0 in real
 * time. A node that comes to a meeting fences first, which takes a round trip, and the nodes of a
 * group come one after another. */
uint64_t hil_group_meeting_ns(const struct hil_scenario *scenario);

/* Opens at least one node, connects the nodes, and meets all others for a common start; or finds
 * that the run has started without them. Returns 0 with every node's start_ns set, or a negative
 * errno. In both cases the caller closes the group. */
int hil_group_start(struct hil_group *group, const struct hil_run *run, struct loco_fabric *fabric,
                    const struct hil_executor_config *nodes, uint64_t timeout_ns);

/* Writes to the executor's message which node `rc` is about: one with another scenario, or one that
 * was lost. `rc` is the error that ended the group's start or its loops. */
void hil_group_explain(const struct hil_group *group, int rc);

/* Ends the helping threads. Call right after the loops. */
void hil_group_dismiss_crew(struct hil_group *group);

/* Call after the loops have ended in order. If they were stopped, returns -ECONNRESET if a peer
 * that another launcher started died, or left by itself; waits a moment for a signal that explains
 * why it left. Else returns 0. */
int hil_group_losses(const struct hil_group *group);

/* Call after the loops: tells the peers how the group ended, and waits until they have ended
 * too. */
void hil_group_end(struct hil_group *group, enum hil_stage stage);

void hil_group_close(struct hil_group *group);

#endif
