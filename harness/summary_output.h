/*
 * What the output did, and each converter's: of the summary the parts that come from the
 * responses to the run's events. docs/figures.md defines the figures.
 */
#ifndef HIL_SUMMARY_OUTPUT_H
#define HIL_SUMMARY_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

#include "run/state.h"

/* Adds "output", "outputs" and "events" to the summary; null where this run had no controller. */
void hil_summary_add_output(const struct hil_state *state, json_t *summary);

/* The same in some lines for a person. */
void hil_summary_print_output(const struct hil_state *state, FILE *to);

#endif
