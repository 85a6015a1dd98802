/* What a loaded scenario says of itself. */
#include "scenario.h"

#include <stdlib.h>

#include "system.h"

const char *hil_fabric_name(enum hil_fabric fabric)
{
    static const char *const names[] = {[HIL_FABRIC_SHM] = "shm",
                                        [HIL_FABRIC_VERBS] = "verbs",
                                        [HIL_FABRIC_TCP] = "tcp",
                                        [HIL_FABRIC_SIM] = "sim"};

    return names[fabric];
}

void hil_scenario_free(struct hil_scenario *scenario)
{
    if (scenario == NULL)
        return;
    free(scenario->name);
    hil_system_free(scenario->system);
    free(scenario->resolved);
    free(scenario->listing.lines);
    free(scenario);
}

unsigned hil_thread_count(const struct hil_scenario *s)
{
    unsigned count = 0;

    for (unsigned i = 0; i < s->executor_count; i++)
        count += hil_executor_threads(&s->executors[i]);
    return count;
}

bool hil_executor_has(const struct hil_executor_config *executor, unsigned node)
{
    for (unsigned i = 0; i < executor->count; i++)
        if (executor->nodes[i] == node)
            return true;
    return false;
}

unsigned hil_first_node(const struct hil_scenario *s)
{
    unsigned first = s->executors[0].nodes[0];

    for (unsigned i = 1; i < s->executor_count; i++)
        if (s->executors[i].nodes[0] < first)
            first = s->executors[i].nodes[0];
    return first;
}
