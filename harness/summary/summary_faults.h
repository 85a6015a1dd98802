/* The faults of the scenario, with the times when they actually began and ended. */
#ifndef HIL_SUMMARY_FAULTS_H
#define HIL_SUMMARY_FAULTS_H

#include <jansson.h>

#include "summary.h"

/* Adds a list, `faults`, in the order of the file. */
void hil_summary_add_faults(const struct hil_summary *summary, json_t *root);

/* Prints a line for each fault. */
void hil_summary_print_faults(const struct hil_summary *summary, FILE *to);

#endif
