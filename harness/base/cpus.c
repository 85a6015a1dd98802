#include "cpus.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* Only the kernel knows all that limits a process. It grants what is allowed of what is asked for.
 */
void hil_cpus_allowed(cpu_set_t *set)
{
    cpu_set_t before, all;

    CPU_ZERO(set);
    if (sched_getaffinity(0, sizeof before, &before))
        return;
    memset(&all, 0xff, sizeof all);
    *set = before;
    if (sched_setaffinity(0, sizeof all, &all) == 0) {
        sched_getaffinity(0, sizeof *set, set);
        sched_setaffinity(0, sizeof before, &before);
    }
}

unsigned hil_cpus_count(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) ? 1 : (unsigned)CPU_COUNT(&set);
}

static const char *skip_words(const char *text)
{
    while (isalpha((unsigned char)*text) || *text == '(') {
        text += strcspn(text, ",");
        text += *text == ',';
    }
    return text;
}

bool hil_cpus_parse(const char *text, cpu_set_t *set)
{
    CPU_ZERO(set);
    for (const char *item = skip_words(text); *item;) {
        int first, last, read = 0;
        if (sscanf(item, "%d-%d%n", &first, &last, &read) != 2) {
            if (sscanf(item, "%d%n", &first, &read) != 1)
                return false;
            last = first;
        }
        if (first < 0 || last >= CPU_SETSIZE)
            return false;
        for (int cpu = first; cpu <= last; cpu++)
            CPU_SET((unsigned)cpu, set);
        item += read;
        item += *item == ',';
    }
    return true;
}

int hil_cpus_next(const cpu_set_t *set, int cpu)
{
    while (++cpu < CPU_SETSIZE)
        if (CPU_ISSET((unsigned)cpu, set))
            return cpu;
    return -1;
}

void hil_cpus_format(const cpu_set_t *set, char *text, size_t size)
{
    size_t used = 0;

    snprintf(text, size, "none");
    for (int cpu = hil_cpus_next(set, -1); cpu >= 0 && used < size;) {
        int last = cpu;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET((unsigned)last + 1, set))
            last++;
        int n = snprintf(text + used, size - used, last > cpu ? "%s%d-%d" : "%s%d", used ? "," : "",
                         cpu, last);
        used += (size_t)n;
        cpu = hil_cpus_next(set, last);
    }
}

void hil_cpus_braces(const cpu_set_t *set, char *text, size_t size)
{
    size_t used = 0;
    int count = CPU_COUNT(set), first = hil_cpus_next(set, -1);

    if (count > 2 && CPU_ISSET((unsigned)(first + count - 1), set)) {
        snprintf(text, size, "{%d..%d}", first, first + count - 1);
        return;
    }
    text[0] = '\0';
    for (int cpu = first; cpu >= 0 && used < size; cpu = hil_cpus_next(set, cpu))
        used += (size_t)snprintf(text + used, size - used, "%s%d",
                                 used        ? ","
                                 : count > 1 ? "{"
                                             : "",
                                 cpu);
    if (count > 1 && used < size)
        snprintf(text + used, size - used, "}");
}

cpu_set_t hil_cpus_without(const cpu_set_t *set, const cpu_set_t *without)
{
    cpu_set_t both, rest;

    CPU_AND(&both, set, without);
    CPU_XOR(&rest, set, &both);
    return rest;
}

bool hil_keep_off(const cpu_set_t *cores)
{
    cpu_set_t allowed;

    if (sched_getaffinity(0, sizeof allowed, &allowed))
        return false;
    const cpu_set_t others = hil_cpus_without(&allowed, cores);
    return CPU_COUNT(&others) && sched_setaffinity(0, sizeof others, &others) == 0;
}
