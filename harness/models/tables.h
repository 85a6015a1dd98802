/* What the harness asks of a model's tables. */
#ifndef HIL_TABLES_H
#define HIL_TABLES_H

#include "../../plants/model.h"

/* The row called `name`, or -1. */
int hil_quantity_find(const struct hil_quantities *table, const char *name);

/* Fills values[] with the table's. */
void hil_quantity_values(const struct hil_quantities *table, double *values);

/*
 * Whether the harness can use a model: the version of its interface, its functions and its tables.
 * Returns 0, or -EINVAL after it has written what is wrong to `text`.
 */
int hil_model_check(const struct hil_model *model, char *text, size_t size);

#endif
