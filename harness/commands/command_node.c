#include <errno.h>
#include <stdio.h>

#include "../launch/part_nodes.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco node [NODES] SCENARIO [--set KEY=VALUE]... [--parameters FILE]... [--out DIR]\n"
    "                   [--wait SECONDS] [--run-dir DIR] [--quiet]\n"
    "\n"
    "Runs some nodes of a scenario in real time, in one process on one core, and waits for the\n"
    "others. Start these in the same way elsewhere: on this machine, or with the fabrics verbs "
    "and\n"
    "tcp on any machine that the scenario names, or that comes to its rendezvous.\n"
    "\n"
    "  NODES              NAME; in an array NAME[3], NAME[0-9] or NAME[*] (quoted for the shell);\n"
    "                     or several of these, separated by commas. Without NODES, the rank from\n"
    "                     mpirun or srun, or the index of a Kubernetes job, chooses: with one\n"
    "                     process for each node that node; with one process for each executor of\n"
    "                     the scenario (placement:) the nodes of that executor\n"
    "  --set KEY=VALUE    set a key of the scenario; nodes with other values refuse to run\n"
    "  --parameters FILE  the same from an SSV file (docs/parameters.md)\n"
    "  --out DIR          folder of the results (default: results/NAME-TIMESTAMP for the process\n"
    "                     with the scenario's first node, and no results for the others)\n"
    "  --wait SECONDS     how long to wait for the others (default 30)\n"
    "  --run-dir DIR      folder where the nodes meet on shm (default: derived from the "
    "scenario's\n"
    "                     name, the user and the job, in $XDG_RUNTIME_DIR or /tmp); two runs at\n"
    "                     the same time need two folders\n"
    "  --quiet            no progress and no closing words\n"
    "\n" HIL_PART_HELP_END;

static int choose_ranked(const struct hil_system *system, bool *chosen)
{
    struct hil_part_rank rank;
    const bool ranked = !hil_part_rank(&rank);

    if (ranked && rank.of == system->node_count) {
        chosen[rank.is] = true;
        return 0;
    }
    if (!ranked || (rank.of && rank.of != system->executor_count) ||
        rank.is >= system->executor_count) {
        fprintf(stderr,
                "%swhich nodes? Give NODES before the scenario, or start one process for each of "
                "the %u nodes, or of the %u executors, by mpirun or srun\n",
                rank.said, system->node_count, system->executor_count);
        return -EINVAL;
    }
    for (unsigned i = 0; i < system->executors[rank.is].count; i++)
        chosen[system->executors[rank.is].nodes[i]] = true;
    return 0;
}

static int choose_nodes(const struct hil_part_arguments *a, const struct hil_system *system,
                        bool *chosen)
{
    return a->which ? hil_part_named(system, a->which, a->given.scenario, chosen)
                    : choose_ranked(system, chosen);
}

int hil_command_node(int argc, char **argv)
{
    static const struct hil_option options[] = {
        HIL_SET_OPTIONS, HIL_PART_OPTIONS(struct hil_part_arguments, ), {0}};

    return hil_part_main(argc, argv, &(struct hil_command){help, options, 1, 2}, choose_nodes);
}
