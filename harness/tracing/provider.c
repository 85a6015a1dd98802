#include "provider.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/installed.h"

static const char object[] = "libhiloco-trace.so";

int hil_provider_load(char *why, size_t size)
{
    char path[PATH_MAX];
    int rc = hil_installed_find(object, path, sizeof path);

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
