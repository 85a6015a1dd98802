/*
 * Tests the cost of setting up a run, counted at the fabric. It is proportional to the number of
 * converters, as each of them communicates only with the controller.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "harness/run/group.h"
#include "test_scenario.h"

static const uint64_t TIMEOUT_NS = 60000000000;

static struct counts {
    unsigned long meetings, links, messages, writes, waits;
} counts;

static const struct loco_fabric_ops *true_ops;

static int counted_meet(struct loco_node *node, uint32_t peer)
{
    counts.meetings++;
    return true_ops->meet(node, peer);
}

static int counted_link_open(struct loco_node *node, uint32_t peer, uint64_t until,
                             struct loco_link **link)
{
    counts.links++;
    return true_ops->link_open(node, peer, until, link);
}

static int counted_send(struct loco_node *node, uint32_t peer, const void *message, size_t size)
{
    counts.messages++;
    return true_ops->send(node, peer, message, size);
}

static int counted_write(struct loco_link *link, struct loco_remote to, const void *from,
                         size_t size)
{
    counts.writes++;
    return true_ops->write(link, to, from, size);
}

static void counted_relax(struct loco_node *node, struct loco_wait *wait)
{
    counts.waits++;
    true_ops->relax(node, wait);
}

/* One side: the controller, or all the converters. */
struct side {
    const struct hil_run *run;
    struct loco_fabric *sim;
    struct hil_executor_config nodes;
    int result;
};

static void side_body(void *arg)
{
    struct side *side = arg;
    struct hil_group group;

    side->result = hil_group_start(&group, side->run, side->sim, &side->nodes, TIMEOUT_NS);
    hil_group_end(&group, HIL_DONE);
    hil_group_close(&group);
}

/* Arrivals come one at a time, and each one ends a wait. */
static struct loco_sim_link jittery(void *arg, uint32_t from, uint32_t to)
{
    (void)arg, (void)from, (void)to;
    return (struct loco_sim_link){.latency_ns = 1000, .jitter_ns = 1000};
}

static struct counts count_set_up(const char *converters)
{
    struct hil_scenario *s = load(SMALL, SETS("mode=virtual", converters));
    const struct loco_sim_config config = {.seed = 1, .link = jittery};
    struct loco_fabric *sim = loco_sim_open(&config);
    struct loco_fabric_ops counted = *sim->ops;
    struct hil_run run = {.scenario = s};
    struct side sides[] = {
        {&run, sim, s->executors[0], 0},
        {&run, sim, s->executors[1], 0},
    };

    true_ops = sim->ops;
    counted.meet = counted_meet;
    counted.link_open = counted_link_open;
    counted.send = counted_send;
    counted.write = counted_write;
    counted.relax = counted_relax;
    sim->ops = &counted;
    counts = (struct counts){0};
    cr_assert_eq(hil_state_open(&run.state, s), 0);
    for (int i = 0; i < 2; i++)
        cr_assert_eq(loco_sim_spawn(sim, side_body, &sides[i]), 0);
    cr_assert_eq(loco_sim_run(sim), 0);
    for (int i = 0; i < 2; i++)
        cr_expect_eq(sides[i].result, 0, "side %d: %s", i, strerror(-sides[i].result));
    loco_sim_close(sim);
    hil_state_close(run.state);
    hil_scenario_free(s);
    return counts;
}

static void expect_linear(const char *what, unsigned long few, unsigned long many)
{
    cr_expect_leq(many, 10 * few, "%s: %lu with 20 converters, %lu with 200", what, few, many);
}

Test(set_up, is_in_proportion_to_the_converters)
{
    const struct counts few = count_set_up("nodes.converter.count=20");
    const struct counts many = count_set_up("nodes.converter.count=200");

    cr_expect_eq(few.meetings, 2 * 20u, "%lu: one at each end", few.meetings);
    cr_expect_eq(many.meetings, 2 * 200u, "%lu: one at each end", many.meetings);
    cr_expect_eq(many.links, 1 + 3 * 200u, "%lu: one at each end, and each node's own", many.links);
    expect_linear("messages", few.messages, many.messages);
    expect_linear("writes", few.writes, many.writes);
    expect_linear("waits", few.waits, many.waits);
}
