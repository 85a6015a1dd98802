/*
 * Which executor runs which nodes.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "scenario_resolve.h"

int scenario_resolve_placement(const struct scenario_loaded *loaded, struct hil_scenario *scenario)
{
    const struct scenario_file *file = loaded->file;
    struct scenario_roll placed = {.loaded = loaded,
                                   .list = "placement",
                                   .gift = "a place",
                                   .converters = calloc(file->converters.count, sizeof(bool))};

    scenario->executors = calloc(file->placement_count + 1, sizeof(scenario->executors[0]));
    if (placed.converters == NULL || scenario->executors == NULL) {
        free(placed.converters);
        return -ENOMEM;
    }
    scenario->executor_count = file->placement_count;
    for (unsigned i = 0; i < file->placement_count && !scenario_report_is_full(loaded->report);
         i++) {
        const struct file_placement *entry = &file->placement[i];
        struct hil_executor_config *executor = &scenario->executors[i];
        *executor = (struct hil_executor_config){.controller = entry->controller,
                                                 .cpu = entry->cpu,
                                                 .priority = entry->priority,
                                                 .scheduler = entry->scheduler,
                                                 .wait = entry->wait};
        scenario_roll_call(&placed, i, entry->controller, entry->converters, &executor->first,
                           &executor->last);
    }
    scenario_roll_end(&placed);
    free(placed.converters);
    return 0;
}
