/*
 * A group: the nodes that one thread serves, taken through a run's stages together.
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
    bool began; /* all have met */
    struct hil_poller poller;
    struct hil_crew *crew; /* NULL: its thread is alone */
};

/* How long a meeting of all the nodes takes at most in the network that virtual time simulates; 0
 * in real time. A node that comes to a meeting fences first, which takes a round trip, and the
 * nodes of a group come one after the other. */
uint64_t hil_group_meeting_ns(const struct hil_scenario *scenario);

/* Opens the nodes, one at least, connects them, and meets all the
 * others for a common start; or finds that the run has started without them. Returns 0 with every
 * node's start_ns set, or a negative errno. The group is to be closed in either case. */
int hil_group_start(struct hil_group *group, const struct hil_run *run, struct loco_fabric *fabric,
                    const struct hil_executor_config *nodes, uint64_t timeout_ns);

/* Says in the executor's message whom `rc`, which ended the group's start or its loops, is about:
 * a node with another scenario, or one that was lost. */
void hil_group_explain(const struct hil_group *group, int rc);

/* Right after the loops: the group's thread is alone again. */
void hil_group_dismiss_crew(struct hil_group *group);

/* After the loops: tells the peers how it ended, and waits until they have ended too. */
void hil_group_end(struct hil_group *group, enum hil_stage stage);

void hil_group_close(struct hil_group *group);

#endif
