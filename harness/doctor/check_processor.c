/* Checks what the processor does by itself: frequency scaling, idle states, hyperthreads. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../base/cpus.h"
#include "checks.h"
#include "files.h"

/* --- frequency ---------------- */

void hil_check_governor(const struct hil_machine *p, struct hil_finding *f)
{
    char word[64], other[64] = "", cpus[64];
    cpu_set_t slow;

    CPU_ZERO(&slow);
    for (int cpu = hil_cpus_next(&p->general, -1); cpu >= 0;
         cpu = hil_cpus_next(&p->general, cpu)) {
        if (hil_file_text(p->root, word, sizeof word,
                          "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu)) {
            hil_found(f, HIL_UNKNOWN,
                      "the kernel does not control the frequency of cpu %d (no cpufreq); firmware "
                      "or a hypervisor may",
                      cpu);
            return;
        }
        if (strcmp(word, "performance") == 0)
            continue;
        CPU_SET((unsigned)cpu, &slow);
        memcpy(other, word, sizeof other);
    }
    if (!other[0]) {
        hil_found(f, HIL_FINE, "the frequency is kept high (performance)");
        return;
    }
    hil_cpus_format(&slow, cpus, sizeof cpus);
    hil_found(f, HIL_WARNING, "the governor of cpu %s is %s", cpus, other);
    hil_cpus_braces(&slow, cpus, sizeof cpus);
    hil_command(f, "echo performance | tee /sys/devices/system/cpu/cpu%s/cpufreq/scaling_governor",
                cpus);
    f->can_be_lent = true;
}

/* --- idle states ---------------- */

/* States that take longer to leave than this disturb a loop with a period of some ten us. */
static const long long DEEP_US = 5;

struct idle_state {
    char name[32];
    long long latency_us;
    int cpu;
};

/* Finds the deepest allowed state of the cpu; false when the kernel does not tell. */
static bool find_deepest(const char *root, int cpu, struct idle_state *deepest)
{
    static const char state_path[] = "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/%s";
    long long latency, disabled;
    int i = 0;

    for (; hil_file_number(root, &latency, state_path, cpu, i, "latency") == 0; i++) {
        if (hil_file_number(root, &disabled, state_path, cpu, i, "disable") || disabled ||
            latency <= deepest->latency_us)
            continue;
        *deepest = (struct idle_state){.latency_us = latency, .cpu = cpu};
        hil_file_text(root, deepest->name, sizeof deepest->name, state_path, cpu, i, "name");
    }
    return i > 0;
}

void hil_check_idle_states(const struct hil_machine *p, struct hil_finding *f)
{
    struct idle_state deepest = {.latency_us = -1};
    char path[4096], idle[32];

    hil_boot_parameter(p->root, "idle=", idle, sizeof idle);
    for (int cpu = hil_cpus_next(&p->general, -1); cpu >= 0; cpu = hil_cpus_next(&p->general, cpu))
        if (!find_deepest(p->root, cpu, &deepest) && strcmp(idle, "poll") != 0) {
            hil_found(f, HIL_UNKNOWN, "the kernel does not show the idle states of cpu %d", cpu);
            return;
        }
    if (deepest.latency_us <= DEEP_US) {
        hil_found(f, HIL_FINE, "no idle state takes more than %lld us to leave", DEEP_US);
        return;
    }
    snprintf(path, sizeof path, "%s/dev/cpu_dma_latency", p->root);
    bool writable = access(path, W_OK) == 0;
    hil_found(f, writable ? HIL_NOTE : HIL_WARNING,
              "cpu %d takes %lld us to leave %s when it idles%s", deepest.cpu, deepest.latency_us,
              deepest.name, writable ? "" : ", and we may not hold /dev/cpu_dma_latency");
    if (writable)
        hil_advice(f, "Hold /dev/cpu_dma_latency at 0%s, or boot with processor.max_cstate=1.",
                   p->is_fixed ? "" : " (--fix does)");
    else
        hil_command(f, "chmod o+w /dev/cpu_dma_latency");
    f->can_be_lent = writable;
}

/* --- threads of one core ---------------- */

void hil_check_smt(const struct hil_machine *p, struct hil_finding *f)
{
    char text[128], cpus[64];
    cpu_set_t siblings, shared, idle;
    cpu_set_t others;

    CPU_ZERO(&others);
    for (int cpu = hil_cpus_next(&p->loops, -1); cpu >= 0; cpu = hil_cpus_next(&p->loops, cpu)) {
        if (hil_file_text(p->root, text, sizeof text,
                          "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu) ||
            !hil_cpus_parse(text, &siblings)) {
            hil_found(f, HIL_UNKNOWN, "the kernel does not say which threads share cpu %d's core",
                      cpu);
            return;
        }
        CPU_CLR((unsigned)cpu, &siblings);
        CPU_OR(&others, &others, &siblings);
    }
    CPU_AND(&others, &others, &p->online);
    CPU_AND(&shared, &others, &p->loops);
    idle = hil_cpus_without(&others, &p->loops);
    if (CPU_COUNT(&shared) > 0 && !p->wanders) {
        hil_cpus_format(&shared, cpus, sizeof cpus);
        hil_found(f, HIL_WARNING, "the loops' cpus %s are hardware threads of one core", cpus);
        hil_advice(f,
                   "Place them on different cores (lscpu -e shows which), or as root: echo off > "
                   "/sys/devices/system/cpu/smt/control");
    } else if (CPU_COUNT(&others) > 0) {
        hil_cpus_format(p->wanders ? &others : &idle, cpus, sizeof cpus);
        hil_found(f, HIL_WARNING, "cpu %s shares a core with a loop", cpus);
        hil_cpus_braces(p->wanders ? &others : &idle, cpus, sizeof cpus);
        if (p->wanders)
            hil_command(f, "echo off > /sys/devices/system/cpu/smt/control");
        else
            hil_command(f, "echo 0 | tee /sys/devices/system/cpu/cpu%s/online", cpus);
    } else {
        hil_found(f, HIL_FINE, "no other hardware thread shares a loop's core");
    }
}
