#include "cores.h"

#include <sched.h>

void hil_leave_loops_cores(const struct hil_scenario *s)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set))
        return;
    for (unsigned i = 0; i < s->executor_count; i++)
        if (s->executors[i].cpu >= 0)
            CPU_CLR((unsigned)s->executors[i].cpu, &set);
    if (CPU_COUNT(&set) > 0)
        sched_setaffinity(0, sizeof set, &set);
}
