#include "key_units.h"

#include <math.h>
#include <string.h>

#include "scenario_check.h"

static const char *unit_in(const struct hil_quantities *table, const char *name)
{
    const int i = hil_quantity_find(table, name);

    return i < 0 ? NULL : table->at[i].unit;
}

/* A name ends in its unit, so all models that have it agree. */
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

/* The text after "BLOCK." in the path; NULL if it has no such block. */
static const char *name_in(const char *path, const char *block)
{
    const char *at = strstr(path, block);

    return at ? at + strlen(block) : NULL;
}

double hil_scenario_rounded(const char *path, double value)
{
    const struct scenario_key *key = scenario_key_find(path);

    if (!key || key->rule != SCENARIO_WHOLE_NS)
        return value;
    return round(value * scenario_ns_per_unit(key)) / scenario_ns_per_unit(key);
}

const char *hil_scenario_unit(const char *path)
{
    const struct scenario_key *key = scenario_key_find(path);
    const char *name, *unit = key ? key->unit : NULL;

    if (!unit && (name = name_in(path, ".parameters.")))
        unit = unit_of_parameter(name);
    else if (!unit && (name = name_in(path, ".initial.")))
        unit = unit_of_state(name);
    return unit ? unit : ""; /* a multiplier has no unit */
}
