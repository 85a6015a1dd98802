#include <errno.h>
#include <stdio.h>

#include "../launch/part_nodes.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco node [NODES] SCENARIO [--set KEY=VALUE]... [--out DIR] [--wait SECONDS]\n"
    "                   [--run-dir DIR] [--quiet]\n"
    "\n"
    "Runs some of a scenario's nodes in real time, in one process and on one core, and waits for\n"
    "the others, which are started elsewhere in the same way: on this machine, or with the\n"
    "fabrics verbs and tcp on any that the scenario names, or that come to its rendezvous.\n"
    "\n"
    "  NODES              NAME, or of an array of them NAME[3], NAME[0-9] or NAME[*] (which a\n"
    "                     shell needs in quotes); several with commas between them. Without it\n"
    "                     the rank that mpirun or srun gave to this process says, or its index of\n"
    "                     a Kubernetes job: with one process for each node that node, with one\n"
    "                     for each of the scenario's executors (placement:) its nodes\n"
    "  --set KEY=VALUE    set a key of the scenario; the other nodes need the same, or refuse to "
    "run\n"
    "  --parameters FILE  the same from an SSV file (docs/parameters.md)\n"
    "  --out DIR          where results go (default: results/NAME-TIMESTAMP from the process that\n"
    "                     has the scenario's first node, and none from the others)\n"
    "  --wait SECONDS     how long to wait for the others (default 30)\n"
    "  --run-dir DIR      where the nodes meet on shm (default: derived from the scenario's name,\n"
    "                     the user and the job, in $XDG_RUNTIME_DIR or /tmp); two runs at once\n"
    "                     need two\n"
    "  --quiet            no progress and no closing words\n"
    "\n" HIL_PART_HELP_END;

static int choose_ranked(const struct hil_system *system, bool *chosen)
{
    unsigned rank = 0, size = 0;
    const bool ranked = !hil_part_rank(&rank, &size);

    if (ranked && size == system->node_count) {
        chosen[rank] = true;
        return 0;
    }
    if (!ranked || (size && size != system->executor_count) || rank >= system->executor_count) {
        fprintf(stderr,
                "which nodes? Give NODES before the scenario, or start one process for each of "
                "the %u nodes, or of the %u executors, by mpirun or srun\n",
                system->node_count, system->executor_count);
        return -EINVAL;
    }
    for (unsigned i = 0; i < system->executors[rank].count; i++)
        chosen[system->executors[rank].nodes[i]] = true;
    return 0;
}

static int choose_nodes(const struct hil_arguments *a, const struct hil_system *system,
                        bool *chosen)
{
    return a->nodes ? hil_part_named(system, a->nodes, a->scenario, chosen)
                    : choose_ranked(system, chosen);
}

int hil_command_node(int argc, char **argv)
{
    return hil_part_main(argc, argv, HIL_TAKES_NODES, choose_nodes, help);
}
