#include "provider.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/installed.h"
#include "../run/loop_cores.h"
#include "session.h"

static const char object[] = "libhiloco-trace.so";

int hil_provider_load(uint32_t run, char *why, size_t size)
{
    char path[PATH_MAX];
    int rc = hil_installed_find(object, path, sizeof path);

    if (rc) {
        snprintf(why, size, "%s is not installed", object);
        return rc;
    }
    void *loaded = dlopen(path, RTLD_NOW | RTLD_NODELETE);
    const struct hil_trace_provider *provider = loaded ? dlsym(loaded, "hiloco_provider") : NULL;
    if (!provider) {
        snprintf(why, size, "%s", dlerror());
        return -ELIBACC;
    }
    *provider->run = run;
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

/* Whether a session daemon runs that the provider would report to. */
static bool provider_wanted(void)
{
    const char *home = getenv("LTTNG_HOME");
    char pattern[PATH_MAX];

    home = home ? home : getenv("HOME");
    snprintf(pattern, sizeof pattern, "%s/.lttng/lttng-ust-sock-*", home ? home : "");
    return any("/var/run/lttng/lttng-ust-sock-*") || any(pattern);
}

void hil_provider_load_for(const struct hil_run *run, unsigned index)
{
    struct hil_executor_state *e = &run->state->executors[index];
    char why[256];
    cpu_set_t all;

    if (!hil_session_wanted(run->scenario) && !provider_wanted())
        return;
    sched_getaffinity(0, sizeof all, &all);
    hil_leave_loops_cores(run->scenario); /* for the threads that the provider starts */
    int rc = hil_provider_load(hil_session_run(run->place), why, sizeof why);
    sched_setaffinity(0, sizeof all, &all);
    if (rc)
        snprintf(e->degraded, sizeof e->degraded, "not traced: %s\n", why);
}
