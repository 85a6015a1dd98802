#include "installed.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int hil_installed_find(const char *name, char *path, size_t size)
{
    static const char *const places[] = {"", "../lib/hiloco/"};
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length < 0)
        return -errno;
    self[length] = '\0';
    const char *dir = dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int needed = snprintf(path, size, "%s/%s%s", dir, places[i], name);
        if (needed > 0 && (size_t)needed < size && access(path, R_OK) == 0)
            return 0;
    }
    return -ENOENT;
}
