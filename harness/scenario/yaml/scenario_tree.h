/*
 * A scenario as it was written: a tree of scalars, sequences and mappings that remembers
 * where each key and value stands. Values given by --set and defaults are laid over it.
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
    struct scenario_place at; /* of the key */
    struct scenario_node *value;
};

struct scenario_node {
    enum scenario_kind kind;
    struct scenario_place at;
    char *text; /* of a scalar */
    bool plain; /* written without quotes: a number or a bool must be */
    struct scenario_entry *entries;
    size_t count;
};

/* NULL when there is no memory; takes a copy of `text` (NULL but for a scalar). */
struct scenario_node *scenario_node_new(enum scenario_kind kind, const char *text,
                                        const struct scenario_place *at);
void scenario_node_free(struct scenario_node *node);

/*
 * Appends `value` under `key` (NULL in a sequence). Owns `value` from now on, also when it
 * fails with -ENOMEM. Does not look for a key of the same name: a file's duplicates are
 * kept, to be reported.
 */
int scenario_node_add(struct scenario_node *node, const char *key, const struct scenario_place *at,
                      struct scenario_node *value);

/* The value under `key`, or NULL when there is none or `node` is no mapping (or NULL). */
struct scenario_node *scenario_node_get(const struct scenario_node *node, const char *key);

/* The node at a dotted path ("converters.overrides.0.id"), or NULL. */
struct scenario_node *scenario_node_find(struct scenario_node *root, const char *path);

/* True for what YAML calls null: nothing, ~ or null, unquoted. */
bool scenario_node_empty(const struct scenario_node *node);

/* The same, for messages: "a mapping", "a list", "empty", or the quoted text. */
const char *scenario_node_describe(const struct scenario_node *node, char *buffer, size_t size);

/*
 * Parses YAML text into a tree; aliases become copies. A mistake is reported at its place
 * (that of the --set when `place` is one). Returns 0, -EINVAL or -ENOMEM; *root is set on
 * success only.
 */
int scenario_tree_parse(struct scenario_node **root, const char *text, size_t length,
                        const struct scenario_place *place, struct scenario_report *report);

/* Reads and parses a file. */
int scenario_tree_read(struct scenario_node **root, const char *path,
                       struct scenario_report *report);

/*
 * Lays "dotted.path=VALUE" over the tree. Missing mappings and sequences on the way are
 * made; an index one past a sequence's end appends. Returns 0, -EINVAL or -ENOMEM.
 */
int scenario_tree_set(struct scenario_node *root, const char *set, struct scenario_report *report);

/* The tree as YAML text, NUL-terminated and owned by the caller. Returns 0 or -ENOMEM. */
int scenario_tree_print(const struct scenario_node *root, char **text);

#endif
