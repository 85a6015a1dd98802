/* The unit of any key, whichever law and plants a scenario has. */
#include <string.h>

#include "scenario_schema.h"

static const char *unit_in(const struct hil_quantities *table, const char *name)
{
    const int i = hil_quantity_find(table, name);

    return i < 0 ? NULL : table->at[i].unit;
}

/* A name ends in its unit, so whichever model has it says the same. */
static const char *unit_of_parameter(const char *name)
{
    const char *unit = NULL;

    for (unsigned i = 0; !unit && hil_models[i]; i++) {
        unit = unit_in(&hil_models[i]->parameters, name);
        if (!unit)
            unit = unit_in(&hil_models[i]->inputs, name);
    }
    return unit;
}

static const char *unit_of_state(const char *name)
{
    const char *unit = NULL;

    for (unsigned i = 0; !unit && hil_models[i]; i++)
        unit = unit_in(&hil_models[i]->states, name);
    return unit;
}

/* What follows "BLOCK." in the path; NULL where it has no such block. */
static const char *name_in(const char *path, const char *block)
{
    const char *at = strstr(path, block);

    return at ? at + strlen(block) : NULL;
}

const char *hil_scenario_unit(const char *path)
{
    static const struct scenario_schema no_models;
    const struct scenario_key *key = scenario_key_find(&no_models, path);
    const char *name, *unit = key ? key->unit : NULL;

    if (!unit &&
        ((name = name_in(path, "controller.gains.")) || (name = name_in(path, ".parameters."))))
        unit = unit_of_parameter(name);
    else if (!unit && (name = name_in(path, ".initial.")))
        unit = unit_of_state(name);
    return unit ? unit : ""; /* a multiplier has none */
}
