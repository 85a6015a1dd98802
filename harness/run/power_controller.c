#include "power_controller.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node_name.h"

static int init_link(struct hil_power_controller *pc, unsigned link, unsigned converter)
{
    struct loco_manager *m = pc->channel.mgr;
    const uint32_t controller_node = 0, converter_node = 1 + converter;
    char name[24];

    snprintf(name, sizeof name, "duty%u", converter);
    int rc =
        loco_owned_var_init(&pc->duties[link], m, &pc->channel, name, controller_node,
                            (struct loco_members){&converter_node, 1}, sizeof(struct hil_command));
    if (rc)
        return rc;
    snprintf(name, sizeof name, "voltage%u", converter);
    return loco_owned_var_init(&pc->voltages[link], m, &pc->channel, name, converter_node,
                               (struct loco_members){&controller_node, 1},
                               sizeof(struct hil_measurement));
}

static int init_links(struct hil_power_controller *pc)
{
    uint32_t self = pc->channel.mgr->id;

    pc->duties = calloc(pc->count, sizeof *pc->duties);
    pc->voltages = calloc(pc->count, sizeof *pc->voltages);
    if (!pc->duties || !pc->voltages)
        return -ENOMEM;
    for (unsigned link = 0; link < pc->count; link++) {
        int rc = init_link(pc, link, self == 0 ? link : self - 1);
        if (rc)
            return rc;
    }
    return 0;
}

/* The controller meets every converter, a converter only the controller. */
static int choose_members(struct hil_power_controller *pc, const struct loco_manager *m)
{
    pc->count = m->id == 0 ? m->count - 1 : 1;
    pc->members = calloc(pc->count, sizeof *pc->members);
    if (!pc->members)
        return -ENOMEM;
    for (unsigned i = 0; m->id == 0 && i < pc->count; i++)
        pc->members[i] = 1 + i;
    return 0;
}

/* "controller.period_us is 40 here and 50 there"; "pid" and "pi" have other gains each. */
static void say_difference(const char *here, const char *there, char *text, size_t size)
{
    const size_t key = strcspn(here, "=");

    if (!here[0] && !there[0])
        snprintf(text, size, "only the ends of long values differ");
    else if (here[0] && strncmp(here, there, key + 1) == 0)
        snprintf(text, size, "%.*s is %s here and %s there", (int)key, here, here + key + 1,
                 there + key + 1);
    else
        snprintf(text, size, "%s here, where there is %s there", here[0] ? here : "nothing",
                 there[0] ? there : "nothing");
}

static void on_disagree(struct loco_channel *channel, uint32_t node, const char *here,
                        const char *there)
{
    struct hil_power_controller *pc = (struct hil_power_controller *)channel;
    char name[HIL_NODE_NAME_BYTES], difference[180];

    if (pc->disagreement[0])
        return;
    hil_node_name(node, name, sizeof name);
    say_difference(here, there, difference, sizeof difference);
    snprintf(pc->disagreement, sizeof pc->disagreement, "%s%s has another scenario: %s",
             node == 0 ? "the " : "", name, difference);
}

static void on_lost(struct loco_channel *channel, uint32_t node)
{
    struct hil_power_controller *pc = (struct hil_power_controller *)channel;

    (void)node;
    atomic_store_explicit(&pc->lost, true, memory_order_relaxed);
}

static const struct loco_channel_ops ops = {
    .on_lost = on_lost, .on_disagree = on_disagree, .takes_back = true};

int hil_power_controller_init(struct hil_power_controller *pc, struct loco_manager *m,
                              const struct hil_listing *listing)
{
    const struct loco_agreement agreement = {listing->lines, listing->length, listing->hash};

    *pc = (struct hil_power_controller){0};
    int rc = choose_members(pc, m);
    const struct loco_members members = {pc->members, pc->count};

    if (!rc)
        rc = loco_channel_init(&pc->channel, m, NULL, "power_controller", members, &ops);
    if (!rc)
        loco_channel_agree(&pc->channel, &agreement);
    if (!rc)
        rc = init_links(pc);
    if (!rc)
        rc = loco_sst_init(&pc->progress, m, &pc->channel, "progress", members,
                           sizeof(struct hil_progress));
    if (rc)
        hil_power_controller_fini(pc);
    else
        loco_channel_join(&pc->channel);
    return rc;
}

int hil_power_controller_add_barrier(struct hil_power_controller *pc)
{
    return loco_barrier_init(&pc->barrier, pc->channel.mgr, &pc->channel, "barrier",
                             (struct loco_members){pc->members, pc->count});
}

void hil_power_controller_fini(struct hil_power_controller *pc)
{
    loco_barrier_fini(&pc->barrier);
    loco_sst_fini(&pc->progress);
    for (unsigned i = 0; i < pc->count; i++) {
        if (pc->duties)
            loco_owned_var_fini(&pc->duties[i]);
        if (pc->voltages)
            loco_owned_var_fini(&pc->voltages[i]);
    }
    free(pc->duties);
    free(pc->voltages);
    loco_channel_fini(&pc->channel);
    free(pc->members);
    *pc = (struct hil_power_controller){0};
}
