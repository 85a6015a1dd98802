#include "cores.h"

#include <sched.h>

#include "../run/loop_cores.h"

void hil_leave_loops_cores(const struct hil_scenario *s)
{
    const cpu_set_t loops = hil_cores_of_loops(s);
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof set, &set))
        return;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &loops))
            CPU_CLR(cpu, &set);
    if (CPU_COUNT(&set) > 0)
        sched_setaffinity(0, sizeof set, &set);
}
