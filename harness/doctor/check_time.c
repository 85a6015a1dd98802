/* Checks the clock for deadlines, and the time that a hypervisor takes. */
#include <stdio.h>
#include <string.h>

#include "../base/cpus.h"
#include "../base/steal.h"
#include "../run/machine_clock.h"
#include "checks.h"
#include "files.h"

static bool has_flag(const char *root, const char *flag, bool *has)
{
    char text[16384], padded[64];

    if (hil_file_text(root, text, sizeof text, "/proc/cpuinfo"))
        return false;
    const char *flags = hil_line_of(text, "flags");
    if (!flags)
        return false;
    snprintf(padded, sizeof padded, " %s ", flag);
    size_t length = strcspn(flags, "\n");
    const char *at = strstr(flags, padded);
    *has = at && (size_t)(at - flags) < length;
    return true;
}

void hil_check_clock_source(const struct hil_machine *p, struct hil_finding *f)
{
    char source[64], available[128];
    bool constant = false, nonstop = false;

    if (hil_file_text(p->root, source, sizeof source,
                      "/sys/devices/system/clocksource/clocksource0/current_clocksource")) {
        hil_found(f, HIL_UNKNOWN, "the kernel does not show its clock source");
        return;
    }
    if (strcmp(source, "hpet") == 0 || strcmp(source, "acpi_pm") == 0 ||
        strcmp(source, "jiffies") == 0) {
        hil_found(f, HIL_SERIOUS,
                  "the clock source is %s: each reading of the clock is a system call", source);
        hil_file_text(p->root, available, sizeof available,
                      "/sys/devices/system/clocksource/clocksource0/available_clocksource");
        if (strstr(available, "tsc"))
            hil_command(f, "echo tsc > "
                           "/sys/devices/system/clocksource/clocksource0/current_clocksource");
        else
            hil_advice(
                f,
                "The kernel found the time-stamp counter unstable; dmesg | grep -i tsc says why.");
        return;
    }
    if (!has_flag(p->root, "constant_tsc", &constant) ||
        !has_flag(p->root, "nonstop_tsc", &nonstop)) {
        hil_found(f, HIL_UNKNOWN,
                  "the clock source is %s; /proc/cpuinfo does not show the kind of the time-stamp "
                  "counter",
                  source);
        return;
    }
    if (constant && nonstop) {
        hil_found(f, HIL_FINE,
                  "the clock source is %s; the time-stamp counter is constant and never "
                  "stops",
                  source);
        return;
    }
    hil_found(f, HIL_WARNING,
              "the time-stamp counter is not constant, or stops when the core idles");
    hil_advice(f, "Only another processor helps; the loops read CLOCK_MONOTONIC instead (%s).",
               source);
}

/* The greatest share of time that a hypervisor took from one of the loops' cpus; negative when
 * unknown. */
static double worst_steal(const struct hil_machine *p)
{
    double worst = 0;
    struct hil_steal s;

    for (int cpu = hil_cpus_next(&p->loops, -1); cpu >= 0; cpu = hil_cpus_next(&p->loops, cpu)) {
        if (!hil_steal_read(p->root, cpu, &s))
            return -1;
        if (s.all && (double)s.stolen / (double)s.all > worst)
            worst = (double)s.stolen / (double)s.all;
    }
    return worst;
}

void hil_check_steal(const struct hil_machine *p, struct hil_finding *f)
{
    bool is_guest = false, known = has_flag(p->root, "hypervisor", &is_guest);
    double worst = worst_steal(p);

    if (worst < 0) {
        hil_found(f, HIL_UNKNOWN, "/proc/stat does not show it");
    } else if (worst >= 0.001) {
        hil_found(f, HIL_WARNING,
                  "a hypervisor has taken %.2g %% of a loop's cpu since the machine booted",
                  100 * worst);
        hil_advice(f, "Pin the guest's cpus to cores of their own (virsh vcpupin), or run on bare "
                      "metal.");
    } else if (is_guest) {
        hil_found(f, HIL_NOTE, "there is a hypervisor, which reports %s time taken",
                  worst > 0 ? "next to no" : "no");
        hil_advice(f, "It may not report everything: trust the measured gaps.");
    } else if (!known) {
        hil_found(f, HIL_UNKNOWN, "/proc/cpuinfo does not show whether there is a hypervisor");
    } else {
        hil_found(f, HIL_FINE, "no hypervisor");
    }
}

/* Finds the name of the first PTP clock that belongs to a device. */
static bool find_ptp(const char *root, char *name, size_t size)
{
    for (int i = 0; i < 8; i++)
        if (!hil_file_text(root, name, size, "/sys/class/ptp/ptp%d/clock_name", i))
            return true;
    return false;
}

/* Programs that keep the time of day, by their names in the kernel. If others run too, ptp4l only
 * keeps the clock of a network card; alone, when the card has no clock, it keeps the time of
 * day. */
static const struct {
    const char *name, *by;
} time_keepers[] = {
    {"phc2sys", "PTP"}, {"chronyd", "NTP"},         {"ntpd", "NTP"},
    {"ntpd-rs", "NTP"}, {"systemd-timesyn", "NTP"}, {"ptp4l", "PTP"},
};

/* Describes the first one that runs: "PTP (phc2sys)". */
static bool find_keeper(const char *root, char *text, size_t size)
{
    for (size_t i = 0; i < sizeof time_keepers / sizeof time_keepers[0]; i++) {
        if (hil_process_runs(root, time_keepers[i].name) <= 0)
            continue;
        snprintf(text, size, "%s (%s)", time_keepers[i].by, time_keepers[i].name);
        return true;
    }
    return false;
}

/* Runs over several machines compare their clocks by the method with the least uncertainty. */
void hil_check_time_of_day(const struct hil_machine *p, struct hil_finding *f)
{
    const struct hil_clock_reading now = hil_clock_read();
    char ptp[64] = "", keeper[64] = "";
    const bool has_ptp = find_ptp(p->root, ptp, sizeof ptp);
    const bool has_keeper = find_keeper(p->root, keeper, sizeof keeper);
    const char *there = has_ptp ? "; there is the PTP clock " : "";

    if (p->root[0]) {
        hil_found(
            f, HIL_FINE,
            "unknown for a copied machine: only its kernel can say whether %s synchronises it%s%s",
            has_keeper ? keeper : "anything", there, ptp);
        return;
    }
    if (now.day_about_ns != UINT64_MAX) {
        hil_found(f, HIL_FINE, "synchronised by %s, within %.0f us according to the kernel%s%s",
                  has_keeper ? keeper : "an unknown program", (double)now.day_about_ns * 1e-3,
                  there, ptp);
        return;
    }
    hil_found(f, HIL_NOTE,
              "nothing synchronises it: runs over several machines compare their clocks by round "
              "trips%s%s",
              there, ptp);
    if (has_ptp)
        hil_advice(f, "Run ptp4l and phc2sys (linuxptp): the machines' clocks then agree better.");
}
