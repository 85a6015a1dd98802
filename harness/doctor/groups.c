#include "groups.h"

#include <stdio.h>
#include <string.h>

#include "files.h"

static bool group_has(const char *controllers, const char *controller)
{
    char list[128], *rest = list;

    snprintf(list, sizeof list, "%s", controllers);
    for (char *one = strsep(&rest, ","); one; one = strsep(&rest, ","))
        if (strcmp(one, controller) == 0)
            return true;
    return false;
}

/* A v1 hierarchy is named after its controllers; the v2 hierarchy has no name. */
static void group_set(struct hil_group *group, const char *controllers, const char *path)
{
    group->is_old = controllers[0] != '\0';
    group->top = (unsigned)snprintf(group->path, sizeof group->path, "/sys/fs/cgroup%s%s",
                                    group->is_old ? "/" : "", controllers);
    snprintf(group->path + group->top, sizeof group->path - group->top, "%s",
             strcmp(path, "/") == 0 ? "" : path);
}

/* Parses lines such as "3:cpu,cpuacct:/user" and "0::/user.slice". A controller in a v1 hierarchy
 * is not available in v2. */
bool hil_group_own(const char *root, const char *controller, struct hil_group *group)
{
    char text[4096], *rest = text;
    bool found = false;

    if (hil_file_text(root, text, sizeof text, "/proc/self/cgroup"))
        return false;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        strsep(&line, ":");
        const char *controllers = strsep(&line, ":");
        if (!line || strlen(controllers) > 100)
            continue;
        if (group_has(controllers, controller)) {
            group_set(group, controllers, line);
            return true;
        }
        if (controllers[0] == '\0') {
            group_set(group, controllers, line);
            found = true;
        }
    }
    return found;
}

bool hil_group_is_root(const struct hil_group *group)
{
    return group->path[group->top] == '\0';
}

bool hil_group_leave(struct hil_group *group)
{
    if (hil_group_is_root(group))
        return false;
    *strrchr(group->path, '/') = '\0';
    return true;
}
