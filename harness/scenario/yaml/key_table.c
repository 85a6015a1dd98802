#include "key_table.h"

#include "scenario_check.h"

enum { PATH_MAX_BYTES = 256, RANGE_BYTES = 512 };

static const char top[] =
    "# The keys of a scenario\n"
    "\n"
    "[scenario.md](scenario.md) explains them. `hiloco schema keys` prints this document.\n"
    "\n"
    "A block with the default `{}` or `[]` may be left out. A key with the default `-` may be left "
    "out, too, and\n"
    "its text says what happens then. In a path, `[]` stands for each entry of a list, and `*` for "
    "a name of your\n"
    "choice. `hiloco models` lists the keys of `parameters`, `initial`, `inputs` and `safe`.\n";

static const char head[] = "\n"
                           "| key | type | unit | range | default | meaning |\n"
                           "|---|---|---|---|---|---|\n";

static const char *type_in_words(const cyaml_schema_value_t *value, const struct scenario_key *key)
{
    switch (value->type) {
    case CYAML_FLOAT:
        return key->rule == SCENARIO_WHOLE_NS ? "time" : "number";
    case CYAML_INT:
    case CYAML_UINT:
        return "whole number";
    case CYAML_BOOL:
        return "bool";
    case CYAML_ENUM:
        return "word";
    case CYAML_STRING:
        return "text";
    case CYAML_SEQUENCE:
        return "list";
    default:
        return "mapping";
    }
}

static void range_in_words(const cyaml_schema_value_t *value, const struct scenario_key *key,
                           char *text, size_t size)
{
    snprintf(text, size, "-");
    if (key->rule == SCENARIO_CPU)
        snprintf(text, size, "-1, or a cpu of the machine");
    else if (scenario_type_is_number(value->type))
        scenario_say_range(key->min, key->max, "", text, size);
    else if (value->type == CYAML_ENUM || value->type == CYAML_BOOL || value->type == CYAML_STRING)
        scenario_say_allowed(key, value, text, size);
}

static const char *default_in_words(const cyaml_schema_value_t *value,
                                    const struct scenario_key *key)
{
    if (key->initial != NULL)
        return key->initial;
    return value->flags & CYAML_FLAG_OPTIONAL ? "-" : "required";
}

static void print_row(FILE *to, const struct scenario_key *key, const cyaml_schema_value_t *value)
{
    char range[RANGE_BYTES];

    range_in_words(value, key, range, sizeof(range));
    fprintf(to, "| `%s` | %s%s | %s | %s | %s | %s |\n", key->path, type_in_words(value, key),
            key->each ? " or list" : "", key->unit[0] == '\0' ? "-" : key->unit, range,
            default_in_words(value, key), key->doc);
}

static bool is_block(const cyaml_schema_value_t *value)
{
    return value->type == CYAML_MAPPING || value->type == CYAML_SEQUENCE;
}

static void print_fields(FILE *to, const cyaml_schema_field_t *field, const char *block)
{
    for (; field->key != NULL; field++) {
        char path[PATH_MAX_BYTES], entry[PATH_MAX_BYTES + 2];
        snprintf(path, sizeof(path), "%s%s%s", block, block[0] == '\0' ? "" : ".", field->key);
        snprintf(entry, sizeof(entry), "%s[]", path);
        if (block[0] == '\0' && is_block(&field->value))
            fprintf(to, "\n## %s\n%s", field->key, head);
        print_row(to, scenario_key_find(path), &field->value);
        if (field->value.type == CYAML_MAPPING)
            print_fields(to, field->value.mapping.fields, path);
        if (field->value.type == CYAML_SEQUENCE &&
            field->value.sequence.entry->type == CYAML_MAPPING)
            print_fields(to, field->value.sequence.entry->mapping.fields, entry);
    }
}

void hil_key_table_print(FILE *to)
{
    fprintf(to, "%s\n## The run\n%s", top, head);
    print_fields(to, scenario_top.mapping.fields, "");
}
