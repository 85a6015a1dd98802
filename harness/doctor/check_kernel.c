/* Checks how the kernel schedules, and what could keep a loop from its core. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cpus.h"
#include "checks.h"
#include "files.h"
#include "groups.h"

/* --- preemption ---------------- */

static bool is_rt_kernel(const char *root, const char *version)
{
    long long realtime;

    return strstr(version, "PREEMPT_RT") ||
           (hil_file_number(root, &realtime, "/sys/kernel/realtime") == 0 && realtime == 1);
}

/* A PREEMPT_DYNAMIC kernel chooses its preemption at boot, possibly by a boot parameter. */
static void describe_dynamic(const struct hil_machine *p, char *text, size_t size)
{
    if (hil_file_text(p->root, text, size, "/sys/kernel/debug/sched/preempt") == 0) {
        hil_chosen_word(text);
        return;
    }
    hil_boot_parameter(p->root, "preempt=", text, size);
    if (!text[0])
        snprintf(text, size, "in a mode that cannot be read");
}

void hil_check_preemption(const struct hil_machine *p, struct hil_finding *f)
{
    char version[256], mode[64] = "";

    if (hil_file_text(p->root, version, sizeof version, "/proc/sys/kernel/version")) {
        hil_found(f, HIL_UNKNOWN, "/proc/sys/kernel/version cannot be read");
        return;
    }
    if (is_rt_kernel(p->root, version)) {
        hil_found(f, HIL_FINE, "the kernel is PREEMPT_RT");
        return;
    }
    if (strstr(version, "PREEMPT_DYNAMIC"))
        describe_dynamic(p, mode, sizeof mode);
    hil_found(f, HIL_WARNING, "the kernel is not PREEMPT_RT%s%s",
              mode[0]                      ? ", but PREEMPT_DYNAMIC, "
              : strstr(version, "PREEMPT") ? ", but PREEMPT"
                                           : ", and never preempts kernel code",
              mode);
    hil_command(f, "apt-get install linux-image-rt-amd64    # and boot it");
}

/* --- throttling ---------------- */

long hil_throttled_ms(const char *root)
{
    long long period, runtime;
    int rc = hil_file_number(root, &runtime, "/proc/sys/kernel/sched_rt_runtime_us");

    if (!rc)
        rc = hil_file_number(root, &period, "/proc/sys/kernel/sched_rt_period_us");
    if (rc)
        return rc;
    if (period <= 0)
        return -EINVAL;
    return runtime < 0 || runtime >= period ? 0 : (long)((period - runtime) * 1000 / period);
}

/*
 * Without throttling, loops on all cores would leave no time for anything else, and nobody could
 * end them. The fair server of newer kernels gives waiting threads 50 ms at a time, and somebody
 * always waits: with the ordinary scheduler such loops lose less.
 */
bool hil_may_lift_throttling(const struct hil_machine *p)
{
    return CPU_COUNT(&p->spare) > 0;
}

void hil_check_throttling(const struct hil_machine *p, struct hil_finding *f)
{
    long throttled = hil_throttled_ms(p->root);

    if (throttled < 0)
        hil_found(f, HIL_UNKNOWN, "/proc/sys/kernel/sched_rt_runtime_us cannot be read");
    else if (throttled == 0)
        hil_found(f, HIL_FINE, "real-time threads are not throttled");
    else if (p->priority == 0)
        hil_found(f, HIL_FINE, "no executor asks for SCHED_FIFO, so its throttling does no harm");
    else if (!hil_may_lift_throttling(p))
        hil_found(f, HIL_WARNING,
                  "loops have all cores, so they stay on the ordinary scheduler: leave a core "
                  "without loops to change that");
    else {
        hil_found(f, HIL_SERIOUS,
                  "the kernel throttles SCHED_FIFO threads by %ld ms of every second", throttled);
        hil_command(f, "sysctl -w kernel.sched_rt_runtime_us=-1");
        f->can_be_lent = true;
    }
}

/* --- the fair server, which replaces throttling since Linux 6.12 ---------- */

int hil_kernel_since(const char *root, int major, int minor)
{
    char release[128];
    int has_major, has_minor;

    if (hil_file_text(root, release, sizeof release, "/proc/sys/kernel/osrelease") ||
        sscanf(release, "%d.%d", &has_major, &has_minor) != 2)
        return -1;
    return has_major > major || (has_major == major && has_minor >= minor);
}

void hil_check_fair_server(const struct hil_machine *p, struct hil_finding *f)
{
    static const char runtime_path[] = "/sys/kernel/debug/sched/fair_server/cpu%d/runtime";
    char cpus[64];
    long long runtime_ns = 0, longest_ns = 0;
    cpu_set_t served;
    int rc = 0;

    if (hil_kernel_since(p->root, 6, 12) == 0) {
        hil_found(f, HIL_FINE, "this kernel has none");
        return;
    }
    CPU_ZERO(&served);
    for (int cpu = hil_cpus_next(&p->loops, -1); cpu >= 0; cpu = hil_cpus_next(&p->loops, cpu)) {
        rc = hil_file_number(p->root, &runtime_ns, runtime_path, cpu);
        if (rc)
            break;
        if (runtime_ns > 0)
            CPU_SET((unsigned)cpu, &served);
        longest_ns = runtime_ns > longest_ns ? runtime_ns : longest_ns;
    }
    hil_cpus_format(&served, cpus, sizeof cpus);
    if (rc) {
        hil_found(f, HIL_UNKNOWN,
                  "this kernel has one, but /sys/kernel/debug/sched does not show it (%s)",
                  strerror(-rc));
        if (rc == -ENOENT)
            hil_command(f, "mount -t debugfs none /sys/kernel/debug");
    } else if (CPU_COUNT(&served) == 0 || p->priority == 0) {
        hil_found(f, HIL_FINE, "off on the loops' cpus, or no executor asks for SCHED_FIFO");
    } else {
        hil_found(f, HIL_WARNING,
                  "ordinary threads that wait for cpu %s get it for %lld ms of every second", cpus,
                  longest_ns / 1000000);
        hil_cpus_braces(&served, cpus, sizeof cpus);
        hil_command(f, "echo 0 | tee /sys/kernel/debug/sched/fair_server/cpu%s/runtime", cpus);
    }
}

/* --- groups of real-time threads ---------------- */

static void judge_group(const struct hil_machine *p, struct hil_finding *f,
                        const struct hil_group *group)
{
    long long runtime, period = 1000000;

    if (hil_file_number(p->root, &runtime, "%s/cpu.rt_runtime_us", group->path)) {
        hil_found(f, HIL_FINE, "the kernel does not group real-time threads");
        return;
    }
    hil_file_number(p->root, &period, "%s/cpu.rt_period_us", group->path);
    if (hil_group_is_root(group) || runtime < 0 || runtime >= period || p->priority == 0) {
        hil_found(f, HIL_FINE, "this process's group may use SCHED_FIFO");
        return;
    }
    if (runtime == 0)
        hil_found(f, HIL_SERIOUS, "SCHED_FIFO is refused to this process's control group");
    else
        hil_found(f, HIL_SERIOUS,
                  "SCHED_FIFO threads of this control group stop for %lld ms of every second",
                  (period - runtime) * 1000 / period);
    hil_command(f, "echo $$ > /sys/fs/cgroup/cpu/tasks    # in the shell that starts hiloco");
}

/* For cgroup v2 only the kernel's configuration tells. */
static void judge_configuration(const struct hil_machine *p, struct hil_finding *f)
{
    static char config[400000];
    char release[128], group[512];

    if (hil_file_text(p->root, release, sizeof release, "/proc/sys/kernel/osrelease") ||
        hil_file_text(p->root, config, sizeof config, "/boot/config-%s", release)) {
        hil_found(f, HIL_UNKNOWN, "unknown: there is no /boot/config of this kernel");
        return;
    }
    if (!strstr(config, "\nCONFIG_RT_GROUP_SCHED=y")) {
        hil_found(f, HIL_FINE, "the kernel does not group real-time threads");
        return;
    }
    if (hil_file_text(p->root, group, sizeof group, "/proc/self/cgroup") == 0 &&
        strcmp(group, "0::/") == 0) {
        hil_found(f, HIL_FINE, "this process is in the root group, which may use SCHED_FIFO");
        return;
    }
    hil_found(f, HIL_WARNING,
              "the kernel groups real-time threads (CONFIG_RT_GROUP_SCHED), and may "
              "refuse SCHED_FIFO outside the root group");
    hil_command(f, "echo $$ > /sys/fs/cgroup/cgroup.procs");
}

void hil_check_rt_groups(const struct hil_machine *p, struct hil_finding *f)
{
    struct hil_group group;

    if (hil_group_own(p->root, "cpu", &group) && group.is_old)
        judge_group(p, f, &group);
    else
        judge_configuration(p, f);
}
