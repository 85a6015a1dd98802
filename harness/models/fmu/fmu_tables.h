/*
 * An FMU's variables as a model's tables. Each number has a row: that of an array, one for each
 * element, x_1, x_2 (and a_1_2). Their names keep to what a scenario may call things: lower-case
 * letters, digits and '_'; what the FMU calls them stands in the explanation.
 */
#ifndef HIL_FMU_TABLES_H
#define HIL_FMU_TABLES_H

#include "../../scenario/pool.h"
#include "fmu_description.h"

/* Variables that are got and set in one call. */
struct fmu_group {
    const struct fmu_variable *first; /* they are of one type */
    const uint32_t *references;
    unsigned reference_count;
    unsigned row; /* of each value, in a row from here */
    unsigned value_count;
};

/* The rows of one table, and the groups that they make: of inputs and outputs neighbours of one
 * type, of parameters and states each variable. */
struct fmu_table {
    struct hil_quantity *rows;
    const struct fmu_variable **variables; /* of each row */
    unsigned count, room;
    unsigned left_out; /* elements that a table has no room for */
    struct fmu_group *groups;
    unsigned group_count;
};

struct fmu_tables {
    struct fmu_table parameters, inputs, outputs, states;
    unsigned values_max; /* that one group has */
};

/* Makes them, of memory of the description's pool. Returns 0, or a negative errno after it has said
 * what is wrong. */
int fmu_tables_make(struct fmu_tables *tables, const struct fmu_description *description,
                    const struct hil_said *said);

/* Whether a variable has numbers. */
bool fmu_is_numeric(const struct fmu_variable *variable);

#endif
