/*
 * The step of a node: advance what is continuous, send, take what has come, compute what is
 * sampled, send, latch (plants/model.h has the order).
 *
 * All the numbers of a node lie in one array: inputs and outputs of its components, what came over
 * its links, and the values of its sources. A step moves them by index, and asks for nothing by
 * name; which index is what is found out once, by hil_step_open.
 *
 * What a component sends with a value that is no number is not used: what it sent last holds, and
 * what others send in the same message goes on. What comes from a node that died is what the inputs
 * began with, and a sampled component that takes it rests, so that nothing winds up against what
 * cannot answer. A component rests as well, and its safe values are used, when its input is stale
 * with on_stale_input: safe, or was not used bad_inputs_limit times in a row; and one that has
 * failed rests for good.
 */
#ifndef HIL_STEP_H
#define HIL_STEP_H

#include "links.h"
#include "state.h"

struct hil_node;
struct hil_step;

/* Makes the node's components, and what their steps need. Returns 0 or a negative errno; the rest
 * is for hil_step_close in either case, which takes NULL. */
int hil_step_open(struct hil_step **step, struct hil_node *node);
void hil_step_close(struct hil_step *step);

/* Counts from now on in the state of the node's run. */
void hil_step_count_in_run(struct hil_step *step);

/* Whether steps may be made that are then undone: not where that takes longer than there is time,
 * as to start a program, or moves what is outside, as a device, or may crash. */
bool hil_step_may_rehearse(const struct hil_step *step);

/* Makes all as it is before the first step, again. Returns 0 or a negative errno. */
int hil_step_begin(struct hil_step *step);

/* Ends the components that are hardware: no step comes any more. */
void hil_step_leave_hardware(struct hil_step *step);

/* Does step n, which begins at `now_ns` after the start; `node` is a struct hil_node. 0, or a
 * negative errno that ends the run. */
int hil_step_run(void *node, uint64_t n, uint64_t now_ns);

/* In place of step n of a node that stands still: nothing moves, and that is recorded. Its peers
 * and who watches hear nothing of it. */
void hil_step_stand(void *node, uint64_t n, uint64_t now_ns);

#endif
