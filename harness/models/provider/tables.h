/* Operations on a model's tables for the harness. */
#ifndef HIL_TABLES_H
#define HIL_TABLES_H

#include "../../../plants/model.h"

/* The row called `name`, or -1. */
int hil_quantity_find(const struct hil_quantities *table, const char *name);

/*
 * Checks that the harness can use a model: its interface version, functions and tables. Returns 0,
 * or -EINVAL with a message in `text`.
 */
int hil_model_check(const struct hil_model *model, char *text, size_t size);

#endif
