/* controller: the controller's node of a scenario, as a program of its own. */
#include "commands/commands.h"
#include "launch/part_nodes.h"

static const char help[] =
    "usage: controller SCENARIO [--set KEY=VALUE]... [--out DIR] [--wait SECONDS]\n"
    "                  [--run-dir DIR] [--quiet]\n"
    "\n"
    "Runs the controller of a scenario in real time, and waits for converters that are\n"
    "started elsewhere by `converter`, for the same scenario: on this machine, or with the\n"
    "fabrics verbs and tcp on any that the scenario names.\n"
    "\n"
    "  --set KEY=VALUE    set a key of the scenario; the converters need the same, or refuse to "
    "run\n"
    "  --parameters FILE  the same from an SSV file (docs/parameters.md)\n"
    "  --out DIR          where the results go (default: results/NAME-TIMESTAMP)\n"
    "  --wait SECONDS     how long to wait for the converters (default 30)\n"
    "  --run-dir DIR      where the nodes meet on shm (default: derived from the scenario's name,\n"
    "                     the user and the job, in $XDG_RUNTIME_DIR or /tmp); two runs at once\n"
    "                     need two\n"
    "  --quiet            no progress and no closing words\n"
    "  --version          say which hiloco this is part of\n"
    "\n" HIL_PART_HELP_END;

static int choose_controller(const struct hil_arguments *a, const struct hil_system *system,
                             bool *chosen)
{
    return hil_part_named(system, "controller", a->scenario, chosen);
}

int main(int argc, char **argv)
{
    return hil_part_main(argc, argv, 0, choose_controller, help);
}
