#include "scenario_files.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Returns 0 and the full name, NULL if there is no such file; or -ENOMEM. */
static int find_whole(char **whole, const char *name, const char *folder)
{
    char *joined;

    if (asprintf(&joined, "%s/%s", name[0] == '/' ? "" : folder, name) < 0)
        return -ENOMEM;
    *whole = realpath(joined, NULL);
    const int rc = !*whole && errno == ENOMEM ? -ENOMEM : 0;
    free(joined);
    return rc;
}

/* The file under `key`, if it exists. */
static int find_file(struct scenario_node *block, const char *key, const char *folder)
{
    struct scenario_node *node = scenario_node_get(block, key);
    char *whole;

    if (!node || !node->text)
        return 0;
    if (find_whole(&whole, node->text, folder))
        return -ENOMEM;
    if (!whole)
        return 0;
    free(node->text);
    node->text = whole;
    return 0;
}

static int find_setting(struct scenario_node *node, const char *folder)
{
    struct stat s;
    char *whole;

    if (!node->text || !strpbrk(node->text, "./"))
        return 0;
    if (find_whole(&whole, node->text, folder))
        return -ENOMEM;
    if (!whole || stat(whole, &s) || !S_ISREG(s.st_mode)) {
        free(whole);
        return 0;
    }
    free(node->text);
    node->text = whole;
    return 0;
}

int scenario_find_setting_files(struct scenario_node *settings, const char *folder)
{
    int rc = 0;

    if (settings->kind == SCENARIO_SCALAR)
        return find_setting(settings, folder);
    for (size_t i = 0; !rc && i < settings->count; i++)
        rc = scenario_find_setting_files(settings->entries[i].value, folder);
    return rc;
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
