/*
 * The owned_vars that tuning uses: three between node 0 and each other node that can be tuned.
 *
 *      node 0  --"tune-3"-->   node 3      the newest request, a hil_tuning_message
 *      node 0  --"notice-3"-->   node 3      its number, one word: all that a step looks at
 *      node 0  <--"tuned-3"--  node 3      the outcome, a hil_tuning_answer
 *
 * Node 0 needs none to tune itself.
 */
#ifndef HIL_TUNING_VARS_H
#define HIL_TUNING_VARS_H

#include "../../channels/loco/loco.h"
#include "tuning.h"

struct hil_tuning_var {
    struct loco_owned_var request, notice, answer;
};

struct hil_tuning_vars {
    struct hil_tuning_var *at; /* at node 0: by node; at other nodes: a single one */
    unsigned count;
};

/* Makes the owned_vars as parts of the channel `parent`; none if the node cannot be tuned. Errors
 * as of loco_owned_var_init. */
int hil_tuning_vars_init(struct hil_tuning_vars *vars, struct loco_channel *parent,
                         const struct hil_system *system);
void hil_tuning_vars_fini(struct hil_tuning_vars *vars);

/* Bytes of network memory that a node's owned_vars for tuning take. */
size_t hil_tuning_vars_size(const struct hil_system *system, unsigned node);

#endif
