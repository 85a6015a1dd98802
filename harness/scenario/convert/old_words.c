#include "convert.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool old_is_word(const struct scenario_node *node, const char *word)
{
    return node && node->kind == SCENARIO_SCALAR && node->plain && strcmp(node->text, word) == 0;
}

static int old_rename(struct scenario_node *block, const char *key, const char *name)
{
    for (size_t i = 0; i < block->count; i++) {
        if (strcmp(block->entries[i].key, key) != 0)
            continue;
        char *text = strdup(name);
        if (!text)
            return -ENOMEM;
        free(block->entries[i].key);
        block->entries[i].key = text;
    }
    return 0;
}

/* of: SIGNALS, with each: true or false, became each: SIGNALS or sum: SIGNALS. */
static int old_measure(struct scenario_node *measure)
{
    const struct scenario_node *each = scenario_node_get(measure, "each");
    const bool is_each = old_is_word(each, "true");

    if (!scenario_node_get(measure, "of") || scenario_node_get(measure, "sum") ||
        (each && !is_each && !old_is_word(each, "false")))
        return 0;
    scenario_node_remove(measure, "each");
    return old_rename(measure, "of", is_each ? "each" : "sum");
}

int scenario_rewrite_old_words(struct scenario_node *root)
{
    const struct scenario_node *measures = scenario_node_get(root, "measures");
    int rc = 0;

    for (size_t i = 0; measures && measures->kind == SCENARIO_MAPPING && !rc && i < measures->count;
         i++)
        rc = old_measure(measures->entries[i].value);
    return rc;
}
