/* What the tables of the built-in models add to the JSON Schema. The tables of other models are
 * known only when these are loaded. */
#include <stdio.h>
#include <string.h>

#include "../../models/models.h"
#include "../../models/outside.h"
#include "json_schema.h"
#include "value_units.h"

/* A number; ~ for the model's own; or a list of these, with one for each component of an array, or
 * for each place of a wide row, or lists of lists for both. */
static json_t *quantity_schema(const struct hil_quantity *q)
{
    json_t *one = hil_json_schema_number(q->flags & HIL_WHOLE ? "integer" : "number", q->min,
                                         q->max, q->unit);
    json_t *many = hil_json_schema_or_list(hil_json_schema_allow(one, "null"), one);

    if (!(q->flags & HIL_WIDE))
        return many;
    return hil_json_schema_or_list(one, many);
}

static int add_quantities(json_t *properties, const struct hil_quantities *table)
{
    for (unsigned i = 0; i < table->count; i++) {
        const struct hil_quantity *q = &table->at[i];
        if (json_object_get(properties, q->name))
            continue;
        json_t *schema = quantity_schema(q);
        if (schema)
            schema = hil_json_schema_describe(schema, q->doc, q->unit);
        if (schema && !(q->flags & HIL_OWN))
            json_object_set_new(schema, "default", json_real(q->value));
        if (json_object_set_new(properties, q->name, schema) != 0)
            return -1;
        char stem[SCENARIO_STEM_BYTES];
        if (scenario_quantity_stem(stem, table, q) &&
            !hil_json_schema_stem(properties, stem, q->name, schema))
            return -1;
    }
    return 0;
}

/* A component's parameters may name inputs, too. */
static json_t *block_schema(const struct hil_model *m, const char *block)
{
    json_t *properties = json_object();

    if (properties && add_quantities(properties, scenario_block_table(m, block)) == 0 &&
        (strcmp(block, "parameters") != 0 || add_quantities(properties, &m->inputs) == 0))
        return json_pack("{s:s,s:o,s:b}", "type", "object", "properties", properties,
                         "additionalProperties", 0);
    json_decref(properties);
    return NULL;
}

json_t *hil_json_schema_tables(void)
{
    json_t *tables = json_object();

    for (unsigned i = 0; tables && hil_models[i]; i++)
        for (unsigned b = 0; b < SCENARIO_MODEL_BLOCKS; b++) {
            char name[128];
            snprintf(name, sizeof name, "%s.%s", hil_models[i]->name, scenario_model_blocks[b]);
            if (json_object_set_new(tables, name,
                                    block_schema(hil_models[i], scenario_model_blocks[b])) == 0)
                continue;
            json_decref(tables);
            return NULL;
        }
    return tables;
}

/* A built-in model; a model that is only a word; or one whose name has a dot, a slash or a colon,
 * as those of files have. */
json_t *hil_json_schema_model(void)
{
    json_t *names = json_pack("[ss]", "expr", HIL_OUTSIDE_NAME);

    for (unsigned i = 0; hil_models[i]; i++)
        json_array_append_new(names, json_string(hil_models[i]->name));
    return json_pack("{s:[s],s:[{s:o},{s:s}]}", "type", "string", "anyOf", "enum", names, "pattern",
                     "[./:]");
}

/* {"parameters": {"$ref": "#/definitions/pi.parameters"}, ...} */
static json_t *references(const struct hil_model *m)
{
    json_t *properties = json_object();

    for (unsigned b = 0; b < SCENARIO_MODEL_BLOCKS; b++)
        json_object_set_new(
            properties, scenario_model_blocks[b],
            json_pack("{s:o}", "$ref",
                      json_sprintf("#/definitions/%s.%s", m->name, scenario_model_blocks[b])));
    return properties;
}

/* An override without a model of its own has the component's. */
static json_t *condition(const struct hil_model *m)
{
    json_t *properties = references(m);
    json_t *overrides = json_pack("{s:{s:{s:{s:[s]}},s:{s:o}}}", "items", "if", "not", "required",
                                  "model", "then", "properties", references(m));

    json_object_set_new(properties, "overrides", overrides);
    return json_pack("{s:{s:{s:{s:s}},s:[s]},s:{s:o}}", "if", "properties", "model", "const",
                     m->name, "required", "model", "then", "properties", properties);
}

json_t *hil_json_schema_conditions(void)
{
    json_t *conditions = json_array();

    for (unsigned i = 0; hil_models[i]; i++)
        json_array_append_new(conditions, condition(hil_models[i]));
    return conditions;
}
