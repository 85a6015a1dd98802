/*
 * A scenario as written: a tree of scalars, sequences and mappings that remembers the place of each
 * key and value. Values from --set and defaults are added to it.
 */
#ifndef HIL_SCENARIO_TREE_H
#define HIL_SCENARIO_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "scenario_report.h"

enum scenario_kind { SCENARIO_SCALAR, SCENARIO_SEQUENCE, SCENARIO_MAPPING };

/* An entry of a mapping, or of a sequence (its key is then NULL). */
struct scenario_entry {
    char *key;
    struct scenario_place at; /* place of the key */
    struct scenario_node *value;
};

struct scenario_node {
    enum scenario_kind kind;
    struct scenario_place at;
    char *text;         /* for a scalar */
    char *written;      /* the text with a unit, of which `text` is the number; NULL: it has none */
    bool plain;         /* written without quotes, as numbers and bools must be */
    size_t text_column; /* of the text's first character; 0: the file has the text in other words,
                         * on several lines or with escapes */
    struct scenario_entry *entries;
    size_t count;
};

/* Copies `text`, which is NULL except for a scalar. Returns NULL when memory runs out. */
struct scenario_node *scenario_node_new(enum scenario_kind kind, const char *text,
                                        const struct scenario_place *at);
void scenario_node_free(struct scenario_node *node);

/*
 * Appends `value` under `key` (NULL in a sequence). Takes ownership of `value`, even when it fails
 * with -ENOMEM. Does not look for an existing key of this name: duplicates in a file are kept, and
 * reported later.
 */
int scenario_node_add(struct scenario_node *node, const char *key, const struct scenario_place *at,
                      struct scenario_node *value);

/* A copy of the whole node, with its places. Returns NULL when memory runs out. */
struct scenario_node *scenario_node_copy(const struct scenario_node *node);

/* Removes the value under `key`, if there is one. */
void scenario_node_remove(struct scenario_node *node, const char *key);

/* The value under `key`, or NULL if there is none, or `node` is NULL or not a mapping. */
struct scenario_node *scenario_node_get(const struct scenario_node *node, const char *key);

/* The node at a dotted path ("record.0.signals"), or NULL. */
struct scenario_node *scenario_node_find(struct scenario_node *root, const char *path);

/* Whether the value is YAML's null: nothing, ~ or null, unquoted. */
bool scenario_node_empty(const struct scenario_node *node);

/* Describes a value for messages: "a mapping", "a list", "empty", or the quoted text. */
const char *scenario_node_describe(const struct scenario_node *node, char *buffer, size_t size);

/*
 * Parses YAML text into a tree; aliases become copies. A mistake is reported at its place, or at
 * the --set if `place` is one. Returns 0, -EINVAL or -ENOMEM; *root is set on success only.
 */
int scenario_tree_parse(struct scenario_node **root, const char *text, size_t length,
                        const struct scenario_place *place, struct scenario_report *report);

/* Reads and parses a file. */
int scenario_tree_read(struct scenario_node **root, const char *path,
                       struct scenario_report *report);

/*
 * Applies "dotted.path=VALUE" to the tree. Missing mappings and sequences in the path are created;
 * an index one past a sequence's end appends. Returns 0, -EINVAL or -ENOMEM.
 */
int scenario_tree_set(struct scenario_node *root, const char *set, struct scenario_report *report);

/* The tree as NUL-terminated YAML text, which the caller owns. Returns 0 or -ENOMEM. */
int scenario_tree_print(const struct scenario_node *root, char **text);

#endif
