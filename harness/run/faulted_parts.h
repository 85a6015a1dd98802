/* Faults on components: on their inputs, outputs and parameters. */
#ifndef HIL_FAULTED_PARTS_H
#define HIL_FAULTED_PARTS_H

#include "faults.h"
#include "step_parts.h"

/* Replaces the model of each part that faults act on by a wrapper. Returns 0 or -ENOMEM. */
int hil_faulted_parts_open(struct hil_faults *faults);
void hil_faulted_parts_close(struct hil_faults *faults);
void hil_faulted_parts_begin(struct hil_faults *faults);

/* Call when outputs with a computation delay take effect. */
void hil_faulted_parts_release(struct hil_faults *faults);

/* Call before a step is recorded. Applies the faults to all inputs that no model has taken in this
 * step, so that a row has an input with and without its faults at the same time. Continuous
 * components advance in the next step with what was found here. */
void hil_faulted_parts_look(struct hil_faults *faults);

/* Called before the first step: applies the faults to the initial outputs of continuous
 * components. */
void hil_faulted_parts_first(struct hil_faults *faults);

#endif
