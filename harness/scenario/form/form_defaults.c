/*
 * Defaults of the power_controller form that its schema cannot express: the quantities of an
 * override with another plant, the drawn multipliers, and the placement.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/random.h"
#include "../yaml/scenario_defaults.h"
#include "form.h"

/* --- overrides with another plant ------------------------------------------------------- */

/* The block called `key`, which is created if it is missing; NULL if it is not a block. */
static struct scenario_node *block_in(struct scenario_node *parent, const char *key, int *error)
{
    struct scenario_node *block = scenario_node_get(parent, key);

    if (block == NULL) {
        *error = scenario_add_default(parent, key, "{}");
        block = *error == 0 ? scenario_node_get(parent, key) : NULL;
    }
    return block != NULL && block->kind == SCENARIO_MAPPING ? block : NULL;
}

/*
 * Quantities that another plant shares by name with `common` get the values of that block; the
 * others get the plant's own defaults.
 */
static int fill_quantities(struct scenario_node *block, const struct scenario_node *common,
                           const struct hil_quantities *quantities)
{
    int error = 0;

    for (unsigned i = 0; error == 0 && i < quantities->count; i++) {
        const struct hil_quantity *quantity = &quantities->at[i];
        if (form_is_duty(quantity->name) || scenario_node_get(block, quantity->name) != NULL)
            continue;
        const struct scenario_node *given = scenario_node_get(common, quantity->name);
        if (!given && quantity->flags & HIL_OWN)
            continue;
        char text[SCENARIO_NUMBER_BYTES];
        scenario_number_text(text, quantity->value);
        error = scenario_add_text(block, quantity->name,
                                  given != NULL && given->text != NULL ? given->text : text);
    }
    return error;
}

static int fill_plant(struct scenario_node *override, const struct scenario_node *converters)
{
    const struct scenario_node *name = scenario_node_get(override, "plant");
    const struct hil_model *plant = form_plant_named(name == NULL ? NULL : name->text);
    int error = 0;

    if (plant == NULL)
        return 0;
    struct scenario_node *parameters = block_in(override, "parameters", &error);
    const struct scenario_node *common = scenario_node_get(converters, "parameters");
    if (parameters != NULL)
        error = fill_quantities(parameters, common, &plant->parameters);
    if (parameters != NULL && error == 0)
        error = fill_quantities(parameters, common, &plant->inputs);

    struct scenario_node *initial = error == 0 ? block_in(override, "initial", &error) : NULL;
    if (initial != NULL)
        error = fill_quantities(initial, scenario_node_get(converters, "initial"), &plant->states);
    return error;
}

int form_fill_overrides(struct scenario_node *root)
{
    const struct scenario_node *converters = scenario_node_get(root, "converters");
    const struct scenario_node *overrides = scenario_node_get(converters, "overrides");
    int error = 0;

    for (size_t i = 0; error == 0 && overrides != NULL && i < overrides->count; i++)
        error = fill_plant(overrides->entries[i].value, converters);
    return error;
}

/* --- tolerance -------------------------------------------------------------------------- */

/* The drawn quantities, in this order, if a plant has them. */
static const char *const spread[] = {
    "inductance_h",          "capacitance_f", "inductor_resistance_ohm",
    "switch_resistance_ohm", "esr_ohm",       "load_ohm",
};
enum { SPREAD = sizeof(spread) / sizeof(spread[0]) };

static double number_at(struct scenario_node *root, const char *path)
{
    return strtod(scenario_node_find(root, path)->text, NULL);
}

/*
 * Each converter draws all six, used or not. Thus neither more converters nor an explicit
 * multiplier changes what the others get.
 */
static void draw(double (*drawn)[SPREAD], unsigned count, double percent, uint64_t seed)
{
    uint64_t state = seed;

    for (unsigned id = 0; id < count; id++)
        for (unsigned i = 0; i < SPREAD; i++)
            drawn[id][i] = 1 + percent / 100 * (2 * hil_random_uniform(&state) - 1);
}

static int add_multipliers(struct scenario_node *multipliers, double (*drawn)[SPREAD],
                           unsigned which, unsigned count)
{
    struct scenario_node *list = scenario_node_new(SCENARIO_SEQUENCE, NULL, &multipliers->at);
    int error = list == NULL ? -ENOMEM : 0;

    for (unsigned id = 0; error == 0 && id < count; id++) {
        char text[SCENARIO_NUMBER_BYTES];
        scenario_number_text(text, drawn[id][which]);
        error = scenario_add_text(list, NULL, text);
    }
    if (error == 0)
        return scenario_node_add(multipliers, spread[which], &multipliers->at, list);
    scenario_node_free(list);
    return error;
}

static int fill_multipliers(const struct form_schema *schema, struct scenario_node *root)
{
    struct scenario_node *multipliers =
        scenario_node_find(root, "converters.tolerance.multipliers");
    unsigned count = schema->converter_count;
    double(*drawn)[SPREAD] = calloc(count, sizeof(*drawn));
    int error = drawn == NULL ? -ENOMEM : 0;

    if (error == 0)
        draw(drawn, count, number_at(root, "converters.tolerance.percent"),
             (uint64_t)number_at(root, "converters.tolerance.seed"));
    for (unsigned i = 0; error == 0 && i < SPREAD; i++)
        if (form_quantity_find(&schema->parameters, spread[i]) >= 0 &&
            scenario_node_get(multipliers, spread[i]) == NULL)
            error = add_multipliers(multipliers, drawn, i, count);
    free(drawn);
    return error;
}

/* --- placement -------------------------------------------------------------------------- */

/* Settings that an executor inherits from the role that it runs. */
static const char *const inherited[] = {"cpu", "priority", "scheduler", "wait"};
enum { INHERITED = sizeof(inherited) / sizeof(inherited[0]) };

static int add_executor(struct scenario_node *placement, const char *controller,
                        const char *converters, const struct scenario_node *role, bool anywhere)
{
    struct scenario_node *entry = scenario_node_new(SCENARIO_MAPPING, NULL, &placement->at);
    int error = entry == NULL ? -ENOMEM : scenario_add_text(entry, "controller", controller);

    if (error == 0 && converters != NULL)
        error = scenario_add_text(entry, "converters", converters);
    for (unsigned i = 0; error == 0 && i < INHERITED; i++)
        error = scenario_add_text(entry, inherited[i],
                                  anywhere && strcmp(inherited[i], "cpu") == 0
                                      ? "-1"
                                      : scenario_node_get(role, inherited[i])->text);
    if (error == 0)
        return scenario_node_add(placement, NULL, &placement->at, entry);
    scenario_node_free(entry);
    return error;
}

/* Whether the block names a plant whose code may hang or crash. */
static bool has_plant_apart(const struct scenario_node *block)
{
    const struct scenario_node *plant = scenario_node_get(block, "plant");
    const struct hil_model *model =
        plant == NULL || plant->text == NULL ? NULL : hil_model_find(plant->text);

    return model != NULL && hil_model_is_apart(model);
}

static bool has_apart(const struct scenario_node *converters)
{
    const struct scenario_node *overrides = scenario_node_get(converters, "overrides");
    bool apart = has_plant_apart(converters);

    for (size_t i = 0; overrides != NULL && i < overrides->count; i++)
        apart |= has_plant_apart(overrides->entries[i].value);
    return apart;
}

/* One executor for all converters, or one for each if a crash could take others with it. The first
 * executor has the cpu. */
static int add_converters(struct scenario_node *placement, unsigned count,
                          const struct scenario_node *converters)
{
    const unsigned each = has_apart(converters) ? 1 : count;
    char which[32];
    int error = 0;

    for (unsigned i = 0; error == 0 && i < count; i += each) {
        snprintf(which, sizeof(which), "%u-%u", i, i + each - 1);
        error = add_executor(placement, "false", which, converters, i > 0);
    }
    return error;
}

static int fill_placement(const struct form_schema *schema, struct scenario_node *root)
{

    if (scenario_node_get(root, "placement") != NULL)
        return 0;
    int error = scenario_add_default(root, "placement", "[]");
    if (error != 0)
        return error;
    struct scenario_node *placement = scenario_node_get(root, "placement");
    error = add_executor(placement, "true", NULL, scenario_node_get(root, "controller"), false);
    if (error == 0)
        error = add_converters(placement, schema->converter_count,
                               scenario_node_get(root, "converters"));
    return error;
}

int form_fill_derived(const struct form_schema *schema, struct scenario_node *root)
{
    int error = fill_multipliers(schema, root);

    return error == 0 ? fill_placement(schema, root) : error;
}
