#include "scenario_listing.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "scenario_check.h"

enum { LISTING_PATH_BYTES = 256 };

struct listing {
    char path[LISTING_PATH_BYTES];
    FILE *to;
};

/* A block stands for all its keys, and * for any name. docs/validity.md has the same list, which a
 * test compares with this one. */
static const char *const by_machine[] = {
    "verbs",
    "tcp",
    "rendezvous",
    "nodes.*.cpu",
    "nodes.*.shards",
    "nodes.*.shard_cpus",
    "nodes.*.priority",
    "nodes.*.scheduler",
    "nodes.*.wait",
    "record",
    "on_record_error",
    "limits",
    "bode",
    "validity",
    "trace",
    "placement",
    "hang_limit_s",
};

/* Whether the path is that of the block, or of a key in it. */
static bool is_within(const char *path, const char *block)
{
    for (; *block != '\0'; block++) {
        if (*block == '*')
            path += strcspn(path, ".");
        else if (*block != *path++)
            return false;
    }
    return *path == '\0' || *path == '.';
}

bool scenario_listing_leaves_out(const char *path)
{
    for (size_t i = 0; i < sizeof(by_machine) / sizeof(by_machine[0]); i++)
        if (is_within(path, by_machine[i]))
            return true;
    return false;
}

/* --- values --------------------------------------------------------------------------------- */

static void listing_number(struct listing *l, const struct scenario_key *key, double value)
{
    char text[SCENARIO_NUMBER_BYTES];

    if (key != NULL && key->rule == SCENARIO_WHOLE_NS) {
        const double per_unit = scenario_ns_per_unit(key);
        value = (double)scenario_ns(value, per_unit) / per_unit;
    }
    scenario_number_text(text, value + 0.0); /* no -0 */
    fputs(text, l->to);
}

/* For a provided model, the listing has its build rather than its path. */
static void listing_text(struct listing *l, const char *text)
{
    const struct hil_loaded *loaded = hil_loaded_find(text, NULL);

    if (loaded == NULL)
        fputs(text, l->to);
    else
        fprintf(l->to, "%s, build %016llx", loaded->model->name, (unsigned long long)loaded->hash);
}

static void listing_scalar(struct listing *l, const struct scenario_node *node,
                           enum cyaml_type type, const struct scenario_key *key)
{
    fprintf(l->to, "%s=", l->path);
    if (scenario_type_is_number(type) || (type == CYAML_IGNORE && scenario_is_number(node->text)))
        listing_number(l, key, strtod(node->text, NULL));
    else
        listing_text(l, node->text);
    fputc('\n', l->to);
}

/* --- the tree ------------------------------------------------------------------------------- */

static size_t listing_descend(struct listing *l, const char *word)
{
    const size_t length = strlen(l->path);

    snprintf(l->path + length, sizeof(l->path) - length, "%s%s", length == 0 ? "" : ".", word);
    return length;
}

static void listing_value(struct listing *l, const struct scenario_node *node,
                          const cyaml_schema_value_t *value, const struct scenario_key *key);

/* All entries of a list belong to the key of the list. */
static void listing_list(struct listing *l, const struct scenario_node *node,
                         const cyaml_schema_value_t *value, const struct scenario_key *key)
{
    const cyaml_schema_value_t *entry =
        value->type == CYAML_SEQUENCE ? value->sequence.entry : value;

    for (size_t i = 0; i < node->count; i++) {
        char index[24];
        snprintf(index, sizeof(index), "%zu", i);
        const size_t length = listing_descend(l, index);
        listing_value(l, node->entries[i].value, entry, key);
        l->path[length] = '\0';
    }
}

/* Keys chosen by the scenario or a model, in the order of the file. */
static void listing_names(struct listing *l, const struct scenario_node *node,
                          const cyaml_schema_value_t *value)
{
    for (size_t i = 0; i < node->count; i++) {
        const size_t length = listing_descend(l, node->entries[i].key);
        listing_value(l, node->entries[i].value, value, NULL);
        l->path[length] = '\0';
    }
}

static void listing_mapping(struct listing *l, const struct scenario_node *node,
                            const cyaml_schema_value_t *value)
{
    if (value->type == CYAML_IGNORE) {
        listing_names(l, node, value);
        return;
    }
    if (scenario_field_is_any(value->mapping.fields)) {
        listing_names(l, node, &value->mapping.fields->value);
        return;
    }
    for (const cyaml_schema_field_t *field = value->mapping.fields; field->key != NULL; field++) {
        const struct scenario_node *child = scenario_node_get(node, field->key);
        if (child == NULL)
            continue;
        const size_t length = listing_descend(l, field->key);
        if (!scenario_listing_leaves_out(l->path))
            listing_value(l, child, &field->value, scenario_key_find(l->path));
        l->path[length] = '\0';
    }
}

static void listing_value(struct listing *l, const struct scenario_node *node,
                          const cyaml_schema_value_t *value, const struct scenario_key *key)
{
    if (node->kind == SCENARIO_MAPPING)
        listing_mapping(l, node, value);
    else if (node->kind == SCENARIO_SEQUENCE)
        listing_list(l, node, value, key);
    else
        listing_scalar(l, node, value->type, key);
}

int scenario_listing_make(const struct scenario_node *root, struct hil_scenario *scenario)
{
    struct hil_listing *made = &scenario->listing;
    struct listing l = {.to = open_memstream(&made->lines, &made->length)};

    if (l.to == NULL)
        return -ENOMEM;
    listing_value(&l, root, &scenario_top, NULL);
    if (fclose(l.to) != 0)
        return -ENOMEM;
    made->hash = XXH3_64bits(made->lines, made->length);
    return 0;
}
