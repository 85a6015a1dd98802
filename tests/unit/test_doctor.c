/*
 * "Checks and explains, with the command that mends each": tests each check of the doctor on a
 * machine that is set up well, with that thing wrong, and with it unreadable. The machines are
 * trees of files.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "folder.h"
#include "harness/base/cpus.h"
#include "harness/base/pool.h"
#include "harness/doctor/cyclictest.h"
#include "harness/doctor/doctor.h"
#include "harness/doctor/measure.h"
#include "harness/scenario/system.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- machines of files ---------------- */

static void put_cpu(int cpu)
{
    static const char *const files[][2] = {
        {"cpufreq/scaling_governor", "performance"},
        {"cpuidle/state0/name", "POLL"},
        {"cpuidle/state0/latency", "0"},
        {"cpuidle/state0/disable", "0"},
        {"cpuidle/state1/name", "C6"},
        {"cpuidle/state1/latency", "133"},
        {"cpuidle/state1/disable", "1"},
    };
    char path[128], text[16];

    for (size_t i = 0; i < COUNT(files); i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, files[i][0]);
        put(path, files[i][1]);
    }
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    snprintf(text, sizeof text, "%d", cpu);
    put(path, text);
    snprintf(path, sizeof path, "/sys/kernel/debug/sched/fair_server/cpu%d/runtime", cpu);
    put(path, "0");
}

#define FLAGS     "flags\t\t: fpu tsc constant_tsc rep_good nonstop_tsc sse2"
#define INTERRUPT "           CPU0       CPU1       CPU2       CPU3\n 36: "

/* Four cpus. The last two are reserved for loops. */
static void put_healthy(void)
{
    static const char *const files[][2] = {
        {"/proc/sys/kernel/version", "#1 SMP PREEMPT_RT Debian 6.1.1-1"},
        {"/proc/sys/kernel/osrelease", "6.18.1-rt"},
        {"/proc/sys/kernel/sched_rt_runtime_us", "-1"},
        {"/proc/sys/kernel/sched_rt_period_us", "1000000"},
        {"/proc/sys/vm/nr_hugepages", "64"},
        {"/proc/cmdline", "quiet isolcpus=2-3 rcu_nocbs=2-3"},
        {"/proc/cpuinfo", "processor\t: 0\n" FLAGS "\nbugs\t: none"},
        {"/proc/meminfo", "MemTotal: 1000 kB\nSwapTotal:   0 kB\nHugePages_Free:   64"},
        {"/proc/stat", "cpu 1 1 1 1 1 1 1 0 0 0\ncpu2 10 0 0 9990 0 0 0 0 0 0\n"
                       "cpu3 10 0 0 9990 0 0 0 0 0 0"},
        {"/proc/interrupts",
         INTERRUPT " 5  6  7  8  PCI-MSIX  1-edge  nvme0q1\nLOC: 1 2 3 4 timer"},
        {"/proc/irq/36/effective_affinity_list", "0"},
        {"/proc/irq/36/smp_affinity_list", "0-1"},
        {"/proc/self/cgroup", "0::/user.slice"},
        {"/proc/self/status", "Name:\thiloco\nCapEff:\t0000000000000000"},
        {"/proc/self/limits", "Limit                     Soft Limit           Hard Limit\n"
                              "Max locked memory         unlimited            unlimited\n"
                              "Max realtime priority     95                   95"},
        {"/proc/123/comm", "bash"},
        {"/boot/config-6.18.1-rt", "CONFIG_SMP=y\n# CONFIG_RT_GROUP_SCHED is not set"},
        {"/sys/devices/system/cpu/online", "0-3"},
        {"/sys/devices/system/cpu/isolated", "2-3"},
        {"/sys/devices/system/cpu/nohz_full", "2-3"},
        {"/sys/devices/system/node/online", "0"},
        {"/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc"},
        {"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never"},
        {"/dev/cpu_dma_latency", ""},
    };

    folder_open();
    for (size_t i = 0; i < COUNT(files); i++)
        put(files[i][0], files[i][1]);
    for (int cpu = 0; cpu < 4; cpu++)
        put_cpu(cpu);
}

TestSuite(doctor, .init = put_healthy, .fini = folder_close);

/* --- which processes are checked ----- */

static struct hil_executor_config executors[] = {
    {.cpu = 2, .priority = 80, .scheduler = HIL_FIFO},
    {.cpu = 3, .priority = 70, .scheduler = HIL_FIFO},
};
static struct hil_node_config nodes[] = {{.timing = {.period_ns = 40000}},
                                         {.timing = {.period_ns = 10000}}};
static struct hil_system two = {.nodes = nodes, .node_count = COUNT(nodes)};
static const struct hil_scenario scenario = {
    .name = "two", .system = &two, .executors = executors, .executor_count = COUNT(executors)};

static struct hil_findings findings;

static const struct hil_finding *find(const char *name)
{
    struct hil_machine patient;

    cr_assert_eq(hil_machine_open(&patient, folder, &scenario), 0);
    hil_examine(&patient, &findings);
    for (unsigned i = 0; i < findings.count; i++)
        if (strcmp(findings.at[i].name, name) == 0)
            return &findings.at[i];
    cr_assert(false, "there is no check %s", name);
    return NULL;
}

static void expect(const char *name, enum hil_severity severity, const char *found,
                   const char *remedy)
{
    const struct hil_finding *f = find(name);

    cr_expect_eq(f->severity, severity, "%s has severity %d: %s", name, (int)f->severity, f->found);
    cr_expect(strstr(f->found, found), "%s: not found: %s\nbut: %s", name, found, f->found);
    cr_expect(strstr(f->remedy, remedy), "%s: not mended by: %s\nbut: %s", name, remedy, f->remedy);
}

Test(doctor, nothing_is_wrong_with_a_healthy_machine)
{
    find("placement");
    cr_expect_eq(findings.count, 24);
    for (unsigned i = 0; i < findings.count; i++) {
        const struct hil_finding *f = &findings.at[i];
        cr_expect_eq(f->severity, HIL_FINE, "%s: %s", f->name, f->found);
        cr_expect(f->found[0] && f->why[0], "%s has nothing to say", f->name);
    }
}

/* docs/doctor.md has a line for each. */
Test(doctor, each_check_is_documented)
{
    char text[20000] = "", row[64];
    FILE *page = fopen("docs/doctor.md", "r");

    cr_assert(page);
    text[fread(text, 1, sizeof text - 1, page)] = '\0';
    fclose(page);
    find("placement");
    for (unsigned i = 0; i < findings.count; i++) {
        snprintf(row, sizeof row, "\n| `%s` |", findings.at[i].name);
        cr_expect(strstr(text, row), "%s is not in docs/doctor.md", findings.at[i].name);
    }
}

/* Changes one file, and checks the finding and its remedy. */
struct ill {
    const char *path, *text, *name;
    enum hil_severity severity;
    const char *found, *remedy;
};

static void expect_ill(const struct ill *ill)
{
    expect(ill->name, HIL_FINE, "", "");
    put(ill->path, ill->text);
    expect(ill->name, ill->severity, ill->found, ill->remedy);
    folder_close();
    put_healthy();
}

Test(doctor, each_ill_is_found)
{
    static const struct ill ills[] = {
        {"/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian", "preemption", HIL_WARNING,
         "not PREEMPT_RT, but PREEMPT_DYNAMIC", "linux-image-rt"},
        {"/proc/sys/kernel/version", "#1 SMP Debian", "preemption", HIL_WARNING,
         "never preempts kernel code", "linux-image-rt"},
        {"/proc/sys/kernel/sched_rt_runtime_us", "950000", "rt-throttling", HIL_SERIOUS,
         "50 ms of every second", "sysctl -w kernel.sched_rt_runtime_us=-1"},
        {"/proc/sys/kernel/sched_rt_runtime_us", "0", "rt-throttling", HIL_SERIOUS,
         "1000 ms of every second", "sysctl"},
        {"/sys/kernel/debug/sched/fair_server/cpu3/runtime", "50000000", "fair-server", HIL_WARNING,
         "cpu 3 get it for 50 ms", "cpu3/runtime"},
        {"/proc/sys/kernel/sched_autogroup_enabled", "1", "sessions", HIL_WARNING,
         "each other session gets as much", "as root"},
        {"/boot/config-6.18.1-rt", "A=y\nCONFIG_RT_GROUP_SCHED=y", "rt-groups", HIL_WARNING,
         "refuse SCHED_FIFO", "cgroup.procs"},
        {"/proc/self/limits",
         "Max locked memory         unlimited  unlimited\nMax realtime priority     10   10",
         "rtprio", HIL_SERIOUS, "priority 80 asked for, 10 allowed", "rtprio 80"},
        {"/proc/self/limits", "Max locked memory         65536  65536\nMax realtime priority 95 95",
         "memlock", HIL_WARNING, "64 KiB", "memlock unlimited"},
        {"/sys/devices/system/cpu/isolated", "2", "isolation", HIL_WARNING, "on cpu 3",
         "isolcpus=managed_irq,domain,2-3"},
        {"/sys/devices/system/cpu/nohz_full", "(null)", "tick", HIL_WARNING, "cpu 2-3",
         "nohz_full=2-3"},
        {"/proc/interrupts", INTERRUPT " 0 0 0 0 PCI-MSIX 1-edge nvme0q1\n 37: 1 2 3 4 IO mlx5",
         "interrupts", HIL_FINE, "", ""},
        {"/proc/irq/36/effective_affinity_list", "3", "interrupts", HIL_WARNING,
         "36 (nvme0q1), has 8 times", "echo 0-1 | tee /proc/irq/*/smp_affinity_list"},
        {"/proc/124/comm", "irqbalance", "irqbalance", HIL_WARNING, "runs", "systemctl stop"},
        {"/sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave", "governor",
         HIL_WARNING, "cpu 2 is powersave", "cpu2/cpufreq/scaling_governor"},
        {"/sys/devices/system/cpu/cpu3/cpuidle/state1/disable", "0", "idle-states", HIL_NOTE,
         "cpu 3 takes 133 us to leave C6", "/dev/cpu_dma_latency"},
        {"/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "1-2", "smt", HIL_WARNING,
         "cpu 1 shares a core with a loop", "echo 0 | tee /sys/devices/system/cpu/cpu1/online"},
        {"/sys/devices/system/cpu/cpu2/topology/thread_siblings_list", "2-3", "smt", HIL_WARNING,
         "threads of one core", "smt/control"},
        {"/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet", "clock-source",
         HIL_SERIOUS, "hpet", "unstable"},
        {"/proc/cpuinfo", "flags : fpu tsc constant_tsc sse2", "clock-source", HIL_WARNING,
         "not constant", "CLOCK_MONOTONIC"},
        {"/proc/cpuinfo", FLAGS " hypervisor avx", "steal", HIL_NOTE, "hypervisor", "measured"},
        {"/proc/stat", "cpu2 0 0 0 900 0 0 0 100 0 0\ncpu3 0 0 0 1000 0 0 0 0 0 0", "steal",
         HIL_WARNING, "10 %", "vcpupin"},
        {"/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never",
         "transparent-huge", HIL_WARNING, "any memory", "echo madvise"},
        {"/proc/meminfo", "SwapTotal: 2048 kB\nHugePages_Free: 1", "swap", HIL_NOTE, "2 MiB",
         "swapoff"},
        {"/sys/devices/system/cpu/online", "0-2", "placement", HIL_SERIOUS, "cpu 3 is not online",
         "placement"},
    };

    for (size_t i = 0; i < COUNT(ills); i++)
        expect_ill(&ills[i]);
}

/* Who may raise the session does, and a control group's weight comes before sessions. */
Test(doctor, sessions_do_no_harm_to_root_or_in_a_group)
{
    put("/proc/sys/kernel/sched_autogroup_enabled", "1");
    put("/sys/fs/cgroup/user.slice/cpu.weight", "100");
    expect("sessions", HIL_FINE, "does not group", "");
    put("/proc/self/cgroup", "3:cpu:/\n0::/user.slice");
    expect("sessions", HIL_WARNING, "autogroup", "");
    put("/proc/self/status", "Name:\thiloco\nCapEff:\t0000000000800000");
    expect("sessions", HIL_FINE, "has precedence", "");
}

/* Only the kernel can say whether the setting is kept. */
Test(doctor, who_keeps_the_time_of_day_is_told)
{
    expect("time-of-day", HIL_FINE, "whether anything synchronises it", "");
    put("/sys/class/ptp/ptp0/clock_name", "mlx5_ptp");
    put("/proc/124/comm", "ptp4l");
    expect("time-of-day", HIL_FINE,
           "whether PTP (ptp4l) synchronises it; there is the PTP clock mlx5_ptp", "");
    put("/proc/125/comm", "chronyd");
    expect("time-of-day", HIL_FINE, "whether NTP (chronyd) synchronises it", "");
    put("/proc/126/comm", "phc2sys");
    expect("time-of-day", HIL_FINE, "whether PTP (phc2sys) synchronises it", "");
}

/* "What cannot be read says so, never guesses." */
Test(doctor, what_cannot_be_read_is_unknown)
{
    static const char *const sources[][2] = {
        {"/proc/sys/kernel/version", "preemption"},
        {"/proc/sys/kernel/sched_rt_runtime_us", "rt-throttling"},
        {"/sys/kernel/debug/sched", "fair-server"},
        {"/boot", "rt-groups"},
        {"/proc/self/limits", "rtprio"},
        {"/proc/self/limits", "memlock"},
        {"/proc/self/cgroup", "cpu-quota"},
        {"/sys/devices/system/cpu/isolated", "isolation"},
        {"/proc/cmdline", "rcu-callbacks"},
        {"/proc/interrupts", "interrupts"},
        {"/proc", "irqbalance"},
        {"/sys/devices/system/cpu/cpu2/cpufreq", "governor"},
        {"/sys/devices/system/cpu/cpu3/cpuidle", "idle-states"},
        {"/sys/devices/system/cpu/cpu2/topology", "smt"},
        {"/sys/devices/system/clocksource", "clock-source"},
        {"/proc/cpuinfo", "clock-source"},
        {"/proc/stat", "steal"},
        {"/proc/cpuinfo", "steal"},
        {"/sys/devices/system/node", "numa"},
        {"/sys/kernel/mm", "transparent-huge"},
        {"/proc/meminfo", "huge-pages"},
        {"/proc/meminfo", "swap"},
    };

    for (size_t i = 0; i < COUNT(sources); i++) {
        take_away(sources[i][0]);
        expect(sources[i][1], HIL_UNKNOWN, "", "");
        folder_close();
        put_healthy();
    }
}

/* With only a list of cpus, no check fails, and none finds a fault. */
Test(doctor, an_empty_machine_is_unknown)
{
    folder_close();
    cr_assert_eq(mkdir(folder, 0700), 0);
    put("/sys/devices/system/cpu/online", "0-3");
    find("placement");
    cr_expect_eq(hil_findings_count(&findings, HIL_SERIOUS), 0);
    cr_expect_eq(hil_findings_count(&findings, HIL_WARNING), 1); /* the tick: no kernel without */
    cr_expect_gt(hil_findings_count(&findings, HIL_UNKNOWN), 15);
}

Test(doctor, a_machine_without_cpus_is_refused)
{
    struct hil_machine patient;

    take_away("/sys/devices/system/cpu/online");
    cr_expect_eq(hil_machine_open(&patient, folder, &scenario), -ENODATA);
}

/* --- checks that need several files --------------- */

Test(doctor, a_kernel_says_in_two_ways_that_it_is_preempt_rt)
{
    put("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC");
    put("/sys/kernel/realtime", "1");
    expect("preemption", HIL_FINE, "PREEMPT_RT", "");
}

Test(doctor, a_dynamic_kernel_tells_its_mode)
{
    put("/proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC");
    put("/proc/cmdline", "quiet preempt=voluntary");
    expect("preemption", HIL_WARNING, "PREEMPT_DYNAMIC, voluntary", "");
    put("/sys/kernel/debug/sched/preempt", "none voluntary (full) lazy");
    expect("preemption", HIL_WARNING, "PREEMPT_DYNAMIC, full", "");
}

Test(doctor, who_asks_for_no_fifo_needs_none)
{
    executors[0].priority = executors[1].priority = 0;
    put("/proc/sys/kernel/sched_rt_runtime_us", "950000");
    put("/proc/self/limits", "Max realtime priority     0  0");
    expect("rt-throttling", HIL_FINE, "no executor", "");
    expect("rtprio", HIL_FINE, "no executor", "");
}

Test(doctor, capabilities_stand_for_limits)
{
    put("/proc/self/limits", "Max locked memory 0 0\nMax realtime priority 0 0");
    put("/proc/self/status", "CapEff:\t0000000000804000");
    expect("rtprio", HIL_FINE, "CAP_SYS_NICE", "");
    expect("memlock", HIL_FINE, "CAP_IPC_LOCK", "");
}

Test(doctor, a_group_without_real_time_is_serious)
{
    put("/proc/self/cgroup", "9:cpuset:/\n3:cpu,cpuacct:/user\n0::/");
    put("/sys/fs/cgroup/cpu,cpuacct/user/cpu.rt_runtime_us", "0");
    expect("rt-groups", HIL_SERIOUS, "refused", "tasks");
    put("/sys/fs/cgroup/cpu,cpuacct/user/cpu.rt_runtime_us", "950000");
    expect("rt-groups", HIL_SERIOUS, "50 ms of every second", "tasks");
    put("/sys/fs/cgroup/cpu,cpuacct/user/cpu.rt_runtime_us", "1000000");
    expect("rt-groups", HIL_FINE, "may use", "");
    put("/proc/self/cgroup", "3:cpu,cpuacct:/");
    put("/sys/fs/cgroup/cpu,cpuacct/cpu.rt_runtime_us", "950000"); /* the root's is the sysctl's */
    expect("rt-groups", HIL_FINE, "may use", "");
}

/* The tightest limit counts: the group's own, or that of a group above it. */
Test(doctor, a_group_with_a_quota_is_serious)
{
    expect("cpu-quota", HIL_FINE, "no control group", "");
    put("/sys/fs/cgroup/user.slice/cpu.max", "max 100000");
    expect("cpu-quota", HIL_FINE, "no control group", "");
    put("/sys/fs/cgroup/user.slice/cpu.max", "150000 100000");
    expect("cpu-quota", HIL_SERIOUS, "150 ms of every 100 ms: 1.5 processors for 2 executors",
           "echo max > /sys/fs/cgroup/user.slice/cpu.max");
    put("/sys/fs/cgroup/user.slice/cpu.max", "200000 100000");
    expect("cpu-quota", HIL_NOTE, "2 processors", "cpu.max");
    put("/proc/self/cgroup", "0::/user.slice/job/step");
    put("/sys/fs/cgroup/user.slice/job/step/cpu.max", "max 100000");
    put("/sys/fs/cgroup/user.slice/job/cpu.max", "5000 10000");
    expect("cpu-quota", HIL_SERIOUS, "5 ms of every 10 ms", "user.slice/job/cpu.max");
    put("/proc/self/cgroup", "0::/"); /* in a container, the first visible group has a quota, too */
    put("/sys/fs/cgroup/cpu.max", "50000 100000");
    expect("cpu-quota", HIL_SERIOUS, "50 ms of every 100 ms", "echo max > /sys/fs/cgroup/cpu.max");
}

Test(doctor, a_group_with_an_old_quota_is_serious)
{
    put("/proc/self/cgroup", "9:cpuset:/\n3:cpu,cpuacct:/docker/1\n0::/");
    put("/sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_quota_us", "-1");
    put("/sys/fs/cgroup/cpu,cpuacct/docker/1/cpu.cfs_period_us", "100000");
    expect("cpu-quota", HIL_FINE, "no control group", "");
    put("/sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "120000");
    put("/sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "100000");
    expect("cpu-quota", HIL_SERIOUS, "1.2 processors",
           "echo -1 > /sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us");
    put("/sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "0");
    expect("cpu-quota", HIL_FINE, "no control group", "");
}

Test(doctor, an_old_kernel_has_no_fair_server)
{
    take_away("/sys/kernel/debug");
    put("/proc/sys/kernel/osrelease", "6.1.0-18-amd64");
    expect("fair-server", HIL_FINE, "none", "");
    put("/proc/sys/kernel/osrelease", "7.0.0");
    expect("fair-server", HIL_UNKNOWN, "does not show it", "mount -t debugfs");
}

/* "Also when cpu: -1". */
Test(doctor, who_is_not_pinned_never_gets_to_isolated_cpus)
{
    executors[0].cpu = executors[1].cpu = -1;
    expect("placement", HIL_WARNING, "never runs on the isolated cpus 2-3", "cpus of 2-3");
    expect("isolation", HIL_WARNING, "cpu 0-1", "isolcpus=");
    expect("tick", HIL_WARNING, "cpu 0-1", "");
    expect("interrupts", HIL_WARNING, "cpu 0-1", "");
    put("/sys/devices/system/cpu/isolated", "");
    expect("placement", HIL_WARNING, "not pinned", "cpus of 0-3");
    expect("isolation", HIL_WARNING, "cpu 0-3", "domain,2-3 ");
    expect("interrupts", HIL_WARNING, "cpu 0-3", "Pin the loops");
}

/* Cpu 0 is left for the kernel's own work. */
Test(doctor, cpu_0_is_not_set_apart)
{
    executors[0].cpu = 0;
    executors[1].cpu = 1;
    expect("isolation", HIL_WARNING, "cpu 0-1", "domain,2-3 ");
    expect("isolation", HIL_WARNING, "cpu 0-1", "place the loops there");
    put("/sys/devices/system/cpu/online", "0-1");
    expect("isolation", HIL_WARNING, "cpu 0-1", "no core for anything else");
    expect("interrupts", HIL_WARNING, "cpu 0-1", "no core for anything else");
}

Test(doctor, two_on_one_cpu_are_serious)
{
    executors[0].cpu = 3;
    expect("placement", HIL_SERIOUS, "two executors are pinned to cpu 3", "placement");
}

/* Each of the threads needs what an executor needs. */
Test(doctor, a_shard_counts_as_an_executor)
{
    static const int cpus[] = {1, 3};

    two.pool = hil_pool_open();
    executors[0].further = 1;
    executors[0].further_cpus = cpus;
    expect("isolation", HIL_WARNING, "cpu 1", "");
    executors[0].further = 2;
    expect("placement", HIL_SERIOUS, "two executors or shards are pinned to cpu 3", "placement");
    put("/sys/devices/system/cpu/online", "0-2");
    expect("placement", HIL_SERIOUS, "4 executors or shards that spin, but 3 cpus", "fewer shards");
    executors[0].further = 0;
    hil_pool_close(two.pool);
}

Test(doctor, cpus_isolated_by_a_control_group_count)
{
    put("/sys/devices/system/cpu/isolated", "");
    put("/sys/fs/cgroup/cpuset.cpus.isolated", "2-3");
    expect("isolation", HIL_FINE, "isolated", "");
}

Test(doctor, callbacks_go_with_the_tick_or_by_a_parameter)
{
    put("/proc/cmdline", "quiet");
    expect("rcu-callbacks", HIL_FINE, "no RCU callbacks", ""); /* nohz_full implies it */
    put("/sys/devices/system/cpu/nohz_full", "(null)");
    expect("rcu-callbacks", HIL_NOTE, "cpu 2-3", "rcu_nocbs=2-3");
    put("/proc/cmdline", "rcu_nocbs=all");
    expect("rcu-callbacks", HIL_FINE, "no RCU callbacks", "");
}

Test(doctor, interrupts_of_an_old_kernel_go_where_they_may)
{
    take_away("/proc/irq/36/effective_affinity_list");
    expect("interrupts", HIL_FINE, "no device", "");
    put("/proc/irq/36/smp_affinity_list", "0-3");
    expect("interrupts", HIL_WARNING, "1 device interrupt may", "");
}

Test(doctor, a_new_kernel_makes_huge_pages_on_request)
{
    put("/proc/meminfo", "SwapTotal: 0 kB\nHugePages_Free: 0");
    expect("huge-pages", HIL_FINE, "on request", "");
    put("/proc/sys/kernel/osrelease", "6.0.9");
    expect("huge-pages", HIL_NOTE, "no huge page", "vm.nr_hugepages=64");
}

static void put_two_nodes(const char *first, const char *second)
{
    put("/sys/devices/system/node/online", "0-1");
    put("/sys/devices/system/node/node0/cpulist", first);
    put("/sys/devices/system/node/node1/cpulist", second);
}

Test(doctor, loops_on_two_nodes_are_far_apart)
{
    put_two_nodes("0-2", "3");
    expect("numa", HIL_WARNING, "different nodes, 0 and 1", "cpus 0-2");
}

Test(doctor, an_adapter_on_another_node_is_far_away)
{
    put_two_nodes("0-1", "2-3");
    expect("numa", HIL_FINE, "node 1", "");
    put("/sys/class/infiniband/mlx5_0/device/numa_node", "1");
    expect("numa", HIL_FINE, "node 1", "");
    put("/sys/class/infiniband/mlx5_0/device/numa_node", "0");
    expect("numa", HIL_WARNING, "mlx5_0 is on node 0", "0-1");
    put("/sys/class/infiniband/mlx5_0/device/numa_node", "-1");
    expect("numa", HIL_UNKNOWN, "mlx5_0", "");
}

Test(doctor, the_worst_comes_first)
{
    static const int rank[] = {
        [HIL_SERIOUS] = 0, [HIL_WARNING] = 1, [HIL_UNKNOWN] = 2, [HIL_NOTE] = 3, [HIL_FINE] = 4};

    put("/proc/meminfo", "SwapTotal: 2048 kB");
    put("/proc/124/comm", "irqbalance");
    put("/proc/sys/kernel/sched_rt_runtime_us", "950000");
    find("swap");
    for (unsigned i = 1; i < findings.count; i++)
        cr_expect_leq(rank[findings.at[i - 1].severity], rank[findings.at[i].severity]);
    cr_expect_str_eq(findings.at[0].name, "rt-throttling");
}

/* Before a run: "prints the doctor's serious findings in one line each". */
Test(doctor, serious_findings_in_a_line_each)
{
    char said[2000] = "";
    FILE *to = fmemopen(said, sizeof said, "w");
    struct hil_machine patient;

    put("/proc/sys/kernel/sched_rt_runtime_us", "950000");
    put("/proc/124/comm", "irqbalance"); /* only a warning, so not printed */
    cr_assert_eq(hil_machine_open(&patient, folder, &scenario), 0);
    hil_doctor_warn(&patient, to);
    fclose(to);
    cr_expect_str_eq(said,
                     "doctor: rt-throttling: the kernel throttles SCHED_FIFO threads by 50 ms "
                     "of every second (sysctl -w kernel.sched_rt_runtime_us=-1, or --fix for "
                     "this run)\n");
}

/* The doctor does not recommend --fix for a setting that --fix was not allowed to change. */
Test(doctor, no_fix_is_advised_after_it_was_tried)
{
    char said[2000] = "";
    FILE *to = fmemopen(said, sizeof said, "w");
    struct hil_machine patient;

    put("/proc/sys/kernel/sched_rt_runtime_us", "950000");
    cr_assert_eq(hil_machine_open(&patient, folder, &scenario), 0);
    patient.is_fixed = true;
    hil_doctor_warn(&patient, to);
    fclose(to);
    cr_expect(strstr(said, "(sysctl -w kernel.sched_rt_runtime_us=-1)"), "%s", said);
    cr_expect_not(strstr(said, "--fix"), "%s", said);
}

/* --- sets of cpus ---------------- */

Test(doctor, lists_of_cpus)
{
    static const char *const lists[][3] = {
        {"0-3,8", "0-3,8", "{0,1,2,3,8}"},
        {"5", "5", "5"},
        {"", "none", ""},
        {"managed_irq,domain,2-3", "2-3", "{2,3}"},
        {"(null)", "none", ""},
        {"2,1,0", "0-2", "{0..2}"},
    };
    char text[64];
    cpu_set_t set;

    for (size_t i = 0; i < COUNT(lists); i++) {
        cr_expect(hil_cpus_parse(lists[i][0], &set), "%s", lists[i][0]);
        hil_cpus_format(&set, text, sizeof text);
        cr_expect_str_eq(text, lists[i][1]);
        hil_cpus_braces(&set, text, sizeof text);
        cr_expect_str_eq(text, lists[i][2]);
    }
    cr_expect_not(hil_cpus_parse("1,x", &set));
    cr_expect_not(hil_cpus_parse("-3", &set));
    cr_expect_not(hil_cpus_parse("0-99999", &set));
}

/* --- gaps ---------------- */

Test(doctor, gaps_are_counted_over_each_limit)
{
    static const uint64_t ns[] = {40, 1000, 1001, 20000, 300000, 4000000, 50000000, 2000};
    struct hil_gaps g = {0};

    for (size_t i = 0; i < COUNT(ns); i++)
        hil_gaps_add(&g, ns[i]);
    cr_expect_eq(g.over[0], 6);
    cr_expect_eq(g.over[1], 4);
    cr_expect_eq(g.over[2], 3);
    cr_expect_eq(g.over[3], 2);
    cr_expect_eq(g.over[4], 1);
    cr_expect_eq(g.largest[0], 50000000);
    cr_expect_eq(g.largest[1], 4000000);
    cr_expect_eq(g.largest[2], 300000);
    cr_expect_eq(g.largest[3], 20000);
    cr_expect_eq(g.lost_ns, 1001 + 20000 + 300000 + 4000000 + 50000000 + 2000);
}

Test(doctor, what_cyclictest_prints)
{
    static const char text[] = "# /dev/cpu_dma_latency set to 0us\n# Histogram\n000000 000000\n"
                               "000001 000003\n000012 000002\n# Total: 000000005\n"
                               "# Min Latencies: 00001\n# Avg Latencies: 00004\n"
                               "# Max Latencies: 30592\n# Histogram Overflows: 00002\n";
    struct hil_gaps g = {0};

    cr_expect_eq(hil_cyclictest_read(text, &g), 0);
    cr_expect_eq(g.over[0], 7);
    cr_expect_eq(g.over[1], 4);
    cr_expect_eq(g.over[2], 2);
    cr_expect_eq(g.largest[0] / 1000, 30592);
    cr_expect_eq(g.largest[1] / 1000, 20000);
    cr_expect_eq(g.largest[2] / 1000, 12);
    cr_expect_eq(hil_cyclictest_read("Unable to change scheduling policy!\n", &g), -EIO);
    cr_expect_eq(hil_cyclictest_read("", &g), -EIO);
}

Test(doctor, gaps_are_judged_by_the_shortest_period)
{
    struct hil_measured measured[2] = {{.spun_ns = 1000000000}, {.spun_ns = 1000000000}};
    struct hil_machine patient;
    struct hil_finding f;

    cr_assert_eq(hil_machine_open(&patient, folder, &scenario), 0);
    hil_gaps_add(&measured[1].loop, 9000);
    hil_judge_gaps(&patient, measured, &f);
    cr_expect_eq(f.severity, HIL_FINE, "%s", f.found);
    hil_gaps_add(&measured[1].loop, 11000);
    hil_judge_gaps(&patient, measured, &f);
    cr_expect_eq(f.severity, HIL_WARNING, "%s", f.found);
    cr_expect(strstr(f.found, "11 us, exceeds the shortest period, 10 us"), "%s", f.found);
    hil_gaps_add(&measured[1].loop, 50000000);
    hil_judge_gaps(&patient, measured, &f);
    cr_expect_eq(f.severity, HIL_SERIOUS, "%s", f.found);
    cr_expect(strstr(f.found, "5 %") && strstr(f.found, "50 ms"), "%s", f.found);
}
