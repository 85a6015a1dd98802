/* Tests how many files a process of a run may need. That depends on the nodes with which its nodes
 * share channels. */
#include "harness/launch/open_files.h"
#include "test_scenario.h"

enum { OTHER = 64 }; /* files that do not depend on nodes */

Test(open_files, a_star_connects_its_first_node_with_all)
{
    struct hil_scenario *s = load(SMALL, NULL);

    s->fabric = HIL_FABRIC_VERBS;
    cr_expect_eq(hil_open_files_count(s, 0), OTHER + 2 + 2 * 3);
    cr_expect_eq(hil_open_files_count(s, 1), OTHER + 3 * (2 + 2));
    hil_scenario_free(s);
}

/* Three nodes in a row: the second communicates with both others, the third only with the second.
 */
static const char row[] = "name: row\n"
                          "duration_s: 0.1\n"
                          "nodes:\n"
                          "  a: {period_us: 100}\n"
                          "  b: {period_us: 100}\n"
                          "  c: {period_us: 100}\n"
                          "components:\n"
                          "  one: {model: gain, node: a}\n"
                          "  two: {model: gain, node: b}\n"
                          "  three: {model: gain, node: c}\n"
                          "connections:\n"
                          "- {from: one.output, to: two.input}\n"
                          "- {from: two.output, to: three.input}\n"
                          "- {from: three.output, to: one.input}\n";

Test(open_files, each_link_connects_two_nodes_once)
{
    struct hil_scenario *s = load(row, NULL);

    s->fabric = HIL_FABRIC_VERBS;
    cr_expect_eq(hil_open_files_count(s, 0), OTHER + 2 + 2 * 2);
    cr_expect_eq(hil_open_files_count(s, 1), OTHER + 2 + 2 * 2);
    cr_expect_eq(hil_open_files_count(s, 2), OTHER + 2 + 2 * 2);
    hil_scenario_free(s);
}

/* On verbs each thread has a connection of its own, besides that for control messages. */
Test(open_files, each_shard_connects_with_all_peers)
{
    struct hil_scenario *s = load(SMALL, SETS("nodes.controller.shards=2"));

    s->fabric = HIL_FABRIC_VERBS;
    cr_expect_eq(hil_open_files_count(s, 0), OTHER + 2 + 3 * 3);
    cr_expect_eq(hil_open_files_count(s, 1), OTHER + 3 * (2 + 2));
    hil_scenario_free(s);
}

/* Nodes of one process share all their files there. */
Test(open_files, on_shm_only_processes_count)
{
    struct hil_scenario *s = load(SMALL, NULL);

    cr_expect_eq(hil_open_files_count(s, 0), OTHER + 2 * 6);
    cr_expect_eq(hil_open_files_count(s, 1), OTHER + 2 * 6);
    hil_scenario_free(s);
}

Test(open_files, virtual_time_needs_none)
{
    struct hil_scenario *s = load(SMALL, SETS("mode=virtual"));

    cr_expect_eq(hil_open_files_count(s, 0), 0);
    hil_scenario_free(s);
}
