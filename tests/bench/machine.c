#include "machine.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/* The file's first line; false when it cannot be read. */
static bool read_line(const char *path, char *line, int size)
{
    FILE *f = fopen(path, "r");
    bool ok = f && fgets(line, size, f);

    if (f)
        fclose(f);
    if (ok)
        line[strcspn(line, "\n")] = '\0';
    return ok;
}

static void add_text(json_t *facts, const char *name, const char *text)
{
    json_object_set_new(facts, name, json_string(text));
}

static void add_file(json_t *facts, const char *name, const char *path)
{
    char line[128];

    if (read_line(path, line, sizeof line) && line[0])
        add_text(facts, name, line);
}

static void add_cpu(json_t *facts)
{
    static const char key[] = "model name";
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");

    while (f && fgets(line, sizeof line, f)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, key, sizeof key - 1) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = '\0';
        add_text(facts, "cpu", colon + 2);
        break;
    }
    if (f)
        fclose(f);
}

/* A virtual processor reports that it is one, and its hypervisor's name. */
static void add_hypervisor(json_t *facts)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    char vendor[13] = "";

    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & (1u << 31)))
        return;
    __cpuid(0x40000000, a, b, c, d);
    memcpy(vendor, &b, 4);
    memcpy(vendor + 4, &c, 4);
    memcpy(vendor + 8, &d, 4);
    add_text(facts, "hypervisor", vendor);
#else
    (void)facts;
#endif
}

static void add_time(json_t *facts)
{
    char text[40];
    time_t now = time(NULL);
    struct tm utc;

    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    add_text(facts, "date", text);
}

struct machine_time machine_time(void)
{
    enum { FIELDS = 8, STEAL = 7 }; /* user, nice, system, idle, iowait, irq, softirq, steal */
    unsigned long long ticks[FIELDS] = {0};
    struct machine_time t = {0};
    char line[256];

    if (!read_line("/proc/stat", line, sizeof line))
        return t;
    sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &ticks[0], &ticks[1], &ticks[2],
           &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[STEAL]);
    for (unsigned i = 0; i < FIELDS; i++)
        t.all += ticks[i];
    t.stolen = ticks[STEAL];
    return t;
}

void machine_add_steal(json_t *facts, const struct machine_time *begin)
{
    const struct machine_time now = machine_time();
    const double all = (double)(now.all - begin->all),
                 stolen = (double)(now.stolen - begin->stolen);

    json_object_set_new(facts, "steal_s", json_real(stolen / (double)sysconf(_SC_CLK_TCK)));
    json_object_set_new(facts, "steal_percent", json_real(all > 0 ? 100 * stolen / all : 0));
}

json_t *machine_facts(void)
{
    json_t *facts = json_object();
    struct utsname name;
    double load[1];

    if (uname(&name) == 0)
        add_text(facts, "cpu", name.machine); /* where /proc/cpuinfo does not name it */
    add_cpu(facts);
    json_object_set_new(facts, "cores", json_integer(sysconf(_SC_NPROCESSORS_ONLN)));
    add_hypervisor(facts);
    if (uname(&name) == 0)
        add_text(facts, "kernel", name.release);
    add_file(facts, "governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    add_file(facts, "clock_source",
             "/sys/devices/system/clocksource/clocksource0/current_clocksource");
    add_file(facts, "isolated_cores", "/sys/devices/system/cpu/isolated");
    if (getenv("RDMA_DEVICE"))
        add_text(facts, "rdma_device", getenv("RDMA_DEVICE"));
    add_text(facts, "compiler", "gcc " __VERSION__);
    if (getloadavg(load, 1) == 1)
        json_object_set_new(facts, "load_before", json_real(load[0]));
    add_time(facts);
    return facts;
}

void machine_print(const json_t *facts)
{
    const char *name;
    json_t *fact;

    json_object_foreach((json_t *)facts, name, fact)
    {
        char *text = json_dumps(fact, JSON_ENCODE_ANY | JSON_REAL_PRECISION(3));
        printf("%-16s %s\n", name, json_is_string(fact) ? json_string_value(fact) : text);
        free(text);
    }
}

/* The core, with its package, of which the cpu is a thread. -1: unknown, so the cpu counts as a
 * core of its own. */
static long core_of(int cpu)
{
    char path[96], line[32];
    long core;

    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/core_id", cpu);
    if (!read_line(path, line, sizeof line))
        return -1 - cpu;
    core = atol(line);
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
    return read_line(path, line, sizeof line) ? core + 65536 * atol(line) : core;
}

void machine_cores(struct bench_options *options)
{
    cpu_set_t set;

    options->cpu_count = 0;
    if (sched_getaffinity(0, sizeof set, &set))
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE && options->cpu_count < 2; cpu++) {
        if (!CPU_ISSET((unsigned)cpu, &set))
            continue;
        if (options->cpu_count == 1 && core_of(cpu) == core_of(options->cpus[0]))
            continue;
        options->cpus[options->cpu_count++] = cpu;
    }
}
