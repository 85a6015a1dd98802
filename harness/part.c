#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "meeting.h"
#include "part_nodes.h"
#include "scenario/pool.h"

static bool is_chosen(const struct hil_executor_config *e, const bool *chosen, unsigned count)
{
    if (e->count != count)
        return false;
    for (unsigned i = 0; i < e->count; i++)
        if (!chosen[e->nodes[i]])
            return false;
    return true;
}

/* Leaves the scenario with one executor: this process's. Where the scenario has one for just these
 * nodes, it is that one. A process that serves only part of what the scenario places on a core
 * shares that core with others, and must not spin on it as its own. */
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

static int run_part(const struct hil_arguments *a, const struct hil_scenario *s,
                    struct loco_secret secret)
{
    char directory[HIL_PLACE_SIZE];

    if (s->fabric == HIL_FABRIC_VERBS && !secret.size && !a->quiet)
        fprintf(stderr, "warning: without HILOCO_SECRET, the same at every node, whoever has the "
                        "address of a node may take its place\n");
    hil_meeting_derive(directory, s->name, hil_part_job(), secret);
    const struct hil_launch launch = {
        .scenario = s,
        .run_directory = a->run_directory ? a->run_directory : directory,
        .secret = secret,
        .out = a->out,
        .discard = !hil_executor_has(&s->executors[0], 0) && !a->out,
        .keep_quiet = a->quiet,
        .wait_s = a->wait_s,
    };
    return hil_launch(&launch);
}

static int choose_and_run(const struct hil_arguments *a, struct hil_scenario *s,
                          hil_part_choose *choose)
{
    bool *chosen = calloc(s->system->node_count, sizeof *chosen);
    struct loco_secret secret;
    int status = HIL_EXIT_USAGE;

    if (!chosen || choose(a, s->system, chosen) || hil_secret_given(&secret))
        goto done;
    if (a->run_directory && strlen(a->run_directory) >= HIL_PLACE_SIZE) {
        fprintf(stderr, "--run-dir %s: at most %d bytes are allowed\n", a->run_directory,
                HIL_PLACE_SIZE - 1);
        goto done;
    }
    status = keep_only(s, chosen) ? HIL_EXIT_FAILED : run_part(a, s, secret);
done:
    free(chosen);
    return status;
}

int hil_part_main(int argc, char **argv, unsigned takes, hil_part_choose *choose, const char *help)
{
    struct hil_arguments a;
    struct hil_scenario *scenario;
    int status = HIL_EXIT_USAGE;
    int rc = hil_arguments_parse(
        &a, HIL_TAKES_SET | HIL_TAKES_OUT | HIL_TAKES_QUIET | HIL_TAKES_MEETING | takes, help, argc,
        argv);

    a.options.realtime = true;
    if (rc) {
        status = hil_arguments_status(rc);
    } else if (hil_arguments_load(&a, &scenario) == 0) {
        status = choose_and_run(&a, scenario, choose);
        hil_scenario_free(scenario);
    }
    hil_arguments_free(&a);
    return status;
}
