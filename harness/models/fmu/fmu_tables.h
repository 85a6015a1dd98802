/*
 * Converts an FMU's variables to a model's tables. Each number has a row; an array has a row for
 * each element, x_1, x_2 (and a_1_2). Row names use only the characters allowed in scenario names:
 * lower-case letters, digits and '_'. The explanation of a row has the FMU's own name.
 */
#ifndef HIL_FMU_TABLES_H
#define HIL_FMU_TABLES_H

#include "../../base/pool.h"
#include "fmu_description.h"

/* Variables that are got or set in one call. */
struct fmu_group {
    const struct fmu_variable *first; /* all have the same type */
    const uint32_t *references;
    unsigned reference_count;
    unsigned row; /* row of the first value; the others follow */
    unsigned value_count;
};

/* The rows of one table, and their groups. Inputs and outputs are grouped with neighbours of the
 * same type; each parameter and each state is its own group. */
struct fmu_table {
    struct hil_quantity *rows;
    const struct fmu_variable **variables; /* the variable of each row */
    unsigned *elements;                    /* and the element, from 0 */
    unsigned count;
    bool has_own; /* rows without start values are HIL_OWN: those of parameters and of states */
    unsigned left_out; /* number of elements that do not fit in the table */
    struct fmu_group *groups;
    unsigned group_count;
};

struct fmu_tables {
    struct fmu_table parameters, inputs, outputs, states;
    struct fmu_table others; /* outputs that the scenario may refer to; only for their names */
    unsigned values_max;     /* the most values in one group */
};

/* Makes the tables in the description's pool. The settings have the signals to which the scenario
 * refers; NULL: none. Returns 0, or a negative errno after a message. */
int fmu_tables_make(struct fmu_tables *tables, const struct fmu_description *description,
                    const struct hil_settings *settings, const struct hil_said *said);

#endif
