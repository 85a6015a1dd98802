/*
 * The faults of a scenario at one node: when each is on, and what it does. A node without faults
 * has none of this, and its step costs nothing extra.
 *
 * Faults of signals and parameters: a wrapper replaces the model of a component that a fault acts
 * on. It calls the model with faulted inputs, and then adds the faults of outputs, so the step
 * knows nothing of it. Faults of nodes: hil_faults_run replaces the loop's step. Faults of links:
 * the sender holds a message back, or sends an older one (fault_links.h).
 *
 * A fault is on in the steps that are due from its beginning until its end. These are the same
 * steps in every run, in virtual time and against the clock.
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
    unsigned number; /* among the system's faults_here */
    bool on, before; /* in this step, and in the node's step before it */
    bool begins;     /* begin_ns is known */
    uint64_t begin_ns;
    const double *level; /* the signal that it waits for; NULL: none */
};

struct hil_faults {
    struct hil_step *step;
    struct hil_fault_now *now;
    unsigned count;
    uint64_t n, due;     /* this step, and when it is due */
    uint64_t busy_until; /* in virtual time: until when a slow node is busy */
    bool stepped;        /* the node has done a step */
    bool away, returns;  /* in virtual time: it has crashed; it is connecting again */
    struct hil_faulted_part *parts;
    unsigned part_count;
    struct hil_faulted_link *links;
    unsigned link_count;
};

/* Sets step->faults, if the node has faults. Returns 0 or a negative errno. In both cases
 * hil_faults_close frees what was made. */
int hil_faults_open(struct hil_step *step);
void hil_faults_close(struct hil_step *step);

/* Forgets the past. Call after the components were made anew. */
void hil_faults_begin(struct hil_step *step);

/* In a process that was started again: waits for as long as its nodes are to be away. */
void hil_faults_stay_away(const struct hil_run *run, const struct hil_executor_config *nodes);

/* Replaces hil_step_run. */
int hil_faults_run(void *node, uint64_t n, uint64_t now_ns);

#endif
