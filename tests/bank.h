/*
 * For tests: the parts of a scenario of one controller and its converters. Node 0 is the controller
 * with a law for each converter; node 1 + i is converter i with its plant.
 */
#ifndef TESTS_BANK_H
#define TESTS_BANK_H

#include <string.h>

#include "harness/models/models.h"
#include "harness/scenario/system.h"

static inline unsigned bank_count(const struct hil_scenario *s)
{
    return s->system->node_count - 1;
}

static inline const struct hil_node_config *bank_controller(const struct hil_scenario *s)
{
    return &s->system->nodes[0];
}

static inline const struct hil_node_config *bank_converter(const struct hil_scenario *s,
                                                           unsigned id)
{
    return &s->system->nodes[1 + id];
}

static inline const struct hil_component *bank_law(const struct hil_scenario *s, unsigned id)
{
    return &s->system->components[id];
}

static inline const struct hil_component *bank_plant(const struct hil_scenario *s, unsigned id)
{
    return &s->system->components[bank_count(s) + id];
}

/* What an input of a plant has its value from. */
static inline const struct hil_feed *bank_feed(const struct hil_scenario *s, unsigned id,
                                               const char *input)
{
    const struct hil_component *plant = bank_plant(s, id);

    return &bank_converter(s, id)
                ->feeds[plant->in + (unsigned)hil_quantity_find(&plant->model->inputs, input)];
}

/* "reference", "load" or "input_voltage"; no changes where the scenario has no such source. */
static inline const struct hil_profile *bank_profile(const struct hil_scenario *s, const char *name)
{
    static const struct hil_profile none;

    for (unsigned i = 0; i < s->system->source_count; i++)
        if (strcmp(s->system->sources[i].name, name) == 0)
            return &s->system->sources[i].steps;
    return &none;
}

static inline uint64_t bank_latency_ns(const struct hil_scenario *s, unsigned from, unsigned to)
{
    const int link = hil_link_find(s->system, from, to);

    return link < 0 ? 0 : s->system->links[link].latency_ns;
}

#endif
