#include "scenario_files.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* The file under `key`, if it exists. */
static int find_file(struct scenario_node *block, const char *key, const char *folder)
{
    struct scenario_node *node = scenario_node_get(block, key);
    char *joined;

    if (!node || !node->text)
        return 0;
    if (asprintf(&joined, "%s/%s", node->text[0] == '/' ? "" : folder, node->text) < 0)
        return -ENOMEM;
    char *whole = realpath(joined, NULL);
    const int rc = !whole && errno == ENOMEM ? -ENOMEM : 0;
    free(joined);
    if (!whole)
        return rc;
    free(node->text);
    node->text = whole;
    return 0;
}

/* The files of a source, or of a reference. */
static int find_files(struct scenario_node *block, const char *folder)
{
    const int rc = find_file(scenario_node_get(block, "csv"), "file", folder);

    return rc ? rc : find_file(scenario_node_get(block, "record"), "run", folder);
}

int scenario_find_files(struct scenario_node *root, const char *path)
{
    const struct scenario_node *sources = scenario_node_get(root, "sources");
    const struct scenario_node *limits = scenario_node_get(root, "limits");
    char copy[PATH_MAX];
    int rc = 0;

    snprintf(copy, sizeof copy, "%s", path);
    const char *folder = dirname(copy);
    for (size_t i = 0; !rc && sources && i < sources->count; i++)
        rc = find_files(sources->entries[i].value, folder);
    for (size_t i = 0; !rc && limits && i < limits->count; i++)
        rc = find_files(scenario_node_get(limits->entries[i].value, "like"), folder);
    return rc;
}
