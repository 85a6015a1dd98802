#include "scenario_defaults.h"

#include <stdio.h>
#include <string.h>

#include "value_units.h"

enum { PATH_MAX_BYTES = 256 };

/* Its place is that of the block in which it was missing. */
static int defaults_add_text(struct scenario_node *block, const char *key, const char *text)
{
    return scenario_node_add(block, key, &block->at,
                             scenario_node_new(SCENARIO_SCALAR, text, &block->at));
}

/* {}, [] or a text. */
static int defaults_add(struct scenario_node *block, const char *key, const char *initial)
{
    if (strcmp(initial, "{}") == 0)
        return scenario_node_add(block, key, &block->at,
                                 scenario_node_new(SCENARIO_MAPPING, NULL, &block->at));
    if (strcmp(initial, "[]") == 0)
        return scenario_node_add(block, key, &block->at,
                                 scenario_node_new(SCENARIO_SEQUENCE, NULL, &block->at));
    return defaults_add_text(block, key, initial);
}

static int fill(struct scenario_node *node, const cyaml_schema_value_t *value, const char *path);

/* Blocks under names chosen by the scenario. */
static int fill_named(struct scenario_node *node, const cyaml_schema_value_t *value,
                      const char *path)
{
    char any[PATH_MAX_BYTES];
    int error = 0;

    snprintf(any, sizeof(any), "%s.*", path);
    for (size_t i = 0; error == 0 && i < node->count; i++)
        error = fill(node->entries[i].value, value, any);
    return error;
}

static int fill_mapping(struct scenario_node *node, const cyaml_schema_value_t *value,
                        const char *path)
{
    const cyaml_schema_field_t *field = value->mapping.fields;
    int error = 0;

    if (scenario_field_is_any(field))
        return fill_named(node, &field->value, path);
    for (; error == 0 && field->key != NULL; field++) {
        char child[PATH_MAX_BYTES], stem[SCENARIO_STEM_BYTES];
        snprintf(child, sizeof(child), "%s%s%s", path, path[0] == '\0' ? "" : ".", field->key);
        const struct scenario_key *key = scenario_key_find(child);
        if (scenario_field_stem(stem, value->mapping.fields, field, key->unit))
            error = scenario_take_stem(node, stem, field->key, key->unit);
        if (error != 0)
            break;
        if (scenario_node_get(node, field->key) == NULL && key->initial != NULL)
            error = defaults_add(node, field->key, key->initial);
        struct scenario_node *present = scenario_node_get(node, field->key);
        if (error == 0 && present != NULL)
            error = fill(present, &field->value, child);
        if (error == 0 && present != NULL && scenario_type_is_number(field->value.type))
            error = scenario_node_convert(present, key->unit);
    }
    return error;
}

static int fill(struct scenario_node *node, const cyaml_schema_value_t *value, const char *path)
{
    if (value->type == CYAML_MAPPING && node->kind == SCENARIO_MAPPING)
        return fill_mapping(node, value, path);
    if (value->type != CYAML_SEQUENCE || node->kind != SCENARIO_SEQUENCE ||
        node->count > value->sequence.max) /* the check refuses a longer list */
        return 0;

    char entry[PATH_MAX_BYTES];
    snprintf(entry, sizeof(entry), "%s[]", path);
    for (size_t i = 0; i < node->count; i++) {
        int error = fill(node->entries[i].value, value->sequence.entry, entry);
        if (error != 0)
            return error;
    }
    return 0;
}

int scenario_fill_defaults(struct scenario_node *root)
{
    return fill(root, &scenario_top, "");
}

/* --- order ------------------------------------------------------------------------------ */

/* Moves the entry called `key` up to index `to`, if it comes later. */
static void move_up(struct scenario_node *node, const char *key, size_t to)
{
    size_t from = to;

    while (from < node->count && strcmp(node->entries[from].key, key) != 0)
        from++;
    if (from == node->count)
        return;
    const struct scenario_entry entry = node->entries[from];
    memmove(&node->entries[to + 1], &node->entries[to], (from - to) * sizeof(entry));
    node->entries[to] = entry;
}

static void arrange(struct scenario_node *node, const cyaml_schema_value_t *value)
{
    if (value->type == CYAML_SEQUENCE)
        for (size_t i = 0; i < node->count; i++)
            arrange(node->entries[i].value, value->sequence.entry);
    if (value->type != CYAML_MAPPING)
        return;

    size_t placed = 0;
    if (scenario_field_is_any(value->mapping.fields)) {
        for (size_t i = 0; i < node->count; i++)
            arrange(node->entries[i].value, &value->mapping.fields->value);
        return;
    }
    for (const cyaml_schema_field_t *field = value->mapping.fields; field->key != NULL; field++) {
        move_up(node, field->key, placed);
        if (placed == node->count || strcmp(node->entries[placed].key, field->key) != 0)
            continue;
        arrange(node->entries[placed].value, &field->value);
        placed++;
    }
}

void scenario_arrange(struct scenario_node *root)
{
    arrange(root, &scenario_top);
}
