/* Checks memory: its distance, its pages, and whether it stays resident. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cpus.h"
#include "checks.h"
#include "files.h"

/* --- memory nodes ------------------- */

/* The memory node of the cpu; -1: unknown. */
static int node_of_cpu(const char *root, const cpu_set_t *nodes, int cpu)
{
    char text[512];
    cpu_set_t cpus;

    for (int node = hil_cpus_next(nodes, -1); node >= 0; node = hil_cpus_next(nodes, node))
        if (hil_file_text(root, text, sizeof text, "/sys/devices/system/node/node%d/cpulist",
                          node) == 0 &&
            hil_cpus_parse(text, &cpus) && CPU_ISSET((unsigned)cpu, &cpus))
            return node;
    return -1;
}

/* Finds an RDMA adapter that is on a node other than `node`, or on an unknown node, and its
 * name. */
static bool adapter_elsewhere(const char *root, int node, char *name, size_t size, long long *its)
{
    char path[4096];
    bool found = false;

    snprintf(path, sizeof path, "%s/sys/class/infiniband", root);
    DIR *entries = opendir(path);
    for (struct dirent *e; entries && !found && (e = readdir(entries));) {
        if (e->d_name[0] == '.')
            continue;
        *its = -1;
        hil_file_number(root, its, "/sys/class/infiniband/%s/device/numa_node", e->d_name);
        found = *its != node;
        snprintf(name, size, "%.*s", (int)size - 1, e->d_name);
    }
    if (entries)
        closedir(entries);
    return found;
}

static void judge_node(const struct hil_machine *p, struct hil_finding *f, int node)
{
    char adapter[64], cpus[128] = "";
    long long its;

    if (!adapter_elsewhere(p->root, node, adapter, sizeof adapter, &its)) {
        hil_found(f, HIL_FINE, "the loops' cpus, and RDMA adapters if any, are on node %d", node);
        return;
    }
    if (its < 0) {
        hil_found(f, HIL_UNKNOWN, "the kernel does not say on which node the adapter %s is",
                  adapter);
        return;
    }
    hil_found(f, HIL_WARNING, "the loops are on node %d, the RDMA adapter %s is on node %lld", node,
              adapter, its);
    hil_file_text(p->root, cpus, sizeof cpus, "/sys/devices/system/node/node%lld/cpulist", its);
    hil_advice(f, "Place the loops on its cpus: %s.", cpus);
}

void hil_check_numa(const struct hil_machine *p, struct hil_finding *f)
{
    char text[128];
    cpu_set_t nodes;
    int first = -1;

    if (hil_file_text(p->root, text, sizeof text, "/sys/devices/system/node/online") ||
        !hil_cpus_parse(text, &nodes)) {
        hil_found(f, HIL_UNKNOWN, "/sys/devices/system/node/online cannot be read");
        return;
    }
    if (CPU_COUNT(&nodes) == 1) {
        hil_found(f, HIL_FINE, "one node of memory");
        return;
    }
    for (int cpu = hil_cpus_next(&p->loops, -1); cpu >= 0; cpu = hil_cpus_next(&p->loops, cpu)) {
        int node = node_of_cpu(p->root, &nodes, cpu);
        if (node < 0) {
            hil_found(f, HIL_UNKNOWN, "the kernel does not say on which node cpu %d is", cpu);
            return;
        }
        if (first >= 0 && node != first) {
            hil_file_text(p->root, text, sizeof text, "/sys/devices/system/node/node%d/cpulist",
                          first);
            hil_found(f, HIL_WARNING, "the loops' cpus are on different nodes, %d and %d", first,
                      node);
            hil_advice(f, "Place them on one node, for example on cpus %s.", text);
            return;
        }
        first = node;
    }
    judge_node(p, f, first);
}

/* --- pages ---------------- */

void hil_check_transparent_huge(const struct hil_machine *p, struct hil_finding *f)
{
    char text[128];

    if (hil_file_text(p->root, text, sizeof text, "/sys/kernel/mm/transparent_hugepage/enabled")) {
        hil_found(f, HIL_UNKNOWN, "/sys/kernel/mm/transparent_hugepage/enabled cannot be read");
        return;
    }
    hil_chosen_word(text);
    if (strcmp(text, "always") != 0) {
        hil_found(f, HIL_FINE, "only on request, or never (%s)", text);
        return;
    }
    hil_found(f, HIL_WARNING, "the kernel may turn any memory into huge pages at any time");
    hil_command(f, "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled");
    f->can_be_lent = true;
}

/* The value of a line in /proc/meminfo, in kB or pages; -1: unknown. */
static long long memory_of(const char *root, const char *key)
{
    char text[8192];

    if (hil_file_text(root, text, sizeof text, "/proc/meminfo"))
        return -1;
    const char *value = hil_line_of(text, key);
    return value ? strtoll(value, NULL, 10) : -1;
}

bool hil_needs_huge_pages(const char *root)
{
    return memory_of(root, "HugePages_Free") == 0 && hil_kernel_since(root, 6, 1) != 1;
}

void hil_check_huge_pages(const struct hil_machine *p, struct hil_finding *f)
{
    long long unused = memory_of(p->root, "HugePages_Free");

    if (unused < 0) {
        hil_found(f, HIL_UNKNOWN, "/proc/meminfo does not mention huge pages");
    } else if (unused > 0) {
        hil_found(f, HIL_FINE, "%lld huge pages are free", unused);
    } else if (!hil_needs_huge_pages(p->root)) {
        hil_found(f, HIL_FINE, "none is reserved, but the kernel makes them on request");
    } else {
        hil_found(f, HIL_NOTE, "no huge page is free, so network memory uses small pages");
        hil_command(f, "sysctl -w vm.nr_hugepages=%d", HIL_HUGE_PAGES);
        f->can_be_lent = true;
    }
}

void hil_check_swap(const struct hil_machine *p, struct hil_finding *f)
{
    long long total = memory_of(p->root, "SwapTotal");

    if (total < 0) {
        hil_found(f, HIL_UNKNOWN, "/proc/meminfo does not mention swap");
    } else if (total == 0) {
        hil_found(f, HIL_FINE, "there is none");
    } else {
        hil_found(f, HIL_NOTE, "there is %lld MiB of swap", total / 1024);
        hil_command(f, "swapoff -a");
    }
}
