#include "loop_cores.h"

#include <unistd.h>

#include "../base/cpus.h"

cpu_set_t hil_cores_of_loops(const struct hil_scenario *s)
{
    cpu_set_t cores;

    CPU_ZERO(&cores);
    for (unsigned i = 0; i < s->executor_count; i++)
        for (unsigned k = 0; k < hil_executor_threads(&s->executors[i]); k++) {
            const int cpu = hil_executor_cpu(&s->executors[i], k);
            if (cpu >= 0)
                CPU_SET((unsigned)cpu, &cores);
        }
    return cores;
}

bool hil_cores_for_others(const struct hil_scenario *s, cpu_set_t *cores)
{
    const long count = sysconf(_SC_NPROCESSORS_CONF);
    const cpu_set_t loops = hil_cores_of_loops(s);
    unsigned left = 0;

    for (long cpu = 0; cpu < count && cpu < CPU_SETSIZE; cpu++)
        left += !CPU_ISSET((unsigned)cpu, &loops);
    CPU_ZERO(cores);
    for (long cpu = 0; cpu < count && cpu < CPU_SETSIZE; cpu++)
        if (!left || !CPU_ISSET((unsigned)cpu, &loops))
            CPU_SET((unsigned)cpu, cores);
    return left > 0;
}

void hil_leave_loops_cores(const struct hil_scenario *s)
{
    const cpu_set_t loops = hil_cores_of_loops(s);

    hil_keep_off(&loops);
}
