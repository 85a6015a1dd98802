#include "steal.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

bool hil_steal_read(const char *root, int cpu, struct hil_steal *s)
{
    char path[PATH_MAX], line[512];
    unsigned long long t[8];
    bool found = false;
    int number;

    snprintf(path, sizeof path, "%s/proc/stat", root);
    FILE *stat = fopen(path, "re");
    if (!stat)
        return false;
    while (!found && fgets(line, sizeof line, stat))
        found = sscanf(line, "cpu%d %llu %llu %llu %llu %llu %llu %llu %llu", &number, &t[0], &t[1],
                       &t[2], &t[3], &t[4], &t[5], &t[6], &t[7]) == 9 &&
                number == cpu;
    fclose(stat);
    if (!found)
        return false;
    *s = (struct hil_steal){.stolen = t[7]};
    for (int i = 0; i < 8; i++)
        s->all += t[i];
    return true;
}

double hil_stolen_s(const char *root, int cpu)
{
    struct hil_steal s;

    return hil_steal_read(root, cpu, &s) ? (double)s.stolen / (double)sysconf(_SC_CLK_TCK) : -1;
}
