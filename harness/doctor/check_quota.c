/* Checks the processor quota of this process's control group. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "files.h"
#include "groups.h"

/* Processor time in us per period, for all threads of a group together. */
struct quota {
    char file[512]; /* the file that sets it */
    long long time_us, period_us;
};

static double quota_cpus(const struct quota *q)
{
    return (double)q->time_us / (double)q->period_us;
}

/* "max 100000", or "50000 100000" of cgroup v2. */
static bool read_new(const char *root, const char *group, struct quota *q)
{
    char text[64];

    snprintf(q->file, sizeof q->file, "%s/cpu.max", group);
    return hil_file_text(root, text, sizeof text, "%s", q->file) == 0 &&
           sscanf(text, "%lld %lld", &q->time_us, &q->period_us) == 2;
}

/* In cgroup v1, -1 means no quota. */
static bool read_old(const char *root, const char *group, struct quota *q)
{
    snprintf(q->file, sizeof q->file, "%s/cpu.cfs_quota_us", group);
    return hil_file_number(root, &q->time_us, "%s", q->file) == 0 &&
           hil_file_number(root, &q->period_us, "%s/cpu.cfs_period_us", group) == 0;
}

/* The tightest quota of the group and its parents; time_us is 0 when there is none. */
static struct quota find_quota(const char *root, struct hil_group *group)
{
    struct quota tightest = {.period_us = 1}, q;

    do {
        bool is_set =
            group->is_old ? read_old(root, group->path, &q) : read_new(root, group->path, &q);
        if (is_set && q.time_us > 0 && q.period_us > 0 &&
            (tightest.time_us == 0 || quota_cpus(&q) < quota_cpus(&tightest)))
            tightest = q;
    } while (hil_group_leave(group));
    return tightest;
}

/* A spinning loop takes a whole processor, unless it is a real-time thread: those do not count
 * towards the quota, but other threads of the run do. */
void hil_check_quota(const struct hil_machine *p, struct hil_finding *f)
{
    struct hil_group group;

    if (!hil_group_own(p->root, "cpu", &group)) {
        hil_found(f, HIL_UNKNOWN, "/proc/self/cgroup does not show this process's control group");
        return;
    }
    const bool is_old = group.is_old;
    const struct quota q = find_quota(p->root, &group);
    if (q.time_us == 0) {
        hil_found(f, HIL_FINE, "no control group limits the processor time");
        return;
    }
    const bool enough = quota_cpus(&q) >= p->executor_count;
    hil_found(f, enough ? HIL_NOTE : HIL_SERIOUS,
              "all threads of a control group stop once they have used %g ms of every %g ms: %.3g "
              "processors for %u executors",
              (double)q.time_us * 1e-3, (double)q.period_us * 1e-3, quota_cpus(&q),
              p->executor_count);
    hil_command(f, "echo %s > %s", is_old ? "-1" : "max", q.file);
}
