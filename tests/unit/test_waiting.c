/* For whom a group of nodes waits, in words. */
#include <criterion/criterion.h>
#include <string.h>

#include "harness/run/waiting.h"

enum { CONVERTERS = 6 };

static struct loco_member members[CONVERTERS];
static struct hil_scenario scenario = {.converter_count = CONVERTERS};
static struct hil_run run = {.scenario = &scenario, .place = "/tmp/here"};
static struct hil_node node, *nodes[] = {&node};
static const struct hil_group group = {.run = &run, .nodes = nodes, .count = 1};

/* The group is the controller; a converter that is '1' here has come. */
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

Test(waiting, names_converters_in_ranges)
{
    cr_expect_str_eq(whom("000000"), "converters 0-5 in /tmp/here");
    cr_expect_str_eq(whom("101001"), "converter 1, converters 3-4 in /tmp/here");
    cr_expect_str_eq(whom("111110"), "converter 5 in /tmp/here");
}

Test(waiting, names_the_controller)
{
    members[0] = (struct loco_member){.node = 0};
    node.links.channel.members = members;
    node.links.channel.member_count = 1;
    char text[HIL_WAITING_BYTES];

    hil_waiting_whom(&group, text);
    cr_expect_str_eq(text, "the controller in /tmp/here");
    members[0].incarnation = 1;
    hil_waiting_whom(&group, text);
    cr_expect_str_eq(text, "converters that the controller names in /tmp/here");
}

/* Over RDMA each node is somewhere else. */
Test(waiting, says_where_each_node_is_expected)
{
    static char *addresses[] = {"10.0.0.1", "10.0.0.2", "10.0.0.2", "10.0.0.3",
                                "10.0.0.3", "10.0.0.3", "10.0.0.3"};

    scenario.fabric = HIL_FABRIC_VERBS;
    scenario.verbs.addresses = addresses;
    scenario.verbs.port = 18515;
    cr_expect_str_eq(whom("010001"), "converter 0 at 10.0.0.2, port 18516, "
                                     "converters 2-4 at 10.0.0.3, port 18518-18520");
    cr_expect_str_eq(whom("000111"), "converters 0-1 at 10.0.0.2, port 18516-18517, "
                                     "converter 2 at 10.0.0.3, port 18518");
}

/* What does not fit is cut, and nothing else. */
Test(waiting, many_ranges_are_cut)
{
    enum { MANY = 200 };
    static struct loco_member many[MANY];

    for (unsigned i = 0; i < MANY; i++)
        many[i] = (struct loco_member){.node = 1 + i, .incarnation = i % 2};
    node.links.channel.members = many;
    node.links.channel.member_count = MANY;
    scenario.converter_count = MANY;
    char text[HIL_WAITING_BYTES];

    hil_waiting_whom(&group, text);
    cr_expect_eq(strlen(text), HIL_WAITING_BYTES - 1);
    cr_expect(strncmp(text, "converter 0, converter 2, ", 26) == 0, "%s", text);
}
