#include "gaps.h"

#include <stdio.h>

const uint64_t hil_gaps_limits[HIL_GAPS_LIMITS] = {1000, 10000, 100000, 1000000, 10000000};

static void keep_largest(struct hil_gaps *g, uint64_t ns)
{
    int i = HIL_GAPS_LARGEST - 1;

    if (ns <= g->largest[i])
        return;
    for (; i > 0 && g->largest[i - 1] < ns; i--)
        g->largest[i] = g->largest[i - 1];
    g->largest[i] = ns;
}

void hil_gaps_add(struct hil_gaps *g, uint64_t ns)
{
    if (ns <= hil_gaps_limits[0])
        return;
    g->lost_ns += ns;
    for (int i = 0; i < HIL_GAPS_LIMITS && ns > hil_gaps_limits[i]; i++)
        g->over[i]++;
    keep_largest(g, ns);
}

void hil_time_text(uint64_t ns, char *text, size_t size)
{
    if (ns < 999500)
        snprintf(text, size, "%.3g us", (double)ns * 1e-3);
    else
        snprintf(text, size, "%.3g ms", (double)ns * 1e-6);
}
