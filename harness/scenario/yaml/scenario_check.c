#include "scenario_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../../base/names.h"

enum { PATH_MAX_BYTES = 256, TEXT_MAX = 1024, FIELDS_MAX = 80 };

/* The position in the tree, and what it is checked against. */
struct check {
    struct scenario_report *report;
    char path[PATH_MAX_BYTES]; /* in the notation of --set: record.0.signals */
    int error;                 /* -ENOMEM, or 0 */
};

static void check_value(struct check *check, const struct scenario_node *node,
                        const cyaml_schema_value_t *value);

/* "PATH is FOUND (REMARK); allowed: ..." */
static void wrong(struct check *check, const struct scenario_node *node,
                  const cyaml_schema_value_t *value, const char *remark)
{
    char found[128], allowed[TEXT_MAX + 64];

    scenario_say_allowed(scenario_key_find(check->path), value, allowed, sizeof(allowed));
    scenario_mistake(check->report, &node->at, "%s is %s%s; allowed: %s",
                     check->path[0] == '\0' ? "the scenario" : check->path,
                     scenario_node_describe(node, found, sizeof(found)), remark, allowed);
}

static void check_enum(struct check *check, const struct scenario_node *node,
                       const cyaml_schema_value_t *value)
{
    const char *words[FIELDS_MAX], *near;
    char remark[128] = "";
    size_t count = 0;

    for (; count < value->enumeration.count && count < FIELDS_MAX; count++) {
        words[count] = value->enumeration.strings[count].str;
        if (strcmp(words[count], node->text) == 0)
            return;
    }
    near = scenario_near_miss(node->text, words, count);
    if (near != NULL)
        snprintf(remark, sizeof(remark), " (did you mean '%s'?)", near);
    wrong(check, node, value, remark);
}

/* --- mappings and lists ----------------------------------------------------------------- */

/* Adds a word to the path; returns the previous length, to restore it later. */
static size_t descend(struct check *check, const char *word)
{
    size_t length = strlen(check->path);
    snprintf(check->path + length, sizeof(check->path) - length, "%s%s", length == 0 ? "" : ".",
             word);
    return length;
}

static void ascend(struct check *check, size_t length)
{
    check->path[length] = '\0';
}

static const cyaml_schema_field_t *find_field(const cyaml_schema_field_t *field, const char *key)
{
    if (scenario_field_is_any(field))
        return field;
    for (; field->key != NULL; field++)
        if (strcmp(field->key, key) == 0)
            return field;
    return NULL;
}

static const char *block_name(const struct check *check)
{
    return check->path[0] == '\0' ? "the scenario" : check->path;
}

static void unknown_key(struct check *check, const struct scenario_entry *entry,
                        const cyaml_schema_value_t *value)
{
    const char *names[FIELDS_MAX];
    char choice[SCENARIO_CHOICE_BYTES];
    size_t count = 0;

    for (const cyaml_schema_field_t *f = value->mapping.fields; f->key != NULL; f++)
        if (count < FIELDS_MAX)
            names[count++] = f->key;
    scenario_say_choice(entry->key, names, count, choice);
    scenario_mistake(check->report, &entry->at, "unknown key '%.60s' in %s%s", entry->key,
                     block_name(check), choice);
}

/* Whether an earlier entry has the same key; reports the later one. */
static bool is_duplicate(struct check *check, const struct scenario_entry *entry,
                         struct hil_names *seen)
{
    if (hil_names_add(seen, entry->key, 0) < 0)
        return false;
    scenario_mistake(check->report, &entry->at,
                     "key '%.60s' for the second time in %s; allowed: once", entry->key,
                     block_name(check));
    return true;
}

static void check_missing(struct check *check, const struct scenario_node *node,
                          const cyaml_schema_field_t *field)
{
    char allowed[TEXT_MAX + 64];

    if ((field->value.flags & CYAML_FLAG_OPTIONAL) || field->value.type == CYAML_IGNORE ||
        scenario_node_get(node, field->key) != NULL)
        return;
    size_t length = descend(check, field->key);
    scenario_say_allowed(scenario_key_find(check->path), &field->value, allowed, sizeof(allowed));
    scenario_mistake(check->report, &node->at, "%s is missing; required: %s", check->path, allowed);
    ascend(check, length);
}

static void check_entry(struct check *check, const struct scenario_entry *entry,
                        const cyaml_schema_value_t *value, struct hil_names *seen)
{
    const cyaml_schema_field_t *field = find_field(value->mapping.fields, entry->key);

    if (is_duplicate(check, entry, seen))
        return;
    if (field == NULL) {
        unknown_key(check, entry, value);
        return;
    }
    if (scenario_field_is_any(field) && !scenario_name_fits(entry->key)) {
        scenario_mistake(check->report, &entry->at,
                         "'%.60s' is not a name for one of %s; allowed: %s", entry->key,
                         block_name(check), scenario_names_allowed);
        return;
    }
    size_t length = descend(check, entry->key);
    check_value(check, entry->value, &field->value);
    ascend(check, length);
}

static void check_mapping(struct check *check, const struct scenario_node *node,
                          const cyaml_schema_value_t *value)
{
    struct hil_names seen;

    if (hil_names_open(&seen, node->count) != 0) {
        check->error = -ENOMEM;
        return;
    }
    for (size_t i = 0; i < node->count && !scenario_report_is_full(check->report); i++)
        check_entry(check, &node->entries[i], value, &seen);
    hil_names_close(&seen);
    for (const cyaml_schema_field_t *field = value->mapping.fields; field->key != NULL; field++)
        check_missing(check, node, field);
}

static void check_list(struct check *check, const struct scenario_node *node,
                       const cyaml_schema_value_t *value)
{
    if (node->count > value->sequence.max) {
        scenario_mistake(check->report, &node->at,
                         "%s is a list of %zu; allowed: a list of up to %u", check->path,
                         node->count, value->sequence.max);
        return;
    }
    for (size_t i = 0; i < node->count && !scenario_report_is_full(check->report); i++) {
        char index[24];
        snprintf(index, sizeof(index), "%zu", i);
        size_t length = descend(check, index);
        check_value(check, node->entries[i].value, value->sequence.entry);
        ascend(check, length);
    }
}

static enum scenario_kind kind_of(const cyaml_schema_value_t *value)
{
    switch (value->type) {
    case CYAML_MAPPING:
        return SCENARIO_MAPPING;
    case CYAML_SEQUENCE:
        return SCENARIO_SEQUENCE;
    default:
        return SCENARIO_SCALAR;
    }
}

static void check_scalar(struct check *check, const struct scenario_node *node,
                         const cyaml_schema_value_t *value, const struct scenario_key *key)
{
    char remark[SCENARIO_REMARK_BYTES] = "";

    if (value->type == CYAML_ENUM)
        return check_enum(check, node, value);
    if (scenario_scalar_fits(key, value->type, node))
        return;
    if (scenario_type_is_number(value->type))
        scenario_number_remark(node->text, key->unit, remark);
    wrong(check, node, value, remark);
}

/* Checks a list that gives one value for each of several things. */
static void check_each(struct check *check, const struct scenario_node *node,
                       const cyaml_schema_value_t *value, const struct scenario_key *key)
{
    for (size_t i = 0; i < node->count && !scenario_report_is_full(check->report); i++) {
        const struct scenario_node *one = node->entries[i].value;
        if (one->kind == SCENARIO_SCALAR)
            check_scalar(check, one, value, key);
        else
            wrong(check, one, value, "");
    }
}

static void check_value(struct check *check, const struct scenario_node *node,
                        const cyaml_schema_value_t *value)
{
    if (value->type == CYAML_IGNORE)
        return;
    if (kind_of(value) == SCENARIO_SCALAR && node->kind != SCENARIO_MAPPING) {
        const struct scenario_key *key = scenario_key_find(check->path);
        if (node->kind == SCENARIO_SCALAR)
            check_scalar(check, node, value, key);
        else if (key->each)
            check_each(check, node, value, key);
        else
            wrong(check, node, value, "");
    } else if (kind_of(value) != node->kind) {
        wrong(check, node, value, "");
    } else if (node->kind == SCENARIO_MAPPING) {
        check_mapping(check, node, value);
    } else {
        check_list(check, node, value);
    }
}

int scenario_check(const struct scenario_node *root, struct scenario_report *report)
{
    struct check check = {.report = report};
    check_value(&check, root, &scenario_top);
    return check.error;
}
