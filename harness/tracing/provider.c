#include "provider.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char object[] = "libhiloco-trace.so";

/* Beside the program, as it is built; or where it is installed. */
static int find_object(char *path, size_t size)
{
    static const char *const places[] = {"", "../lib/hiloco/"};
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    if (length < 0)
        return -errno;
    self[length] = '\0';
    const char *dir = dirname(self);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        int needed = snprintf(path, size, "%s/%s%s", dir, places[i], object);
        if (needed > 0 && (size_t)needed < size && access(path, R_OK) == 0)
            return 0;
    }
    return -ENOENT;
}

int hil_provider_load(char *why, size_t size)
{
    char path[PATH_MAX];
    int rc = find_object(path, sizeof path);

    if (rc) {
        snprintf(why, size, "%s is not installed", object);
        return rc;
    }
    void *loaded = dlopen(path, RTLD_NOW | RTLD_NODELETE);
    const struct hil_provider *provider = loaded ? dlsym(loaded, "hiloco_provider") : NULL;
    if (!provider) {
        snprintf(why, size, "%s", dlerror());
        return -ELIBACC;
    }
    loco_trace_set(&provider->channels);
    hil_tracer = &provider->loops;
    return 0;
}

static bool any(const char *pattern)
{
    glob_t found;
    bool some = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;

    globfree(&found);
    return some;
}

bool hil_provider_wanted(void)
{
    const char *home = getenv("LTTNG_HOME");
    char pattern[PATH_MAX];

    home = home ? home : getenv("HOME");
    snprintf(pattern, sizeof pattern, "%s/.lttng/lttng-ust-sock-*", home ? home : "");
    return any("/var/run/lttng/lttng-ust-sock-*") || any(pattern);
}
