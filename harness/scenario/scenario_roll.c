/*
 * Lists whose entries name each node once: of the controller, of a range of converters, or
 * of both.
 */
#include <stdio.h>

#include "scenario_check.h"
#include "scenario_resolve.h"

static void call_controller(struct scenario_roll *roll, unsigned index)
{
    char path[64];

    if (roll->controller) {
        snprintf(path, sizeof(path), "%s.%u.controller", roll->list, index);
        scenario_mistake_in(roll->loaded, path,
                            "%s is true, but the controller has %s already; allowed: once", path,
                            roll->gift);
    }
    roll->controller = true;
}

static void call_converters(struct scenario_roll *roll, unsigned index, const char *converters,
                            unsigned first, unsigned last)
{
    char path[64];

    snprintf(path, sizeof(path), "%s.%u.converters", roll->list, index);
    for (unsigned id = first; id <= last; id++) {
        if (roll->converters[id]) {
            scenario_mistake_in(roll->loaded, path,
                                "%s is %s, but converter %u has %s already; allowed: once", path,
                                converters, id, roll->gift);
            return;
        }
        roll->converters[id] = true;
    }
}

void scenario_roll_call(struct scenario_roll *roll, unsigned index, bool controller,
                        const char *converters, unsigned *first, unsigned *last)
{
    char path[64];

    *first = 1;
    *last = 0;
    if (controller)
        call_controller(roll, index);
    if (converters != NULL) {
        scenario_ids_parse(converters, first, last);
        call_converters(roll, index, converters, *first, *last);
    }
    if (controller || converters != NULL)
        return;
    snprintf(path, sizeof(path), "%s.%u", roll->list, index);
    scenario_mistake_in(roll->loaded, path,
                        "%s names no node; allowed: controller: true, or converters: a range",
                        path);
}

void scenario_roll_end(const struct scenario_roll *roll)
{
    if (!roll->controller)
        scenario_mistake_in(roll->loaded, roll->list,
                            "%s leaves out the controller; allowed: each node once", roll->list);
    for (unsigned id = 0; id < roll->loaded->file->converters.count; id++) {
        if (roll->converters[id])
            continue;
        scenario_mistake_in(roll->loaded, roll->list,
                            "%s leaves out converter %u; allowed: each node once", roll->list, id);
        return;
    }
}
