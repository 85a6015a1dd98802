/*
 * The part of a summary about the measures, which comes from their responses to the run's events.
 * docs/figures.md defines the figures.
 */
#ifndef HIL_SUMMARY_MEASURES_H
#define HIL_SUMMARY_MEASURES_H

#include <jansson.h>
#include <stdio.h>

#include "summary.h"

/* Adds `measures` and `events`; a measure that was computed in another process is null. */
void hil_summary_add_measures(const struct hil_summary *summary, json_t *root);

/* Prints the same as a few lines for a person. */
void hil_summary_print_measures(const struct hil_summary *summary, FILE *to);

#endif
