#include "interrupts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/cpus.h"
#include "files.h"

/* The first line has the cpu of each column. */
static unsigned read_columns(const char *line, int *cpus)
{
    unsigned count = 0;
    int read = 0;

    for (; count < HIL_INTERRUPT_CPUS && sscanf(line, " CPU%d%n", &cpus[count], &read) == 1;
         count++)
        line += read;
    return count;
}

/* The effective affinity; an old kernel, or a disabled interrupt, only has the allowed cpus. */
static bool read_cpus(const char *root, struct hil_interrupt *i)
{
    char text[512];

    if (hil_file_text(root, text, sizeof text, "/proc/irq/%d/effective_affinity_list", i->number) ==
            0 &&
        hil_cpus_parse(text, &i->cpus) && CPU_COUNT(&i->cpus) > 0)
        return true;
    return hil_file_text(root, text, sizeof text, "/proc/irq/%d/smp_affinity_list", i->number) ==
               0 &&
           hil_cpus_parse(text, &i->cpus);
}

/* Parses "36:  0  485935  PCI-MSIX-0000:00:02.0  1-edge  virtio1-req.0". Returns false for the
 * kernel's own interrupts, such as LOC, and for interrupts without a driver. */
static bool read_interrupt(const char *root, const char *line, const int *cpus, unsigned columns,
                           struct hil_interrupt *i)
{
    char *end;

    *i = (struct hil_interrupt){.number = (int)strtol(line, &end, 10)};
    if (end == line || *end != ':')
        return false;
    end++;
    for (unsigned c = 0; c < columns; c++)
        if (cpus[c] >= 0 && cpus[c] < HIL_INTERRUPT_CPUS)
            i->arrived[cpus[c]] = strtoull(end, &end, 10);
    char *last = strrchr(end, ' ');
    snprintf(i->device, sizeof i->device, "%s", last ? last + 1 : "");
    return i->device[0] && read_cpus(root, i);
}

int hil_interrupts_each(const char *root,
                        void (*look)(const struct hil_interrupt *interrupt, void *arg), void *arg)
{
    static int cpus[HIL_INTERRUPT_CPUS];
    static struct hil_interrupt interrupt;
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE), *rest = text;
    int rc = text ? hil_file_text(root, text, SIZE, "/proc/interrupts") : -ENOMEM;
    unsigned columns = rc ? 0 : read_columns(strsep(&rest, "\n"), cpus);

    for (char *line; !rc && (line = strsep(&rest, "\n"));)
        if (read_interrupt(root, line, cpus, columns, &interrupt))
            look(&interrupt, arg);
    free(text);
    return rc;
}
