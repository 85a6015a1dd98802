/* Checks whether the loops have their cores to themselves. */
#include <stdio.h>
#include <string.h>

#include "../base/cpus.h"
#include "checks.h"
#include "files.h"

const char hil_no_spare_core[] = "The loops leave no core for anything else: place more nodes on "
                                 "one executor (placement), or use a machine with more cores.";

/* --- placement ---------------- */

static bool has_pinned(const struct hil_machine *p, int cpu, unsigned before)
{
    for (unsigned i = 0; i < before; i++)
        if (p->executors[i].cpu == cpu)
            return true;
    return false;
}

/* Names the threads that need a core each. */
static const char *core_users(const struct hil_machine *p)
{
    return p->sharded ? "executors or shards" : "executors";
}

void hil_check_placement(const struct hil_machine *p, struct hil_finding *f)
{
    char cpus[64], online[64];
    cpu_set_t isolated;

    hil_cpus_format(&p->online, online, sizeof online);
    for (unsigned i = 0; i < p->executor_count; i++) {
        int cpu = p->executors[i].cpu;
        if (cpu < 0)
            continue;
        if (!CPU_ISSET((unsigned)cpu, &p->online))
            hil_found(f, HIL_SERIOUS, "cpu %d is not online, or not allowed here; these are: %s",
                      cpu, online);
        else if (has_pinned(p, cpu, i))
            hil_found(f, HIL_SERIOUS, "two %s are pinned to cpu %d", core_users(p), cpu);
    }
    if ((int)p->executor_count > CPU_COUNT(&p->online))
        hil_found(f, HIL_SERIOUS, "%u %s that spin, but %d cpus", p->executor_count, core_users(p),
                  CPU_COUNT(&p->online));
    if (f->severity == HIL_SERIOUS) {
        hil_advice(f, "Place more nodes on one executor%s: placement in the scenario.",
                   p->sharded ? ", or split nodes into fewer shards" : "");
        return;
    }
    if (!p->wanders) {
        hil_cpus_format(&p->loops, cpus, sizeof cpus);
        hil_found(f, HIL_FINE, "each executor is pinned to a core of its own, of %s", cpus);
        return;
    }
    bool known = hil_isolated_cpus(p->root, &isolated) && CPU_COUNT(&isolated) > 0;
    hil_cpus_format(known ? &isolated : &p->online, cpus, sizeof cpus);
    hil_found(f, HIL_WARNING, "an executor%s is not pinned (cpu: -1)%s%s",
              p->sharded ? " or a shard" : "",
              known ? ", so it never runs on the isolated cpus " : "", known ? cpus : "");
    hil_advice(
        f, "Set nodes.controller.cpu%s and nodes.converter.cpu, or placement[].cpu, to cpus of %s.",
        p->sharded ? ", shard_cpus" : "", cpus);
}

/* --- isolated from other threads ---------------- */

bool hil_isolated_cpus(const char *root, cpu_set_t *isolated)
{
    char text[512];
    cpu_set_t by_group;
    bool known;

    known = hil_file_text(root, text, sizeof text, "/sys/devices/system/cpu/isolated") == 0 &&
            hil_cpus_parse(text, isolated);
    if (!known)
        CPU_ZERO(isolated);
    if (hil_file_text(root, text, sizeof text, "/sys/fs/cgroup/cpuset.cpus.isolated") == 0 &&
        hil_cpus_parse(text, &by_group))
        CPU_OR(isolated, isolated, &by_group);
    return known;
}

/* Cpus that could be isolated for the loops: their own, or, if they are not pinned or are on cpu 0
 * (which does the kernel's own work), the same number of the last cpus. Empty if no core would be
 * left for the rest. */
static cpu_set_t cpus_to_set_apart(const struct hil_machine *p)
{
    int count = p->wanders ? (int)p->executor_count : CPU_COUNT(&p->loops);
    cpu_set_t last;

    CPU_ZERO(&last);
    if (CPU_COUNT(&p->online) <= count)
        return last;
    if (!p->wanders && !CPU_ISSET(0, &p->loops))
        return p->loops;
    for (unsigned cpu = CPU_SETSIZE; cpu-- > 0 && count > 0;)
        if (CPU_ISSET(cpu, &p->online)) {
            CPU_SET(cpu, &last);
            count--;
        }
    return last;
}

/* Describes which of the loops' cpus `has` lacks, and the boot parameter that mends it. */
static void judge_boot(const struct hil_machine *p, struct hil_finding *f, const cpu_set_t *has,
                       enum hil_severity severity, const char *found, const char *parameter)
{
    cpu_set_t lacking = hil_cpus_without(&p->loops, has), apart = cpus_to_set_apart(p);
    char cpus[64];

    hil_cpus_format(&lacking, cpus, sizeof cpus);
    hil_found(f, severity, "%s cpu %s", found, cpus);
    if (CPU_COUNT(&apart) == 0) {
        hil_advice(f, "%s", hil_no_spare_core);
        return;
    }
    hil_cpus_format(&apart, cpus, sizeof cpus);
    hil_advice(f, "Boot with %s%s (GRUB_CMDLINE_LINUX in /etc/default/grub, then update-grub)%s",
               parameter, cpus,
               CPU_EQUAL(&apart, &p->loops) ? "." : ", and place the loops there.");
}

static bool covers(const cpu_set_t *set, const cpu_set_t *loops)
{
    cpu_set_t rest = hil_cpus_without(loops, set);

    return CPU_COUNT(&rest) == 0;
}

void hil_check_isolation(const struct hil_machine *p, struct hil_finding *f)
{
    cpu_set_t isolated;

    if (!hil_isolated_cpus(p->root, &isolated))
        hil_found(f, HIL_UNKNOWN, "/sys/devices/system/cpu/isolated cannot be read");
    else if (covers(&isolated, &p->loops))
        hil_found(f, HIL_FINE, "the loops' cpus are isolated");
    else
        judge_boot(p, f, &isolated, HIL_WARNING, "any thread may be scheduled on",
                   "isolcpus=managed_irq,domain,");
}

/* --- the tick, and callbacks of read-copy-update ---------------- */

/* The file exists only in a kernel with this feature. */
static bool tickless_cpus(const char *root, cpu_set_t *tickless)
{
    char text[512], cpus[64];

    CPU_ZERO(tickless);
    if (hil_file_text(root, text, sizeof text, "/sys/devices/system/cpu/nohz_full") == 0)
        return hil_cpus_parse(text, tickless);
    return hil_file_text(root, cpus, sizeof cpus, "/sys/devices/system/cpu/online") == 0;
}

void hil_check_tick(const struct hil_machine *p, struct hil_finding *f)
{
    cpu_set_t tickless;

    if (!tickless_cpus(p->root, &tickless))
        hil_found(f, HIL_UNKNOWN, "/sys/devices/system/cpu/nohz_full cannot be read");
    else if (covers(&tickless, &p->loops))
        hil_found(f, HIL_FINE, "the tick is off on the loops' cpus while one thread runs there");
    else
        judge_boot(p, f, &tickless, HIL_WARNING, "the timer tick interrupts", "nohz_full=");
}

void hil_check_rcu(const struct hil_machine *p, struct hil_finding *f)
{
    char text[512];
    cpu_set_t offloaded, tickless;

    if (hil_file_text(p->root, text, sizeof text, "/proc/cmdline")) {
        hil_found(f, HIL_UNKNOWN, "/proc/cmdline cannot be read");
        return;
    }
    hil_boot_parameter(p->root, "rcu_nocbs=", text, sizeof text);
    if (strcmp(text, "all") == 0 || !hil_cpus_parse(text, &offloaded))
        offloaded = p->online;
    if (!text[0])
        CPU_ZERO(&offloaded);
    tickless_cpus(p->root, &tickless); /* nohz_full implies it */
    CPU_OR(&offloaded, &offloaded, &tickless);
    if (covers(&offloaded, &p->loops))
        hil_found(f, HIL_FINE, "no RCU callbacks of the kernel run on the loops' cpus");
    else
        judge_boot(p, f, &offloaded, HIL_NOTE, "the kernel's RCU callbacks run on", "rcu_nocbs=");
}
