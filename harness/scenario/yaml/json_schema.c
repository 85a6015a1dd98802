#include "json_schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "scenario_check.h"
#include "value_units.h"

/* A mapping's names, as scenario_name_fits() has them. */
#define NAME_PATTERN "^[A-Za-z_][A-Za-z0-9_-]{0,63}$"

/* A number with a unit, perhaps after a space. Which units there are, only the check knows. */
#define VALUE_PATTERN "^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)? ?[^-+0-9.,:~eExX ].*$"

static json_t *schema_of(const cyaml_schema_value_t *value, const char *path);

json_t *hil_json_schema_describe(json_t *schema, const char *doc, const char *unit)
{
    json_t *text = unit[0] ? json_sprintf("%s (%s)", doc, unit) : json_string(doc);

    if (json_object_set_new(schema, "description", text) == 0)
        return schema;
    json_decref(schema);
    return NULL;
}

static int schema_bound(json_t *schema, const char *name, double bound)
{
    const bool whole = fabs(bound) < 1e15 && bound == floor(bound);

    if (!isfinite(bound))
        return 0;
    return json_object_set_new(schema, name,
                               whole ? json_integer((json_int_t)bound) : json_real(bound));
}

json_t *hil_json_schema_number(const char *type, double min, double max, const char *unit)
{
    json_t *schema =
        unit[0] ? json_pack("{s:[ss],s:s}", "type", type, "string", "pattern", VALUE_PATTERN)
                : json_pack("{s:[s]}", "type", type);

    if (schema && schema_bound(schema, "minimum", min) == 0 &&
        schema_bound(schema, "maximum", max) == 0)
        return schema;
    json_decref(schema);
    return NULL;
}

json_t *hil_json_schema_allow(json_t *schema, const char *type)
{
    if (json_array_append_new(json_object_get(schema, "type"), json_string(type)) == 0)
        return schema;
    json_decref(schema);
    return NULL;
}

json_t *hil_json_schema_or_list(const json_t *one, json_t *items)
{
    json_t *schema = hil_json_schema_allow(json_deep_copy(one), "array");

    if (json_object_set_new(schema, "items", items) == 0)
        return schema;
    json_decref(schema);
    return NULL;
}

/* --- values ------------------------------------------------------------------------------------
 */

static json_t *schema_words(const cyaml_schema_value_t *value)
{
    json_t *words = json_array();

    for (uint32_t i = 0; i < value->enumeration.count; i++)
        json_array_append_new(words, json_string(value->enumeration.strings[i].str));
    return json_pack("{s:o}", "enum", words);
}

/* YAML's plain 3 and true are texts, too, where a text belongs. */
static json_t *schema_text(const struct scenario_key *key)
{
    switch (key->rule) {
    case SCENARIO_NAME:
        return json_pack("{s:[sss],s:s}", "type", "string", "number", "boolean", "pattern",
                         "^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$");
    case SCENARIO_COUNT:
        return json_pack("{s:[o,{s:s,s:s}]}", "anyOf",
                         hil_json_schema_number("integer", key->min, key->max, ""), "type",
                         "string", "pattern", NAME_PATTERN);
    case SCENARIO_ADDRESS:
    case SCENARIO_MEETING:
        return json_pack("{s:[s],s:i}", "type", "string", "minLength", 1);
    default:
        if (strcmp(key->path, "components.*.model") == 0 ||
            strcmp(key->path, "components.*.overrides[].model") == 0)
            return hil_json_schema_model();
        return json_pack("{s:[sss]}", "type", "string", "number", "boolean");
    }
}

/* Which cpus there are differs from one machine to the next. */
static json_t *schema_scalar(const cyaml_schema_value_t *value, const struct scenario_key *key)
{
    const bool cpu = key->rule == SCENARIO_CPU;

    switch (value->type) {
    case CYAML_FLOAT:
        return hil_json_schema_number("number", key->min, key->max, key->unit);
    case CYAML_INT:
    case CYAML_UINT:
        return hil_json_schema_number("integer", key->min, cpu ? HUGE_VAL : key->max, key->unit);
    case CYAML_BOOL:
        return json_pack("{s:s}", "type", "boolean");
    case CYAML_ENUM:
        return schema_words(value);
    default:
        return schema_text(key);
    }
}

/* --- blocks ------------------------------------------------------------------------------------
 */

static int schema_default(json_t *schema, const struct scenario_key *key)
{
    if (!key->initial)
        return 0;
    json_t *value = json_loads(key->initial, JSON_DECODE_ANY, NULL);
    return json_object_set_new(schema, "default", value ? value : json_string(key->initial));
}

/* A key's value, with what the table of keys says about it. */
static json_t *schema_key(const cyaml_schema_value_t *value, const char *path)
{
    const struct scenario_key *key = scenario_key_find(path);
    json_t *schema = schema_of(value, path);

    if (schema && key->each)
        schema = hil_json_schema_or_list(schema, schema);
    if (schema)
        schema = hil_json_schema_describe(schema, key->doc, key->unit);
    if (!schema || schema_default(schema, key) == 0)
        return schema;
    json_decref(schema);
    return NULL;
}

/* Whether the key must be there: the check asks for it after the defaults have been filled in. */
static bool schema_must(const cyaml_schema_field_t *field, const char *path)
{
    return !(field->value.flags & CYAML_FLAG_OPTIONAL) && field->value.type != CYAML_IGNORE &&
           !scenario_key_find(path)->initial;
}

static json_t *schema_named(const cyaml_schema_field_t *any, const char *path)
{
    char child[256];

    snprintf(child, sizeof child, "%s.*", path);
    return json_pack("{s:s,s:{s:s},s:o}", "type", "object", "propertyNames", "pattern",
                     NAME_PATTERN, "additionalProperties", schema_key(&any->value, child));
}

static json_t *unless_empty(json_t *list)
{
    if (json_array_size(list) > 0)
        return list;
    json_decref(list);
    return NULL;
}

/* `period: 10us` is period_us: a value with a unit, whose key is without it. Returns the object. */
json_t *hil_json_schema_stem(json_t *properties, const char *stem, const char *name,
                             const json_t *schema)
{
    json_t *one = json_pack("{s:[s],s:s}", "type", "string", "pattern", VALUE_PATTERN);
    json_t *value = json_object_get(schema, "items") ? hil_json_schema_or_list(one, one) : one;

    json_object_set_new(value, "description", json_sprintf("%s, with a unit", name));
    if (json_object_set_new(properties, stem, value) == 0)
        return properties;
    json_decref(properties);
    return NULL;
}

static json_t *schema_block(const cyaml_schema_field_t *field, const char *path)
{
    json_t *properties = json_object(), *required = json_array();
    json_t *all = strcmp(path, "components.*") == 0 ? hil_json_schema_conditions() : json_array();
    const cyaml_schema_field_t *const fields = field;

    for (; field->key; field++) {
        char child[256];
        snprintf(child, sizeof child, "%s%s%s", path, path[0] ? "." : "", field->key);
        if (json_object_set_new(properties, field->key, schema_key(&field->value, child)) != 0) {
            json_decref(properties);
            properties = NULL; /* the whole is NULL then */
        }
        char stem[SCENARIO_STEM_BYTES];
        const bool either =
            scenario_field_stem(stem, fields, field, scenario_key_find(child)->unit);
        if (properties && either)
            properties = hil_json_schema_stem(properties, stem, field->key,
                                              json_object_get(properties, field->key));
        if (schema_must(field, child) && either)
            json_array_append_new(all, json_pack("{s:[{s:[s]},{s:[s]}]}", "anyOf", "required",
                                                 field->key, "required", stem));
        else if (schema_must(field, child))
            json_array_append_new(required, json_string(field->key));
    }
    return json_pack("{s:s,s:o,s:o*,s:b,s:o*}", "type", "object", "properties", properties,
                     "required", unless_empty(required), "additionalProperties", 0, "allOf",
                     unless_empty(all));
}

static json_t *schema_of(const cyaml_schema_value_t *value, const char *path)
{
    char entry[256];

    switch (value->type) {
    case CYAML_IGNORE: /* with the names of a model, of which the conditions know more */
        return json_pack("{s:s}", "type", "object");
    case CYAML_MAPPING:
        return scenario_field_is_any(value->mapping.fields)
                   ? schema_named(value->mapping.fields, path)
                   : schema_block(value->mapping.fields, path);
    case CYAML_SEQUENCE:
        snprintf(entry, sizeof entry, "%s[]", path);
        return json_pack("{s:s,s:o}", "type", "array", "items",
                         schema_of(value->sequence.entry, entry));
    default:
        return schema_scalar(value, scenario_key_find(path));
    }
}

json_t *hil_json_schema_make(void)
{
    json_t *schema =
        json_pack("{s:s,s:s,s:s,s:o}", "$schema", "http://json-schema.org/draft-07/schema#",
                  "title", "hiloco scenario", "description",
                  "A scenario of hiloco: nodes, the components that run on them, and connections",
                  "definitions", hil_json_schema_tables());
    json_t *top = schema_of(&scenario_top, "");

    if (schema && top && json_object_update(schema, top) == 0) {
        json_decref(top);
        return schema;
    }
    json_decref(schema);
    json_decref(top);
    return NULL;
}
