/*
 * Node 0's coordinator for tuning requests. It takes up one request at a time, tells the nodes that
 * the request concerns, gathers their answers, and logs the outcome. In each step it deals with a
 * few nodes only, so the length of a step does not depend on how many there are.
 */
#ifndef HIL_TUNING_COORDINATOR_H
#define HIL_TUNING_COORDINATOR_H

#include "tuning_vars.h"

struct hil_node;
struct hil_tuning_coordinator;

/* Returns 0 or -ENOMEM. */
int hil_tuning_coordinator_open(struct hil_tuning_coordinator **coordinator, struct hil_node *node);
void hil_tuning_coordinator_close(struct hil_tuning_coordinator *coordinator);

/* Does the coordinator's work in step n. Returns true if *own is now a request that concerns node 0
 * itself. */
bool hil_tuning_coordinator_step(struct hil_tuning_coordinator *coordinator, uint64_t n,
                                 uint64_t now_ns, struct hil_tuning_message *own);

/* Whether the coordinator has work in the next step even without a new request of the launcher.
 * Sets *asked to the launcher's newest request that the coordinator has taken up. */
bool hil_tuning_coordinator_is_busy(const struct hil_tuning_coordinator *coordinator,
                                    uint64_t *asked);

/* How long the coordinator takes to tell all nodes, or to ask them all. */
uint64_t hil_tuning_coordinator_round_ns(const struct hil_scenario *scenario);

/* Hands in a node's answer. Node 0 hands in its own. */
void hil_tuning_coordinator_answer(struct hil_tuning_coordinator *coordinator, unsigned node,
                                   const struct hil_tuning_answer *answer);

#endif
