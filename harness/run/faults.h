/*
 * The faults of a scenario at one node: when each is on, and what it then does. A node without any
 * has none of this, and its step is as short as ever.
 *
 * Signals and parameters: a component that a fault acts on has, in place of its model, one of this
 * file's, which calls the model with inputs that have the fault, and gives its outputs theirs. So a
 * step knows nothing of it. Nodes: the loop's step is hil_faults_run. Links: the sender keeps a
 * message to itself, or sends an older one (fault_links.h).
 *
 * A fault is on in the steps that are due from its beginning on until it ends: so in the same steps
 * in each run, in virtual time and against the clock.
 */
#ifndef HIL_RUN_FAULTS_H
#define HIL_RUN_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "../scenario/faults.h"

struct hil_step;
struct hil_run;

/* A fault at the node. */
struct hil_fault_now {
    const struct hil_fault *fault;
    const struct hil_fault_here *here;
    unsigned number; /* of the system's faults_here */
    bool on, before; /* in this step, and in the one that the node did before it */
    bool begins;     /* begin_ns is known */
    uint64_t begin_ns;
    const double *level; /* what it waits for */
};

struct hil_faults {
    struct hil_step *step;
    struct hil_fault_now *now;
    unsigned count;
    uint64_t n, n_before;     /* this step, and the one before it */
    uint64_t due, due_before; /* when these were due */
    uint64_t busy_until;      /* of a node that is slow, in virtual time */
    bool stepped;             /* it has done a step */
    bool away, returns;       /* in virtual time it has crashed, and connects again */
    struct hil_faulted_part *parts;
    unsigned part_count;
    struct hil_faulted_link *links;
    unsigned link_count;
};

/* Sets step->faults, where the node has any. Returns 0 or a negative errno; the rest is for
 * hil_faults_close in either case. */
int hil_faults_open(struct hil_step *step);
void hil_faults_close(struct hil_step *step);

/* The components were made anew: what was before is forgotten. */
void hil_faults_begin(struct hil_step *step);

/* Waits, in a process that was started again, for as long as its nodes are to be away. */
void hil_faults_stay_away(const struct hil_run *run, const struct hil_executor_config *nodes);

/* In place of hil_step_run. */
int hil_faults_run(void *node, uint64_t n, uint64_t now_ns);

#endif
