/* Tests the text that says for which nodes a group waits. */
#include "harness/run/waiting.h"
#include "test_scenario.h"

enum { CONVERTERS = 6, MANY = 200 };

static struct loco_member members[MANY];
static struct hil_run run = {.place = "/tmp/here"};
static struct hil_node node, *nodes[] = {&node};
static const struct hil_group group = {.run = &run, .nodes = nodes, .count = 1};

/* SMALL with some --set, and six converters. */
static void open_scenario(const char *const *sets)
{
    run.scenario = load(SMALL, sets);
}

static void close_scenario(void)
{
    hil_scenario_free((struct hil_scenario *)run.scenario);
}

/* The group is the controller. A converter with '1' here has come. */
static const char *whom(const char *here)
{
    static char text[HIL_WAITING_BYTES];

    for (unsigned i = 0; i < CONVERTERS; i++)
        members[i] = (struct loco_member){.node = 1 + i, .incarnation = here[i] == '1'};
    node.links.channel.members = members;
    node.links.channel.member_count = CONVERTERS;
    hil_waiting_whom(&group, text);
    return text;
}

Test(waiting, names_nodes_in_ranges)
{
    open_scenario(SETS("nodes.converter.count=6"));
    cr_expect_str_eq(whom("000000"), "converter[0-5] in /tmp/here");
    cr_expect_str_eq(whom("101001"), "converter[1], converter[3-4] in /tmp/here");
    cr_expect_str_eq(whom("111110"), "converter[5] in /tmp/here");
    close_scenario();
}

Test(waiting, names_the_controller)
{
    char text[HIL_WAITING_BYTES];

    open_scenario(SETS("nodes.converter.count=6"));
    members[0] = (struct loco_member){.node = 0};
    members[1] = (struct loco_member){.node = 1};
    node.links.channel.members = members;
    node.links.channel.member_count = 2;
    hil_waiting_whom(&group, text);
    cr_expect_str_eq(text, "controller, converter[0] in /tmp/here");
    members[0].incarnation = members[1].incarnation = 1;
    hil_waiting_whom(&group, text);
    cr_expect_str_eq(text, "nodes that others name in /tmp/here");
    close_scenario();
}

/* Over RDMA each node is on another machine. */
Test(waiting, says_where_each_node_is_expected)
{
    open_scenario(SETS("nodes.converter.count=6", "fabric=verbs", "mode=realtime",
                       "verbs.nodes=[{nodes: controller, address: 10.0.0.1}, "
                       "{nodes: 'converter[0-1]', address: 10.0.0.2}, "
                       "{nodes: 'converter[2-5]', address: 10.0.0.3}]"));
    cr_expect_str_eq(whom("010001"), "converter[0] at 10.0.0.2, port 18516, "
                                     "converter[2-4] at 10.0.0.3, port 18518-18520");
    cr_expect_str_eq(whom("000111"), "converter[0-1] at 10.0.0.2, port 18516-18517, "
                                     "converter[2] at 10.0.0.3, port 18518");
    close_scenario();
}

/* Only the part that does not fit is cut off. */
Test(waiting, many_ranges_are_cut)
{
    char text[HIL_WAITING_BYTES];

    open_scenario(SETS("nodes.converter.count=200"));
    for (unsigned i = 0; i < MANY; i++)
        members[i] = (struct loco_member){.node = 1 + i, .incarnation = i % 2};
    node.links.channel.members = members;
    node.links.channel.member_count = MANY;
    hil_waiting_whom(&group, text);
    cr_expect_eq(strlen(text), HIL_WAITING_BYTES - 1);
    cr_expect(strncmp(text, "converter[0], converter[2], ", 28) == 0, "%s", text);
    close_scenario();
}
