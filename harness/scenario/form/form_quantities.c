/*
 * Finds the quantities that a scenario may name, those of its law and of its plants, and makes
 * their keys.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "form.h"

static const char *text_of(const struct scenario_node *block, const char *key)
{
    const struct scenario_node *node = scenario_node_get(block, key);

    return node == NULL ? NULL : node->text;
}

/* The number of converters; 0 if it is wrong or missing. */
static unsigned count_of(const struct scenario_node *block, const struct scenario_key *key)
{
    const struct scenario_node *node = scenario_node_get(block, "count");
    if (node == NULL || node->text == NULL)
        return 0;
    char *end;
    double count = strtod(node->text, &end);
    return *end == '\0' && count >= key->min && count <= key->max ? (unsigned)count : 0;
}

int form_quantity_find(const struct form_quantities *quantities, const char *name)
{
    for (unsigned i = 0; i < quantities->count; i++)
        if (strcmp(quantities->at[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int add_quantities(struct form_quantities *to, const struct hil_quantities *from)
{
    struct hil_quantity *at = reallocarray(to->at, to->count + from->count + 1, sizeof(*at));

    if (at == NULL)
        return -ENOMEM;
    to->at = at;
    for (unsigned i = 0; i < from->count; i++) {
        const struct hil_quantity *quantity = &from->at[i];
        int known = form_quantity_find(to, quantity->name);
        if (form_is_duty(quantity->name) || form_is_limit(quantity->name))
            continue;
        if (known < 0) {
            to->at[to->count++] = *quantity;
            continue;
        }
        at[known].min = quantity->min < at[known].min ? quantity->min : at[known].min;
        at[known].max = quantity->max > at[known].max ? quantity->max : at[known].max;
    }
    return 0;
}

static int add_plant(struct scenario_schema *schema, const struct hil_model *plant)
{
    if (plant == NULL)
        return 0;
    if (add_quantities(&schema->form->parameters, &plant->parameters) != 0 ||
        add_quantities(&schema->form->parameters, &plant->inputs) != 0 ||
        add_quantities(&schema->form->states, &plant->states) != 0)
        return -ENOMEM;
    return 0;
}

static int find_models(struct scenario_schema *schema, const struct scenario_node *root)
{
    const struct scenario_node *converters = scenario_node_get(root, "converters");
    const struct scenario_node *overrides = scenario_node_get(converters, "overrides");

    schema->form->law = form_law_named(text_of(scenario_node_get(root, "controller"), "law"));
    schema->form->plant = form_plant_named(text_of(converters, "plant"));
    schema->form->converter_count =
        count_of(converters, scenario_key_find(schema, "converters.count"));
    int error = schema->form->law == NULL
                    ? 0
                    : add_quantities(&schema->form->gains, &schema->form->law->parameters);
    if (error == 0)
        error = add_plant(schema, schema->form->plant);
    if (overrides == NULL)
        return error;
    for (size_t i = 0; error == 0 && i < overrides->count; i++)
        error = add_plant(schema, form_plant_named(text_of(overrides->entries[i].value, "plant")));
    return error;
}

/* --- their keys ------------------------------------------------------------------------- */

/* Adds the key of a quantity under `block`; with its default if `has_default`. */
static int add_key(struct scenario_schema *schema, const char *block,
                   const struct hil_quantity *quantity, bool has_default)
{
    struct scenario_key *keys =
        reallocarray(schema->keys, schema->key_count + 1, sizeof(schema->keys[0]));
    char *path = NULL, *initial = NULL, number[SCENARIO_NUMBER_BYTES];

    if (keys == NULL)
        return -ENOMEM;
    schema->keys = keys;
    scenario_number_text(number, quantity->value);
    has_default &= !(quantity->flags & HIL_OWN);
    if (has_default && (initial = strdup(number)) == NULL)
        return -ENOMEM;
    if (asprintf(&path, "%s.%s", block, quantity->name) < 0) {
        free(initial);
        return -ENOMEM;
    }
    keys[schema->key_count++] = (struct scenario_key){.path = path,
                                                      .unit = quantity->unit,
                                                      .initial = initial,
                                                      .min = quantity->min,
                                                      .max = quantity->max,
                                                      .doc = quantity->doc};
    return 0;
}

/* Whether the plant of most converters has the quantity. */
static bool plant_has(const struct hil_model *plant, const char *name)
{
    return plant != NULL && (hil_quantity_find(&plant->parameters, name) >= 0 ||
                             hil_quantity_find(&plant->inputs, name) >= 0);
}

static int add_keys(struct scenario_schema *schema)
{
    int error = 0;

    for (unsigned i = 0; error == 0 && i < schema->form->gains.count; i++)
        error = add_key(schema, "controller.gains", &schema->form->gains.at[i], true);

    for (unsigned i = 0; error == 0 && i < schema->form->parameters.count; i++) {
        const struct hil_quantity *quantity = &schema->form->parameters.at[i];
        const struct hil_quantity multiplier = {
            .name = quantity->name, .unit = "", .min = 1e-3, .max = 1e3};
        error = add_key(schema, "converters.parameters", quantity,
                        plant_has(schema->form->plant, quantity->name));
        if (error == 0)
            error = add_key(schema, "converters.overrides[].parameters", quantity, false);
        if (error == 0)
            error = add_key(schema, "converters.tolerance.multipliers", &multiplier, false);
    }
    for (unsigned i = 0; error == 0 && i < schema->form->states.count; i++) {
        const struct hil_quantity *state = &schema->form->states.at[i];
        bool own = schema->form->plant != NULL &&
                   hil_quantity_find(&schema->form->plant->states, state->name) >= 0;
        error = add_key(schema, "converters.initial", state, own);
        if (error == 0)
            error = add_key(schema, "converters.overrides[].initial", state, false);
    }
    return error;
}

int form_quantities_open(struct scenario_schema *schema, const struct scenario_node *root)
{
    int error = find_models(schema, root);
    return error == 0 ? add_keys(schema) : error;
}

void form_quantities_close(struct form_schema *form)
{
    free(form->gains.at);
    free(form->parameters.at);
    free(form->states.at);
}
