#include "parted.h"

#include <errno.h>

/* Static, as all nodes of the simulator are in one process. */
static bool is_held, is_cut;

void parted_begin(void)
{
    is_held = is_cut = false;
}

void parted_hold(struct loco_sim_actor *a)
{
    is_held = true;
    loco_sim_actor_dawdle(a, 4000);
    loco_sim_cut(a->mgr->fabric, PARTED_OFF, PARTED_HOLDER);
    is_cut = true;
    while (*a->acting > 1)
        loco_sim_actor_dawdle(a, 100);
    is_held = false;
}

void parted_await(struct loco_sim_actor *a)
{
    while (!is_held)
        loco_sim_actor_dawdle(a, 100);
    if (a->node == PARTED_THIRD)
        loco_sim_actor_dawdle(a, 1000);
}

void parted_give_up(struct loco_sim_actor *a, int waited, int tried)
{
    LOCO_SIM_EXPECT(a, waited == -ECONNRESET && is_cut);
    LOCO_SIM_EXPECT(a, tried == -ECONNRESET);
    --*a->acting;
}
