/* Faults on components: on their inputs, outputs and parameters. */
#ifndef HIL_FAULTED_PARTS_H
#define HIL_FAULTED_PARTS_H

#include "faults.h"
#include "step_parts.h"

/* Replaces the model of each part that faults act on by a wrapper. Returns 0 or -ENOMEM. */
int hil_faulted_parts_open(struct hil_faults *faults);
void hil_faulted_parts_close(struct hil_faults *faults);
void hil_faulted_parts_begin(struct hil_faults *faults);

/* Called before a step is recorded: applies the faults to inputs of sampled components that are
 * known by then. So a row has such an input with and without its faults at the same time. */
void hil_faulted_parts_look(struct hil_faults *faults);

/* Called before the first step: applies the faults to the initial outputs of continuous
 * components. */
void hil_faulted_parts_first(struct hil_faults *faults);

#endif
