/*
 * The step of a node: advance the continuous components, send, receive, compute the sampled
 * components, send, latch (plants/model.h has the order), and then record: a row holds the signals
 * as they are from this step on.
 *
 * All numbers of a node lie in one array: the inputs and outputs of its components, the values that
 * arrived over its links, and the values of its sources. hil_step_open looks the names up once; a
 * step then moves values by index.
 *
 * If a component sends a value that is not a number, the receiver keeps the last values of that
 * component, and still uses the values of other components in the same message. When a node dies,
 * the inputs it fed return to their initial values, and a sampled component that takes them rests,
 * so that no integrator winds up. A component also rests, with its safe values in force, when its
 * input is stale under on_stale_input: safe, or was unusable bad_inputs_limit times in a row. A
 * failed component rests for good.
 */
#ifndef HIL_STEP_H
#define HIL_STEP_H

#include "links.h"
#include "state.h"

struct hil_node;
struct hil_step;
struct hil_traced_step;

/* Bytes that the step of this node takes, with what it works on. The node need not be open. */
size_t hil_step_size(struct hil_node *node);

/* Makes the step in the node's room. hil_step_begin then creates the components. Returns 0 or a
 * negative errno. In both cases hil_step_close frees what was made; it accepts NULL. */
int hil_step_open(struct hil_step **step, struct hil_node *node);
void hil_step_close(struct hil_step *step);

/* From now on, counts go to the state of the node's run. */
void hil_step_count_in_run(struct hil_step *step);

/* Whether rehearsal steps, which are undone later, are allowed. They are not if undoing takes too
 * long (a program must be started again), if they move something outside (a device), or if the
 * component may crash. */
bool hil_step_may_rehearse(const struct hil_step *step);

/* Restores everything to how it is before the first step. Returns 0 or a negative errno. */
int hil_step_begin(struct hil_step *step);

/* Ends the components that are hardware. Call after the last step. */
void hil_step_leave_hardware(struct hil_step *step);

/* Does step n, which begins at `now_ns` after the start; `node` is a struct hil_node. Returns 0, or
 * a negative errno that ends the run. */
int hil_step_run(void *node, uint64_t n, uint64_t now_ns);

/* Adds to the event of the node's step those messages that are newer than at its last event. */
void hil_step_trace_newer(void *node, struct hil_traced_step *to);

/* Replaces step n of a node that stands still: nothing moves, and that is recorded. The step
 * reports nothing to the peers or to programs that watch. */
void hil_step_stand(void *node, uint64_t n, uint64_t now_ns);

#endif
