/*
 * Which executor runs which nodes.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "scenario_check.h"
#include "scenario_resolve.h"

/* Who has been placed so far. */
struct placed {
    const struct scenario_loaded *loaded;
    bool controller;
    bool *converters;
};

static void place_controller(struct placed *placed, unsigned index)
{
    char path[64];

    if (placed->controller) {
        snprintf(path, sizeof(path), "placement.%u.controller", index);
        scenario_mistake_in(placed->loaded, path,
                            "%s is true, but the controller has a place already; allowed: once",
                            path);
    }
    placed->controller = true;
}

static void place_converters(struct placed *placed, unsigned index,
                             const struct hil_executor_config *executor)
{
    char path[64];

    snprintf(path, sizeof(path), "placement.%u.converters", index);
    for (unsigned id = executor->first; id <= executor->last; id++) {
        if (placed->converters[id]) {
            scenario_mistake_in(placed->loaded, path,
                                "%s is %s, but converter %u has a place already; allowed: once",
                                path, placed->loaded->file->placement[index].converters, id);
            return;
        }
        placed->converters[id] = true;
    }
}

static void place(struct placed *placed, unsigned index, struct hil_executor_config *executor)
{
    const struct file_placement *file = &placed->loaded->file->placement[index];
    char path[64];

    *executor = (struct hil_executor_config){.controller = file->controller,
                                             .first = 1,
                                             .last = 0, /* none */
                                             .cpu = file->cpu,
                                             .priority = file->priority,
                                             .scheduler = file->scheduler,
                                             .wait = file->wait};
    if (file->controller)
        place_controller(placed, index);
    if (file->converters != NULL) {
        scenario_ids_parse(file->converters, &executor->first, &executor->last);
        place_converters(placed, index, executor);
    }
    if (file->controller || file->converters != NULL)
        return;
    snprintf(path, sizeof(path), "placement.%u", index);
    scenario_mistake_in(placed->loaded, path,
                        "%s runs nothing; allowed: controller: true, or converters: a range", path);
}

static void check_all_placed(const struct placed *placed)
{
    if (!placed->controller)
        scenario_mistake_in(placed->loaded, "placement",
                            "placement leaves out the controller; allowed: each node once");
    for (unsigned id = 0; id < placed->loaded->file->converters.count; id++) {
        if (placed->converters[id])
            continue;
        scenario_mistake_in(placed->loaded, "placement",
                            "placement leaves out converter %u; allowed: each node once", id);
        return;
    }
}

int scenario_resolve_placement(const struct scenario_loaded *loaded, struct hil_scenario *scenario)
{
    const struct scenario_file *file = loaded->file;
    struct placed placed = {.loaded = loaded,
                            .converters = calloc(file->converters.count, sizeof(bool))};

    scenario->executors = calloc(file->placement_count + 1, sizeof(scenario->executors[0]));
    if (placed.converters == NULL || scenario->executors == NULL) {
        free(placed.converters);
        return -ENOMEM;
    }
    scenario->executor_count = file->placement_count;
    for (unsigned i = 0; i < file->placement_count; i++)
        place(&placed, i, &scenario->executors[i]);
    check_all_placed(&placed);
    free(placed.converters);
    return 0;
}
