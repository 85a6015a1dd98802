/* Names of rows: an FMU's own, converted to the characters that a scenario's names may have. */
#ifndef HIL_FMU_NAMES_H
#define HIL_FMU_NAMES_H

#include "fmu_tables.h"

enum { FMU_NAME_BYTES = 96, FMU_ELEMENT_BYTES = 64 };

/*
 * Gives names to the rows of tables that share a space of names. Rows that have such a name in the
 * FMU itself come first. If other names are equal, the later rows get the number of their row in
 * their table. `names` is empty; it gets all names, with the rows' numbers over all tables. Returns
 * 0 or -ENOMEM.
 */
int fmu_names_give(struct fmu_table *const *tables, unsigned count, struct hil_names *names,
                   struct hil_pool *pool);

/* The index of an element, from 1: "_1_2", or "[1,2"; "" for a scalar. */
void fmu_element_text(const struct fmu_variable *variable, uint64_t element, const char *begin,
                      const char *between, char text[FMU_ELEMENT_BYTES]);

#endif
