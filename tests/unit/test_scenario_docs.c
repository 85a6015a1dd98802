/*
 * Checks docs/scenario.md against the schema and the table of keys: each key has a row
 * with the same type, unit, range and default, and each row has a key.
 */
#include "test_scenario.h"

#include "harness/scenario/yaml/scenario_check.h"
#include "harness/scenario/yaml/scenario_defaults.h"
#include "harness/scenario/yaml/scenario_schema.h"

enum { ROWS_MAX = 800, ROW_BYTES = 1024 };

/* The rows of tables, in order, such as "| `name` | ... |". */
struct rows {
    char *at[ROWS_MAX];
    unsigned count;
};

static void add_row(struct rows *rows, const char *row)
{
    cr_assert_lt(rows->count, (unsigned)ROWS_MAX);
    rows->at[rows->count++] = strdup(row);
}

static void free_rows(struct rows *rows)
{
    for (unsigned i = 0; i < rows->count; i++)
        free(rows->at[i]);
}

/* --- the expected rows ------------------------------------------------------------------ */

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
    else if (value->type == CYAML_FLOAT || value->type == CYAML_INT || value->type == CYAML_UINT)
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

static const char *unit_in_words(const char *unit)
{
    return unit[0] == '\0' ? "-" : unit;
}

static void add_key_row(struct rows *rows, const struct scenario_key *key,
                        const cyaml_schema_value_t *value)
{
    char row[ROW_BYTES], range[ROW_BYTES / 2];

    range_in_words(value, key, range, sizeof(range));
    snprintf(row, sizeof(row), "| `%s` | %s%s | %s | %s | %s | %s |", key->path,
             type_in_words(value, key), key->each ? " or list" : "", unit_in_words(key->unit),
             range, default_in_words(value, key), key->doc);
    add_row(rows, row);
}

/* All keys except the models' own, in the order of the schema and of a resolved file. */
static void add_field_rows(struct rows *rows, const cyaml_schema_field_t *field, const char *block)
{
    for (; field->key != NULL; field++) {
        char path[256];
        snprintf(path, sizeof(path), "%s%s%s", block, block[0] == '\0' ? "" : ".", field->key);
        const struct scenario_key *key = scenario_key_find(path);
        cr_assert_not_null(key, "the table has no %s", path);
        add_key_row(rows, key, &field->value);
        if (field->value.type == CYAML_MAPPING)
            add_field_rows(rows, field->value.mapping.fields, path);
        if (field->value.type != CYAML_SEQUENCE ||
            field->value.sequence.entry->type != CYAML_MAPPING)
            continue;
        strcat(path, "[]");
        add_field_rows(rows, field->value.sequence.entry->mapping.fields, path);
    }
}

/* --- all expected rows ------------------------------------------------------------------- */

static void add_expected_rows(struct rows *rows)
{
    add_field_rows(rows, scenario_top.mapping.fields, "");
}

/* --- the document's rows ---------------------------------------------------------------- */

static void add_documented_rows(struct rows *rows)
{
    FILE *file = fopen("docs/scenario.md", "r");
    char line[ROW_BYTES];

    cr_assert_not_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "| `", 3) == 0)
            add_row(rows, line);
    }
    fclose(file);
}

/* The first block of YAML in the document: the complete example. */
static char *read_example(void)
{
    static char example[ROW_BYTES * 4];
    FILE *file = fopen("docs/scenario.md", "r");
    char line[ROW_BYTES];
    bool inside = false;

    cr_assert_not_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, "```", 3) == 0 && inside)
            break;
        if (inside)
            strcat(example, line);
        inside = inside || strcmp(line, "```yaml\n") == 0;
    }
    fclose(file);
    return example;
}

/* --- the tests -------------------------------------------------------------------------- */

Test(scenario_docs, the_document_lists_every_key_and_no_other)
{
    struct rows expected = {0}, documented = {0};

    add_expected_rows(&expected);
    add_documented_rows(&documented);
    for (unsigned i = 0; i < expected.count && i < documented.count; i++)
        cr_assert_str_eq(documented.at[i], expected.at[i], "documented: %s\nexpected: %s",
                         documented.at[i], expected.at[i]);
    cr_expect_eq(documented.count, expected.count);
    free_rows(&expected);
    free_rows(&documented);
}

/* add_field_rows checks that the schema's keys are in the table. This checks the converse. */
Test(scenario_docs, the_table_has_no_key_that_the_schema_lacks)
{
    struct rows rows = {0};

    add_expected_rows(&rows);
    cr_expect_eq(rows.count, scenario_key_count);
    free_rows(&rows);
}

Test(scenario_docs, names_of_keys_end_in_their_units)
{
    for (unsigned i = 0; i < scenario_key_count; i++) {
        const struct scenario_key *key = &scenario_keys[i];
        if (key->rule != SCENARIO_WHOLE_NS)
            continue;
        size_t length = strlen(key->path), unit = strlen(key->unit);
        cr_expect_str_eq(key->path + length - unit, key->unit);
        cr_expect_eq(key->path[length - unit - 1], '_');
    }
}

Test(scenario_docs, the_example_loads)
{
    hil_scenario_free(load(read_example(), NULL));
}
