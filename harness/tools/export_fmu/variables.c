#include "variables.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct hil_quantity fmu_time[] = {
    {"time", "s", 0, -INFINITY, INFINITY, 0, "the time"},
};

static const struct hil_quantity fmu_step_size[] = {
    {"step_size_s", "s", 1, 1e-9, 1e3, 0,
     "the model's period, of which each communication step has a whole number"},
};

/* The table of a role. */
static struct hil_quantities fmu_table(const struct hil_model *model, enum hil_fmu_role role)
{
    switch (role) {
    case HIL_FMU_TIME:
        return (struct hil_quantities)HIL_QUANTITIES(fmu_time);
    case HIL_FMU_STEP_SIZE:
        return (struct hil_quantities)HIL_QUANTITIES(fmu_step_size);
    case HIL_FMU_PARAMETER:
        return model->parameters;
    case HIL_FMU_STATE:
        return model->states;
    case HIL_FMU_INPUT:
        return model->inputs;
    default:
        return model->outputs;
    }
}

static void variable_add(struct hil_fmu_variables *v, enum hil_fmu_role role,
                         const struct hil_quantity *q, uint32_t row, uint32_t count, int place)
{
    struct hil_fmu_variable *made = &v->at[v->count++];
    char index[16] = "";

    if (place >= 0)
        snprintf(index, sizeof index, "[%d]", place);
    *made = (struct hil_fmu_variable){
        .role = role, .quantity = q, .row = row, .place = v->places[role], .count = count};
    snprintf(made->name, sizeof made->name, "%s%s%s", role == HIL_FMU_STATE ? "initial." : "",
             q->name, index);
    v->places[role] += count;
}

int hil_fmu_variables_make(struct hil_fmu_variables *v, const struct hil_model *model,
                           unsigned width, bool arrays)
{
    size_t rows = 0;

    *v = (struct hil_fmu_variables){0};
    for (enum hil_fmu_role role = 0; role < HIL_FMU_ROLES; role++)
        rows += fmu_table(model, role).count;
    v->at = calloc(rows * (arrays ? 1 : width), sizeof *v->at);
    if (!v->at)
        return -ENOMEM;
    for (enum hil_fmu_role role = 0; role < HIL_FMU_ROLES; role++) {
        const struct hil_quantities table = fmu_table(model, role);
        for (uint32_t row = 0; row < table.count; row++) {
            const struct hil_quantity *q = &table.at[row];
            const unsigned places = q->flags & HIL_WIDE ? width : 1;
            if (arrays || places == 1)
                variable_add(v, role, q, row, places, -1);
            for (unsigned k = 0; !arrays && places > 1 && k < places; k++)
                variable_add(v, role, q, row, 1, (int)k);
        }
    }
    return 0;
}

void hil_fmu_variables_free(struct hil_fmu_variables *v)
{
    free(v->at);
    *v = (struct hil_fmu_variables){0};
}

bool hil_fmu_is_whole(const struct hil_fmu_variable *variable)
{
    return variable->role == HIL_FMU_PARAMETER && variable->quantity->flags & HIL_WHOLE;
}

bool hil_fmu_is_tunable(const struct hil_fmu_variable *variable)
{
    return variable->role == HIL_FMU_INPUT ||
           (variable->role == HIL_FMU_PARAMETER && variable->quantity->flags & HIL_TUNABLE);
}
