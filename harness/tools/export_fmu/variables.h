/*
 * The variables of a model's FMU, in the order of their value references: 0, 1, 2, ... Both the
 * exporter, which describes them, and the FMU's binary, which serves them, use this list.
 */
#ifndef HIL_EXPORT_FMU_VARIABLES_H
#define HIL_EXPORT_FMU_VARIABLES_H

#include <stdbool.h>
#include <stdint.h>

#include "../../../plants/model.h"

enum hil_fmu_role {
    HIL_FMU_TIME,
    HIL_FMU_STEP_SIZE, /* the component's period: a parameter */
    HIL_FMU_PARAMETER,
    HIL_FMU_STATE, /* an initial value, which is also a parameter */
    HIL_FMU_INPUT,
    HIL_FMU_OUTPUT,
    HIL_FMU_ROLES
};

enum { HIL_FMU_VARIABLE_NAME_BYTES = 96 };

struct hil_fmu_variable {
    enum hil_fmu_role role;
    const struct hil_quantity *quantity;
    uint32_t row;          /* in the model's table */
    uint32_t place, count; /* position and number of its elements among the values of its role */
    char name[HIL_FMU_VARIABLE_NAME_BYTES];
};

struct hil_fmu_variables {
    struct hil_fmu_variable *at;
    uint32_t count;
    uint32_t places[HIL_FMU_ROLES]; /* number of values in each role */
};

/*
 * Lists the variables for a component of this width. A wide row is one variable with `arrays` (FMI
 * 3.0), otherwise one variable for each element: gain[0], gain[1]. An initial value is called
 * "initial.NAME". Returns 0 or -ENOMEM.
 */
int hil_fmu_variables_make(struct hil_fmu_variables *variables, const struct hil_model *model,
                           unsigned width, bool arrays);
void hil_fmu_variables_free(struct hil_fmu_variables *variables);

/* Whether it holds whole numbers: Integer, Int32. */
bool hil_fmu_is_whole(const struct hil_fmu_variable *variable);

/* Whether it may be set after the initialization. */
bool hil_fmu_is_tunable(const struct hil_fmu_variable *variable);

#endif
