/* The counts of a link between two nodes. */
#ifndef TEST_LINK_STATE_H
#define TEST_LINK_STATE_H

#include <criterion/criterion.h>

#include "harness/run/group.h"

static inline struct hil_link_state *link_state(const struct hil_run *run, unsigned from,
                                                unsigned to)
{
    int link = hil_link_find(run->scenario->system, from, to);

    cr_assert_geq(link, 0);
    return &run->state->links[link];
}

#endif
