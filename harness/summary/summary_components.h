/* Components of models that a provider made: what their steps cost, and which are not for hard real
 * time. */
#ifndef HIL_SUMMARY_COMPONENTS_H
#define HIL_SUMMARY_COMPONENTS_H

#include <jansson.h>

#include "../scenario/system.h"
#include "summary.h"

/* Adds "components", a list. */
void hil_summary_add_components(const struct hil_summary *summary, json_t *root);

void hil_summary_print_components(const struct hil_summary *summary, FILE *to);

/* A line for each entry of components: that has such models, with `prefix` before it. */
void hil_components_print_not_real_time(const struct hil_system *system, const char *prefix,
                                        FILE *to);

#endif
