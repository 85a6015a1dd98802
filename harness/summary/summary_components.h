/* Components of models from providers: the cost of their steps, and which of them are not for hard
 * real time. */
#ifndef HIL_SUMMARY_COMPONENTS_H
#define HIL_SUMMARY_COMPONENTS_H

#include <jansson.h>

#include "../scenario/system.h"
#include "summary.h"

/* Adds "components", a list. */
void hil_summary_add_components(const struct hil_summary *summary, json_t *root);

void hil_summary_print_components(const struct hil_summary *summary, FILE *to);

/* Prints a line with `prefix` in front for each entry of components: with such models. */
void hil_components_print_not_real_time(const struct hil_system *system, const char *prefix,
                                        FILE *to);

#endif
