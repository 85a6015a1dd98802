/*
 * Checks docs/scenario.md against the schema, the table of keys and the models: each key has a row
 * with the same type, unit, range and default, and each row has a key.
 */
#include "test_scenario.h"

#include "harness/scenario/form/form.h"
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
    static const struct scenario_schema unknown_count;

    snprintf(text, size, "-");
    if (key->rule == SCENARIO_CPU)
        snprintf(text, size, "-1, or a cpu of the machine");
    else if (value->type == CYAML_FLOAT || value->type == CYAML_INT || value->type == CYAML_UINT)
        scenario_say_range(key->min, key->max, "", text, size);
    else if (value->type == CYAML_ENUM || value->type == CYAML_BOOL || value->type == CYAML_STRING)
        scenario_say_allowed(&unknown_count, key, value, text, size);
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

/* Some keys are in both forms of a scenario. */
static bool has_row(const struct rows *rows, const char *path)
{
    char beginning[300];

    snprintf(beginning, sizeof(beginning), "| `%s` |", path);
    for (unsigned i = 0; i < rows->count; i++)
        if (strncmp(rows->at[i], beginning, strlen(beginning)) == 0)
            return true;
    return false;
}

static void add_key_row(struct rows *rows, const struct scenario_key *key,
                        const cyaml_schema_value_t *value)
{
    char row[ROW_BYTES], range[ROW_BYTES / 2];

    if (has_row(rows, key->path))
        return;
    range_in_words(value, key, range, sizeof(range));
    snprintf(row, sizeof(row), "| `%s` | %s%s | %s | %s | %s | %s |", key->path,
             type_in_words(value, key), key->each ? " or list" : "", unit_in_words(key->unit),
             range, default_in_words(value, key), key->doc);
    add_row(rows, row);
}

/* All keys except the models' own, in the order of the schema and of a resolved file. */
static void add_field_rows(struct rows *rows, const struct scenario_schema *schema,
                           const cyaml_schema_field_t *field, const char *block)
{
    for (; field->key != NULL; field++) {
        char path[256];
        snprintf(path, sizeof(path), "%s%s%s", block, block[0] == '\0' ? "" : ".", field->key);
        const struct scenario_key *key = scenario_key_find(schema, path);
        cr_assert_not_null(key, "the table has no %s", path);
        if (key < scenario_keys || key >= scenario_keys + scenario_key_count)
            continue;
        add_key_row(rows, key, &field->value);
        if (field->value.type == CYAML_MAPPING)
            add_field_rows(rows, schema, field->value.mapping.fields, path);
        if (field->value.type != CYAML_SEQUENCE ||
            field->value.sequence.entry->type != CYAML_MAPPING)
            continue;
        strcat(path, "[]");
        add_field_rows(rows, schema, field->value.sequence.entry->mapping.fields, path);
    }
}

static void add_quantity_rows(struct rows *rows, const struct hil_quantities *quantities)
{
    for (unsigned i = 0; i < quantities->count; i++) {
        const struct hil_quantity *quantity = &quantities->at[i];
        char row[ROW_BYTES], range[128], value[SCENARIO_NUMBER_BYTES];
        if (form_is_duty(quantity->name) || form_is_limit(quantity->name))
            continue;
        scenario_say_range(quantity->min, quantity->max, "", range, sizeof(range));
        scenario_number_text(value, quantity->value);
        snprintf(row, sizeof(row), "| `%s` | %s | %s | %s | %s |", quantity->name,
                 unit_in_words(quantity->unit), range, value, quantity->doc);
        add_row(rows, row);
    }
}

/* --- the models' tables: models with the same table share one ---------------------------- */

/* A kind of table: of which models, and its rows for one of them. */
struct models_table {
    const char *what;
    bool (*has)(const struct hil_model *m);
    void (*add)(struct rows *rows, const struct hil_model *m);
};

static bool is_law(const struct hil_model *m)
{
    return form_law_named(m->name) != NULL;
}

static bool is_plant(const struct hil_model *m)
{
    return form_plant_named(m->name) != NULL;
}

static void add_gain_rows(struct rows *rows, const struct hil_model *m)
{
    add_quantity_rows(rows, &m->parameters);
}

static void add_parameter_rows(struct rows *rows, const struct hil_model *m)
{
    add_quantity_rows(rows, &m->parameters);
    add_quantity_rows(rows, &m->inputs);
}

static void add_state_rows(struct rows *rows, const struct hil_model *m)
{
    add_quantity_rows(rows, &m->states);
}

static const struct models_table models_tables[] = {
    {"Gains", is_law, add_gain_rows},
    {"Parameters", is_plant, add_parameter_rows},
    {"Initial states", is_plant, add_state_rows},
};

static bool tables_alike(const struct models_table *t, const struct hil_model *a,
                         const struct hil_model *b)
{
    struct rows of_a = {0}, of_b = {0};

    t->add(&of_a, a);
    t->add(&of_b, b);
    bool same = of_a.count == of_b.count;
    for (unsigned i = 0; same && i < of_a.count; i++)
        same = strcmp(of_a.at[i], of_b.at[i]) == 0;
    free_rows(&of_a);
    free_rows(&of_b);
    return same;
}

/* The index of the first model that has the same table as this one. */
static unsigned first_alike(const struct models_table *t, unsigned place)
{
    for (unsigned i = 0; i < place; i++)
        if (t->has(hil_models[i]) && tables_alike(t, hil_models[i], hil_models[place]))
            return i;
    return place;
}

/* "### Gains of `pid`, `pi`": all models that share the table of the one at `place`. */
static void add_heading(struct rows *rows, const struct models_table *t, unsigned place)
{
    char heading[ROW_BYTES];
    int length =
        snprintf(heading, sizeof(heading), "### %s of `%s`", t->what, hil_models[place]->name);

    for (unsigned i = place + 1; hil_models[i] != NULL; i++)
        if (t->has(hil_models[i]) && first_alike(t, i) == place)
            length += snprintf(heading + length, sizeof(heading) - (size_t)length, ", `%s`",
                               hil_models[i]->name);
    add_row(rows, heading);
}

static void add_tables(struct rows *rows, const struct models_table *t)
{
    for (unsigned i = 0; hil_models[i] != NULL; i++) {
        if (!t->has(hil_models[i]) || first_alike(t, i) != i)
            continue;
        add_heading(rows, t, i);
        t->add(rows, hil_models[i]);
    }
}

/* --- all expected rows ------------------------------------------------------------------- */

static struct scenario_schema *open_schema(void)
{
    struct scenario_place place = {.file = "test", .line = 1, .column = 1};
    struct scenario_report report = {0};
    struct scenario_schema *schema;
    struct scenario_node *root;

    cr_assert_eq(scenario_tree_parse(&root, SMALL, strlen(SMALL), &place, &report), 0);
    cr_assert_eq(scenario_schema_open(&schema, root), 0);
    scenario_node_free(root);
    return schema;
}

static void add_expected_rows(struct rows *rows)
{
    struct scenario_schema *schema = open_schema();

    add_field_rows(rows, schema, schema->top.mapping.fields, "");
    add_field_rows(rows, schema, scenario_general.mapping.fields, "");
    scenario_schema_close(schema);
    for (size_t i = 0; i < sizeof models_tables / sizeof *models_tables; i++)
        add_tables(rows, &models_tables[i]);
}

/* --- the document's rows ---------------------------------------------------------------- */

static void add_documented_rows(struct rows *rows)
{
    FILE *file = fopen("docs/scenario.md", "r");
    char line[ROW_BYTES];

    cr_assert_not_null(file);
    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "| `", 3) == 0 || (strncmp(line, "### ", 4) == 0 && strchr(line, '`')))
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
    struct scenario_schema *schema = open_schema();
    struct rows rows = {0};

    add_field_rows(&rows, schema, schema->top.mapping.fields, "");
    add_field_rows(&rows, schema, scenario_general.mapping.fields, "");
    cr_expect_eq(rows.count, scenario_key_count);
    free_rows(&rows);
    scenario_schema_close(schema);
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
