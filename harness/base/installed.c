#include "installed.h"

#include <dlfcn.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The dynamic loader gives the main program an empty name. */
bool hil_installed_self(char path[PATH_MAX])
{
    struct link_map *map = NULL;
    Dl_info info;

    return realpath(dladdr1(hil_installed_self, &info, (void **)&map, RTLD_DL_LINKMAP) && map &&
                            map->l_name[0]
                        ? map->l_name
                        : "/proc/self/exe",
                    path) != NULL;
}

int hil_installed_find(const char *name, char *path, size_t size)
{
    static const char *const places[] = {"", "../lib/hiloco/", "hiloco/", "../bin/"};
    char self[PATH_MAX];

    if (!hil_installed_self(self))
        return -errno;
    const char *dir = dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int needed = snprintf(path, size, "%s/%s%s", dir, places[i], name);
        if (needed > 0 && (size_t)needed < size && access(path, R_OK) == 0)
            return 0;
    }
    return -ENOENT;
}
