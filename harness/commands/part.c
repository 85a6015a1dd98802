#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base/pool.h"
#include "../launch/meeting.h"
#include "../launch/part_nodes.h"
#include "../launch/rendezvous.h"
#include "../launch/signals.h"
#include "../scenario/faults.h"
#include "commands.h"

static bool is_chosen(const struct hil_executor_config *e, const bool *chosen, unsigned count)
{
    if (e->count != count)
        return false;
    for (unsigned i = 0; i < e->count; i++)
        if (!chosen[e->nodes[i]])
            return false;
    return true;
}

/* Reduces the scenario to one executor, this process's. If the scenario has an executor for exactly
 * these nodes, that one is used. A process that runs only some of the nodes that the scenario
 * places on a core shares this core with other processes, and must not spin on it as if it had it
 * alone. */
static int keep_only(struct hil_scenario *s, const bool *chosen)
{
    unsigned *nodes, count = 0, k = 0;

    for (unsigned n = 0; n < s->system->node_count; n++)
        count += chosen[n];
    for (unsigned i = 0; i < s->executor_count; i++) {
        if (!is_chosen(&s->executors[i], chosen, count))
            continue;
        s->executors[0] = s->executors[i];
        s->executor_count = 1;
        return 0;
    }
    fprintf(stderr, "warning: other nodes are placed on the same core: not pinned, and on the "
                    "ordinary scheduler\n");
    nodes = hil_pool_get(s->system->pool, count, sizeof *nodes);
    for (unsigned n = 0; nodes && n < s->system->node_count; n++)
        if (chosen[n])
            nodes[k++] = n;
    s->executors[0] = (struct hil_executor_config){.nodes = nodes, .count = count, .cpu = -1};
    s->executor_count = 1;
    return nodes ? 0 : -ENOMEM;
}

static int run_part(const struct hil_part_arguments *a, const struct hil_scenario *s,
                    const struct hil_meeting *meeting, bool discard)
{
    if (hil_has_addresses(s) && !meeting->secret.size && !a->quiet)
        fprintf(stderr, "warning: there is no secret (HILOCO_SECRET or HILOCO_SECRET_FILE), so "
                        "anyone with the address of a node can take its place\n");
    const struct hil_launch launch = {
        .scenario = s,
        .run_directory = meeting->place,
        .secret = meeting->secret,
        .out = a->out,
        .discard = discard,
        .keep_quiet = a->quiet,
        .wait_s = a->wait_s,
    };
    return hil_launch(&launch);
}

/* A fault of a chosen node can only wait for events in this process. */
static int check_awaited(const struct hil_system *s, const bool *chosen,
                         const struct hil_fault_here *here)
{
    const struct hil_fault *fault = &s->faults[here->fault];
    char acts[HIL_SIGNAL_NAME_BYTES], happens[HIL_SIGNAL_NAME_BYTES];

    for (unsigned n = 0; fault->waits == HIL_WAITS_EVENT && chosen[here->node] && n < s->node_count;
         n++) {
        if (chosen[n] || !hil_awaited_is_of(s, &fault->awaited, n))
            continue;
        hil_instance_name(&s->nodes[here->node].is, acts);
        hil_instance_name(&s->nodes[n].is, happens);
        fprintf(stderr,
                "the fault %s of the node %s waits for an event of %s, which does not run here: "
                "one process must run both\n",
                fault->name, acts, happens);
        return -EINVAL;
    }
    return 0;
}

static int check_faults(const struct hil_system *s, const bool *chosen)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < s->here_count; i++)
        rc = check_awaited(s, chosen, &s->faults_here[i]);
    return rc;
}

/* Outside nodes must not be chosen: a user's process joins as them by hiloco_node.h. */
static int check_chosen(const struct hil_system *system, const bool *chosen)
{
    char name[HIL_SIGNAL_NAME_BYTES];

    for (unsigned n = 0; n < system->node_count; n++) {
        if (!chosen[n] || !system->nodes[n].outside)
            continue;
        hil_instance_name(&system->nodes[n].is, name);
        fprintf(stderr,
                "hiloco does not run the node %s: its component is outside, and a program of your "
                "own must join as this node (hiloco_node_join)\n",
                name);
        return -EINVAL;
    }
    return 0;
}

static int choose_and_run(const struct hil_part_arguments *a, struct hil_scenario *s,
                          hil_part_choose *choose)
{
    bool *chosen = calloc(s->system->node_count, sizeof *chosen);
    struct hil_meeting meeting;
    int status = HIL_EXIT_USAGE;

    if (!chosen || choose(a, s->system, chosen) || check_chosen(s->system, chosen) ||
        check_faults(s->system, chosen) ||
        hil_meeting_of(&meeting, a->run_directory, s->name, hil_part_job(), stderr))
        goto done;
    status = HIL_EXIT_FAILED;
    if (!keep_only(s, chosen))
        status = run_part(a, s, &meeting, !hil_executor_has(&s->executors[0], 0) && !a->out);
done:
    free(chosen);
    return status;
}

int hil_part_run_inside(const struct hil_part_arguments *a, struct hil_scenario *s)
{
    struct hil_meeting meeting;
    unsigned kept = 0;

    if (hil_meeting_of(&meeting, a->run_directory, s->name, hil_part_job(), stderr))
        return HIL_EXIT_USAGE;
    for (unsigned i = 0; i < s->executor_count; i++)
        if (!s->system->nodes[s->executors[i].nodes[0]].outside)
            s->executors[kept++] = s->executors[i];
    s->executor_count = kept;
    if (kept)
        return run_part(a, s, &meeting, false);
    fprintf(stderr, "%s: all of its nodes are outside, so there is none to run\n", s->name);
    return HIL_EXIT_USAGE;
}

int hil_part_main(int argc, char **argv, const struct hil_command *command, hil_part_choose *choose)
{
    struct hil_part_arguments a = {.wait_s = HIL_PART_WAIT_S};
    struct hil_scenario *scenario;
    int status = HIL_EXIT_USAGE;
    int rc = hil_arguments_parse(&a.given, command, argc, argv);

    hil_ignore_file_limit();
    a.given.options.realtime = true;
    if (rc) {
        status = hil_arguments_status(rc);
    } else if (hil_rendezvous_given(&a.given.options.rendezvous, stderr)) {
        status = HIL_EXIT_USAGE;
    } else {
        if (a.given.scenario_count == 2) {
            a.which = a.given.scenarios[0];
            a.given.scenario = a.given.scenarios[1];
        }
        status = hil_part_load(&a, &scenario);
        if (status == HIL_EXIT_OK) {
            status = choose_and_run(&a, scenario, choose);
            hil_scenario_free(scenario);
        }
    }
    hil_arguments_free(&a.given);
    return status;
}
