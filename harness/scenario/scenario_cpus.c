/*
 * The cpus of this machine.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scenario_check.h"

/* The kernel's list of cpus in use, such as "0-3,8"; without /sys, as many as there are. */
static void read_online(char *online, size_t size)
{
    FILE *file = fopen("/sys/devices/system/cpu/online", "re");
    bool known = file != NULL && fgets(online, (int)size, file) != NULL;

    if (file != NULL)
        fclose(file);
    if (known)
        online[strcspn(online, "\n")] = '\0';
    else
        snprintf(online, size, "0-%ld", sysconf(_SC_NPROCESSORS_ONLN) - 1);
}

bool scenario_cpu_exists(int cpu, char *online, size_t size)
{
    read_online(online, size);
    for (const char *item = online; *item != '\0';) {
        int first, last, read = 0;
        if (sscanf(item, "%d-%d%n", &first, &last, &read) != 2) {
            if (sscanf(item, "%d%n", &first, &read) != 1)
                return false;
            last = first;
        }
        if (cpu >= first && cpu <= last)
            return true;
        item += read;
        item += *item == ',';
    }
    return false;
}
