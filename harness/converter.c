/* The program converter: runs one converter of a scenario, or a range of them. */
#include <errno.h>
#include <stdio.h>

#include "base/plain_locale.h"
#include "commands/commands.h"
#include "launch/inherited.h"
#include "launch/part_nodes.h"
#include "launch/standard_files.h"

static const char help[] =
    "usage: converter SCENARIO [--id ID | --id FIRST-LAST] [--set KEY=VALUE]...\n"
    "                 [--parameters FILE]... [--out DIR] [--wait SECONDS] [--run-dir DIR]\n"
    "                 [--quiet]\n"
    "\n"
    "Runs converters of a scenario in real time, on one core, and waits for the controller and "
    "the\n"
    "other converters. Start these elsewhere: on this machine, or with the fabrics verbs and tcp "
    "on\n"
    "any machine that the scenario names.\n"
    "\n"
    "  --id ID            the converter, from 0; or a range such as 0-19. Without --id, the rank\n"
    "                     from mpirun or srun chooses: the rank itself with one process for each\n"
    "                     converter, the rank less one with one process for each node (the\n"
    "                     controller has rank 0)\n"
    "  --set KEY=VALUE    set a key of the scenario; nodes with other values refuse to run\n"
    "  --parameters FILE  the same from an SSV file (docs/parameters.md)\n"
    "  --out DIR          folder of the results (default: none are kept; the controller's results\n"
    "                     have all voltages)\n"
    "  --wait SECONDS     how long to wait for the others (default 30)\n"
    "  --run-dir DIR      folder where the nodes meet on shm (default: derived from the "
    "scenario's\n"
    "                     name, the user and the job, in $XDG_RUNTIME_DIR or /tmp); two runs at\n"
    "                     the same time need two folders\n"
    "  --quiet            no progress and no closing words\n"
    "  --version          print the version of hiloco\n"
    "\n" HIL_PART_HELP_END;

/* With one process per node, rank 0 is the controller. With one per converter, the controller was
 * started elsewhere. */
static int choose_ranked(const char *scenario, const struct hil_system *system, bool *chosen)
{
    char name[sizeof "converter[4294967295]"];
    struct hil_part_rank rank;

    if (hil_part_rank(&rank) == 0) {
        const unsigned controllers = rank.of == system->node_count;
        if (rank.of + 1 - controllers == system->node_count && rank.is >= controllers) {
            snprintf(name, sizeof name, "converter[%u]", rank.is - controllers);
            return hil_part_named(system, name, scenario, chosen);
        }
    }
    fprintf(stderr,
            "%swhich converter? Give --id, or start one process for each of the %u converters (or "
            "for each node, the controller first) by mpirun or srun\n",
            rank.said, system->node_count - 1);
    return -EINVAL;
}

static int choose_converters(const struct hil_part_arguments *a, const struct hil_system *system,
                             bool *chosen)
{
    char name[200], what[200];

    if (!a->which)
        return choose_ranked(a->given.scenario, system, chosen);
    snprintf(name, sizeof name, "converter[%s]", a->which);
    snprintf(what, sizeof what, "--id %s", a->which);
    return hil_part_named(system, name, what, chosen);
}

int main(int argc, char **argv)
{
    static const struct hil_option options[] = {
        HIL_SET_OPTIONS,
        HIL_PART_OPTIONS(struct hil_part_arguments, ),
        HIL_OPTION("id", hil_read_text, struct hil_part_arguments, which),
        {0}};

    hil_inherited_reset();
    hil_plain_locale();
    return hil_standard_files_end(
        hil_part_main(argc, argv, &(struct hil_command){help, options, 1, 1}, choose_converters));
}
