#include "limits.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>

/* What a process opens besides its nodes': the results, the trace, the tracer's, the fabric's. */
enum { LIMITS_OTHER_FILES = 64 };

unsigned long hil_limits_files(const struct hil_scenario *s, unsigned index)
{
    const struct hil_executor_config *e = &s->executors[index];
    const bool controller = hil_executor_has(e, 0);
    unsigned long nodes = e->count, converters = nodes - controller;
    unsigned long connections = converters + (controller ? s->converter_count : 0);

    return s->mode == HIL_VIRTUAL ? 0 : 2 * nodes + connections + LIMITS_OTHER_FILES;
}

static unsigned long limits_most_files(const struct hil_scenario *s)
{
    unsigned long most = 0;

    for (unsigned i = 0; i < s->executor_count; i++)
        if (hil_limits_files(s, i) > most)
            most = hil_limits_files(s, i);
    return most;
}

int hil_limits_raise(const struct hil_scenario *s)
{
    const unsigned long needed = limits_most_files(s);
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur >= needed)
        return 0;
    files.rlim_cur = files.rlim_max;
    if (files.rlim_max >= needed)
        return setrlimit(RLIMIT_NOFILE, &files) ? -errno : 0;
    fprintf(stderr,
            "%s: %u converters need %lu open files in one process, and the hard limit is %lu. "
            "Raise it (as root: ulimit -n %lu; for good: nofile in /etc/security/limits.conf, or "
            "LimitNOFILE= of the service), spread the converters over more executors, or run in "
            "virtual time (--mode virtual)\n",
            s->name, s->converter_count, needed, (unsigned long)files.rlim_max, needed);
    return -EMFILE;
}
