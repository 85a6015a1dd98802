/* The part of the summary about inputs with an age limit. */
#ifndef HIL_SUMMARY_AGES_H
#define HIL_SUMMARY_AGES_H

#include <jansson.h>
#include <stdio.h>

#include "summary.h"

void hil_summary_add_ages(const struct hil_summary *summary, json_t *root);
void hil_summary_print_ages(const struct hil_summary *summary, FILE *to);

#endif
