/*
 * Where requests come in: node 0's. It takes up one at a time, tells the nodes that it concerns,
 * gathers their answers, and writes down what became of it. A few nodes in each step, so that a
 * step takes no longer however many there are.
 */
#ifndef HIL_TUNING_DESK_H
#define HIL_TUNING_DESK_H

#include "tuning_vars.h"

struct hil_node;
struct hil_tuning_desk;

/* Returns 0 or -ENOMEM. */
int hil_tuning_desk_open(struct hil_tuning_desk **desk, struct hil_node *node);
void hil_tuning_desk_close(struct hil_tuning_desk *desk);

/* In step n. True: *own is a request that concerns node 0 itself. */
bool hil_tuning_desk_step(struct hil_tuning_desk *desk, uint64_t n, uint64_t now_ns,
                          struct hil_tuning_message *own);

/* Whether it is to look at the next step, whatever the launcher asks; *asked is the newest request
 * of the launcher's that it has taken up. */
bool hil_tuning_desk_is_busy(const struct hil_tuning_desk *desk, uint64_t *asked);

/* A node's answer; node 0 gives its own. */
void hil_tuning_desk_answer(struct hil_tuning_desk *desk, unsigned node,
                            const struct hil_tuning_answer *answer);

#endif
