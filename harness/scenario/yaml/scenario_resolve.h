/*
 * Converts the structures loaded by libcyaml to the scenario that runs.
 */
#ifndef HIL_SCENARIO_RESOLVE_H
#define HIL_SCENARIO_RESOLVE_H

#include "scenario_schema.h"

/* Fills the part about the run: its times, validity, tracing. Reports mistakes. Returns 0 or
 * -ENOMEM. */
int scenario_resolve_run(struct scenario_node *root, const struct scenario_file *file,
                         struct hil_scenario *scenario, struct scenario_report *report);

/*
 * Creates a component to test whether the model accepts this combination of numbers. Returns 0, or
 * a negative errno with the model's reason in `why`.
 */
enum { SCENARIO_REASON_BYTES = 256 };
int scenario_try(const struct hil_model *model, unsigned width, const double *parameters,
                 const double *states, uint64_t period_ns, char why[SCENARIO_REASON_BYTES]);

#endif
