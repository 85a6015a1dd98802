/*
 * Which executor runs which nodes, as the power_controller form says it: each node once.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "scenario_resolve.h"

int scenario_check_placement(const struct scenario_loaded *loaded)
{
    const struct scenario_file *file = loaded->file;
    struct scenario_roll placed = {.loaded = loaded,
                                   .list = "placement",
                                   .gift = "a place",
                                   .converters = calloc(file->converters.count, sizeof(bool))};
    unsigned first, last;

    if (placed.converters == NULL)
        return -ENOMEM;
    for (unsigned i = 0; i < file->placement_count && !scenario_report_is_full(loaded->report); i++)
        scenario_roll_call(&placed, i, file->placement[i].controller, file->placement[i].converters,
                           &first, &last);
    scenario_roll_end(&placed);
    free(placed.converters);
    return 0;
}
