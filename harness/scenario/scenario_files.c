#include "scenario_files.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* The file under `key`, unless it is not there. */
static int find_file(struct scenario_node *block, const char *key, const char *folder)
{
    struct scenario_node *node = scenario_node_get(block, key);
    char *joined;

    if (!node || !node->text)
        return 0;
    if (asprintf(&joined, "%s/%s", node->text[0] == '/' ? "" : folder, node->text) < 0)
        return -ENOMEM;
    char *whole = realpath(joined, NULL);
    free(joined);
    if (!whole)
        return errno == ENOMEM ? -ENOMEM : 0;
    free(node->text);
    node->text = whole;
    return 0;
}

int scenario_find_files(struct scenario_node *root, const char *path)
{
    const struct scenario_node *sources = scenario_node_get(root, "sources");
    char copy[PATH_MAX];
    int rc = 0;

    snprintf(copy, sizeof copy, "%s", path);
    const char *folder = dirname(copy);
    for (size_t i = 0; !rc && sources && i < sources->count; i++) {
        const struct scenario_node *source = sources->entries[i].value;
        rc = find_file(scenario_node_get(source, "csv"), "file", folder);
        if (!rc)
            rc = find_file(scenario_node_get(source, "record"), "run", folder);
    }
    return rc;
}
