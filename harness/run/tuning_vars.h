/*
 * The owned_vars by which nodes are tuned: of each node that has something to be tuned three,
 * between it and node 0.
 *
 *      node 0  --"tune-3"-->   node 3      the newest request, a hil_tuning_message
 *      node 0  --"bell-3"-->   node 3      its number, a word: all that a step looks at
 *      node 0  <--"tuned-3"--  node 3      what became of it, a hil_tuning_answer
 *
 * Node 0 tells itself without any.
 */
#ifndef HIL_TUNING_VARS_H
#define HIL_TUNING_VARS_H

#include "../../channels/loco/loco.h"
#include "tuning.h"

struct hil_tuning_var {
    struct loco_owned_var request, bell, answer;
};

struct hil_tuning_vars {
    struct hil_tuning_var *at; /* node 0's: by node; another's: one */
    unsigned count;
};

/* As parts of the channel `parent`. Where the node has none, nothing. Errors as of
 * loco_owned_var_init. */
int hil_tuning_vars_init(struct hil_tuning_vars *vars, struct loco_channel *parent,
                         const struct hil_system *system);
void hil_tuning_vars_fini(struct hil_tuning_vars *vars);

/* The network memory that those of a node take. */
size_t hil_tuning_vars_size(const struct hil_system *system, unsigned node);

#endif
