#include "scenario_tree.h"
#include "../../base/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct scenario_node *scenario_node_new(enum scenario_kind kind, const char *text,
                                        const struct scenario_place *at)
{
    struct scenario_node *node = calloc(1, sizeof(*node));

    if (node == NULL)
        return NULL;
    node->kind = kind;
    node->at = *at;
    node->plain = true;
    if (text == NULL)
        return node;
    node->text = strdup(text);
    if (node->text != NULL)
        return node;
    free(node);
    return NULL;
}

void scenario_node_free(struct scenario_node *node)
{
    if (node == NULL)
        return;
    for (size_t i = 0; i < node->count; i++) {
        free(node->entries[i].key);
        scenario_node_free(node->entries[i].value);
    }
    free(node->entries);
    free(node->text);
    free(node->written);
    free(node);
}

static int grow(struct scenario_node *node)
{
    struct scenario_entry *more = hil_list_more(node->entries, node->count, sizeof(*more));

    if (more == NULL)
        return -ENOMEM;
    node->entries = more;
    return 0;
}

int scenario_node_add(struct scenario_node *node, const char *key, const struct scenario_place *at,
                      struct scenario_node *value)
{
    char *copy = key == NULL ? NULL : strdup(key);

    if (value == NULL || (key != NULL && copy == NULL) || grow(node) != 0) {
        free(copy);
        scenario_node_free(value);
        return -ENOMEM;
    }
    node->entries[node->count++] = (struct scenario_entry){.key = copy, .at = *at, .value = value};
    return 0;
}

struct scenario_node *scenario_node_copy(const struct scenario_node *node)
{
    struct scenario_node *copy = scenario_node_new(node->kind, node->text, &node->at);

    if (copy == NULL)
        return NULL;
    copy->plain = node->plain;
    copy->text_column = node->text_column;
    for (size_t i = 0; i < node->count; i++) {
        const struct scenario_entry *entry = &node->entries[i];
        if (scenario_node_add(copy, entry->key, &entry->at, scenario_node_copy(entry->value)) == 0)
            continue;
        scenario_node_free(copy);
        return NULL;
    }
    return copy;
}

/* Only the first `length` characters of the key count, because it may be part of a path. */
static struct scenario_entry *find_entry(const struct scenario_node *node, const char *key,
                                         size_t length)
{
    if (node == NULL || node->kind != SCENARIO_MAPPING)
        return NULL;
    for (size_t i = 0; i < node->count; i++) {
        struct scenario_entry *entry = &node->entries[i];
        if (strncmp(entry->key, key, length) == 0 && entry->key[length] == '\0')
            return entry;
    }
    return NULL;
}

struct scenario_node *scenario_node_get(const struct scenario_node *node, const char *key)
{
    const struct scenario_entry *entry = find_entry(node, key, strlen(key));
    return entry == NULL ? NULL : entry->value;
}

void scenario_node_remove(struct scenario_node *node, const char *key)
{
    struct scenario_entry *entry = find_entry(node, key, strlen(key));

    if (entry == NULL)
        return;
    free(entry->key);
    scenario_node_free(entry->value);
    node->count--;
    memmove(entry, entry + 1, (size_t)(node->entries + node->count - entry) * sizeof(*entry));
}

static bool is_index(const char *word, size_t length)
{
    return length > 0 && length < 8 && strspn(word, "0123456789") >= length;
}

struct scenario_node *scenario_node_find(struct scenario_node *root, const char *path)
{
    struct scenario_node *node = root;

    while (node != NULL && *path != '\0') {
        size_t length = strcspn(path, ".");
        if (node->kind == SCENARIO_SEQUENCE) {
            size_t index = is_index(path, length) ? (size_t)atoi(path) : node->count;
            node = index < node->count ? node->entries[index].value : NULL;
        } else {
            const struct scenario_entry *entry = find_entry(node, path, length);
            node = entry == NULL ? NULL : entry->value;
        }
        path += length + (path[length] == '.');
    }
    return node;
}

bool scenario_node_empty(const struct scenario_node *node)
{
    return node->kind == SCENARIO_SCALAR && node->plain &&
           (node->text[0] == '\0' || strcmp(node->text, "~") == 0 ||
            strcasecmp(node->text, "null") == 0);
}

const char *scenario_node_describe(const struct scenario_node *node, char *buffer, size_t size)
{
    if (node->kind == SCENARIO_MAPPING)
        return "a mapping";
    if (node->kind == SCENARIO_SEQUENCE)
        return "a list";
    if (scenario_node_empty(node))
        return "empty";
    const char *text = node->written != NULL ? node->written : node->text;
    snprintf(buffer, size, "%s%.60s%s%s", node->plain ? "'" : "the text \"", text,
             strlen(text) > 60 ? "..." : "", node->plain ? "'" : "\"");
    return buffer;
}

/* --- --set ---------------------------------------------------------------------------- */

/* Replaces the value of `entry`, or adds a new entry if that is NULL. Takes ownership of `value`,
 * like add. */
static int put(struct scenario_node *parent, struct scenario_entry *entry, const char *word,
               size_t length, const struct scenario_place *at, struct scenario_node *value)
{
    if (value == NULL)
        return -ENOMEM;
    if (entry != NULL) {
        scenario_node_free(entry->value);
        entry->value = value;
        entry->at = *at;
        return 0;
    }
    char *key = parent->kind == SCENARIO_MAPPING ? strndup(word, length) : NULL;
    if (parent->kind == SCENARIO_MAPPING && key == NULL) {
        scenario_node_free(value);
        return -ENOMEM;
    }
    int error = scenario_node_add(parent, key, at, value);
    free(key);
    return error;
}

static int sequence_entry(struct scenario_node *parent, const char *word, size_t length,
                          const struct scenario_place *at, struct scenario_report *report,
                          struct scenario_entry **entry)
{
    size_t index = is_index(word, length) ? (size_t)atoi(word) : parent->count + 1;

    if (index > parent->count) {
        scenario_mistake(report, at, "'%.*s' is not an index of the list; allowed: 0 to %zu",
                         (int)length, word, parent->count);
        return -EINVAL;
    }
    *entry = index < parent->count ? &parent->entries[index] : NULL;
    return 0;
}

/*
 * Follows the path, and puts `value` at its end. A value on the path that cannot hold the next word
 * is replaced by a new container; the schema will then report what belongs there.
 */
static int lay(struct scenario_node *parent, const char *path, struct scenario_node *value,
               const struct scenario_place *at, struct scenario_report *report)
{
    size_t length = strcspn(path, ".");
    struct scenario_entry *entry = find_entry(parent, path, length);
    int error = 0;

    if (parent->kind == SCENARIO_SEQUENCE)
        error = sequence_entry(parent, path, length, at, report, &entry);
    if (error == 0 && path[length] == '\0')
        return put(parent, entry, path, length, at, value);

    const char *next = path + length + 1;
    struct scenario_node *child = entry == NULL ? NULL : entry->value;
    if (error == 0 && (child == NULL || child->kind == SCENARIO_SCALAR)) {
        bool index = is_index(next, strcspn(next, "."));
        child = scenario_node_new(index ? SCENARIO_SEQUENCE : SCENARIO_MAPPING, NULL, at);
        error = put(parent, entry, path, length, at, child);
    }
    if (error == 0)
        return lay(child, next, value, at, report);
    scenario_node_free(value);
    return error;
}

/* Paths deeper than any key are refused before they are built, because freeing a tree is
 * recursive. */
static bool too_deep(const char *path)
{
    unsigned dots = 0;
    for (; *path != '\0'; path++)
        dots += *path == '.';
    return dots > 16;
}

int scenario_tree_set(struct scenario_node *root, const char *set, struct scenario_report *report)
{
    struct scenario_place at = {.set = set};
    const char *equals = strchr(set, '=');
    struct scenario_node *value;

    if (equals == NULL || equals == set) {
        scenario_mistake(report, &at, "no %s; allowed: KEY=VALUE with the dotted path of a key",
                         equals == NULL ? "'='" : "key before the '='");
        return -EINVAL;
    }
    int error = scenario_tree_parse(&value, equals + 1, strlen(equals + 1), &at, report);
    if (error != 0)
        return error;

    char *path = strndup(set, (size_t)(equals - set));
    if (path == NULL || too_deep(path)) {
        error = path == NULL ? -ENOMEM : -EINVAL;
        if (path != NULL)
            scenario_mistake(report, &at, "no key is that deep; docs/keys.md lists the keys");
        scenario_node_free(value);
    } else {
        error = lay(root, path, value, &at, report);
    }
    free(path);
    return error;
}
