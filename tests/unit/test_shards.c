/*
 * Tests how the links of a node are divided among its shards, and how one shard's findings affect
 * all of the node.
 */
#include <criterion/criterion.h>

#include "harness/run/shards.h"
#include "step_rig.h"

#define SHARDS(number)                                                                             \
    LINE_1 LINE_2 "mode: virtual\nnodes: {controller: {period_us: 20, shards: " #number            \
                  "}, converter: {count: 3, period_us: 10}}\n" LINE_4_5 LINE_6_8 END TOGETHER

static const struct hil_shards *shards_of(const struct rig *rig, unsigned node)
{
    return rig->group.nodes[node]->step->shards;
}

/* --- the split ---------------- */

/* The links are in the order of the shards, without gaps. */
static void expect_ranges(const struct hil_step *s, const struct hil_shards *h)
{
    unsigned early = 0, late = s->early, arrivals = 0;

    for (unsigned i = 0; i < h->count; i++) {
        const struct hil_shard *shard = &h->at[i];
        cr_expect_eq(shard->early.first, early);
        cr_expect_eq(shard->late.first, late);
        cr_expect_eq(shard->arrivals.first, arrivals);
        early += shard->early.count;
        late += shard->late.count;
        arrivals += shard->arrivals.count;
    }
    cr_expect_eq(early, s->early);
    cr_expect_eq(late, s->departure_count);
    cr_expect_eq(arrivals, s->arrival_count);
}

static void expect_split(const char *text, const unsigned *arrivals, const unsigned *departures,
                         unsigned count)
{
    struct rig rig;

    open_rig(&rig, text);
    const struct hil_shards *h = shards_of(&rig, 0);
    cr_assert_not_null(h);
    cr_assert_eq(h->count, count);
    expect_ranges(rig.group.nodes[0]->step, h);
    for (unsigned i = 0; i < count; i++) {
        cr_expect_eq(h->at[i].arrivals.count, arrivals[i], "shard %u", i);
        cr_expect_eq(h->at[i].early.count + h->at[i].late.count, departures[i], "shard %u", i);
    }
    close_rig(&rig);
}

#define COUNTS(...) ((const unsigned[]){__VA_ARGS__})

Test(shards, have_a_peer_each_where_there_are_as_many)
{
    expect_split(SHARDS(3), COUNTS(1, 1, 1), COUNTS(1, 1, 1), 3);
}

/* A peer's links in both directions stay in one shard. */
Test(shards, are_uneven_where_the_peers_are)
{
    expect_split(SHARDS(2), COUNTS(2, 1), COUNTS(2, 1), 2);
}

Test(shards, are_none_of_a_node_with_one)
{
    struct rig rig;

    open_rig(&rig, SHARDS(1));
    cr_expect_null(shards_of(&rig, 0));
    close_rig(&rig);
}

#define BOTH   "  both: {period_us: 10}\n"
#define SOURCE "  source: {period_us: 10}\n"
#define SINK   "  sink: {period_us: 10}\n"

/* Two links with one peer, and one with each of the others. */
#define HUB(shards, peers)                                                                         \
    "name: hub\nduration_s: 0.1\nmode: virtual\n"                                                  \
    "nodes:\n"                                                                                     \
    "  hub: {period_us: 10, shards: " #shards "}\n" peers "components:\n"                          \
    "  given: {model: gain, node: source, inputs: {input: 1}}\n"                                   \
    "  first: {model: gain, node: hub}\n"                                                          \
    "  beside: {model: gain, node: both}\n"                                                        \
    "  second: {model: gain, node: hub}\n"                                                         \
    "  taken: {model: gain, node: sink}\n"                                                         \
    "connections:\n"                                                                               \
    "  - {from: given.output, to: first.input}\n"                                                  \
    "  - {from: first.output, to: beside.input}\n"                                                 \
    "  - {from: beside.output, to: second.input}\n"                                                \
    "  - {from: second.output, to: taken.input}\n"                                                 \
    "placement:\n"                                                                                 \
    "  - {nodes: [hub, both, source, sink]}\n"

Test(shards, have_as_many_links_each_as_can_be)
{
    expect_split(HUB(2, BOTH SOURCE SINK), COUNTS(1, 1), COUNTS(1, 1), 2);
}

/* One peer only receives, and one only sends. In the second order, the first two together would be
 * nearer to a third of the links. */
Test(shards, leave_a_peer_to_each_of_the_rest)
{
    expect_split(HUB(3, BOTH SOURCE SINK), COUNTS(1, 1, 0), COUNTS(1, 0, 1), 3);
    expect_split(HUB(3, SOURCE SINK BOTH), COUNTS(1, 0, 1), COUNTS(0, 1, 1), 3);
}

/* --- a step ---------------- */

Test(shards, carry_what_comes_to_one_and_leaves_by_another)
{
    struct rig rig;

    open_rig(&rig, HUB(3, BOTH SOURCE SINK));
    play(&rig, 100);
    cr_expect_eq(rig.rc, 0);
    cr_expect_float_eq(out_of(&rig, "taken"), 1, 1e-12);
    close_rig(&rig);
}

/* The last converter, whose link is in the second shard, stands still. */
Test(shards, end_the_run_where_one_finds_that_it_must)
{
    struct rig rig;

    open_rig_of(&rig, load(SHARDS(2), SETS("nodes.controller.input_age_limit_us=100",
                                           "nodes.controller.on_stale_input=end")));
    play(&rig, 200);
    cr_expect_eq(rig.rc, 0);
    rig.still[3] = true;
    for (uint64_t t_us = 220; rig.rc == 0 && t_us < 1000; t_us += 20)
        play(&rig, t_us); /* the controller's step is the last one made */
    cr_expect_eq(rig.rc, -ESTALE);
    const struct hil_stale_log *stale = &rig.run.state->executors[0].stale;
    cr_expect_eq(atomic_load(&stale->count), 1);
    cr_expect_eq(stale->at[0].from, 3);
    close_rig(&rig);
}
