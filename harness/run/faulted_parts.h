/* What faults do to components: to their inputs, outputs and parameters. */
#ifndef HIL_FAULTED_PARTS_H
#define HIL_FAULTED_PARTS_H

#include "faults.h"
#include "step_parts.h"

/* Puts a model of its own in the place of that of each part that faults act on. Returns 0 or
 * -ENOMEM. */
int hil_faulted_parts_open(struct hil_faults *faults);
void hil_faulted_parts_close(struct hil_faults *faults);
void hil_faulted_parts_begin(struct hil_faults *faults);

/* Before a step is recorded: the inputs of sampled components have their faults, where these are
 * known by then, so that a row has an input with its faults and without them at one time. */
void hil_faulted_parts_look(struct hil_faults *faults);

/* Before the first step, what continuous components begin with has its faults. */
void hil_faulted_parts_first(struct hil_faults *faults);

#endif
