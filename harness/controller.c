/* The program controller: runs the controller's node of a scenario. */
#include "base/plain_locale.h"
#include "commands/commands.h"
#include "launch/inherited.h"
#include "launch/part_nodes.h"
#include "launch/standard_files.h"

static const char help[] =
    "usage: controller SCENARIO [--set KEY=VALUE]... [--parameters FILE]... [--out DIR]\n"
    "                  [--wait SECONDS] [--run-dir DIR] [--quiet]\n"
    "\n"
    "Runs the controller of a scenario in real time, and waits for its converters. Start these\n"
    "with `converter` and the same scenario: on this machine, or with the fabrics verbs and tcp "
    "on\n"
    "any machine that the scenario names.\n"
    "\n"
    "  --set KEY=VALUE    set a key of the scenario; converters with other values refuse to run\n"
    "  --parameters FILE  the same from an SSV file (docs/parameters.md)\n"
    "  --out DIR          folder of the results (default: results/NAME-TIMESTAMP)\n"
    "  --wait SECONDS     how long to wait for the converters (default 30)\n"
    "  --run-dir DIR      folder where the nodes meet on shm (default: derived from the "
    "scenario's\n"
    "                     name, the user and the job, in $XDG_RUNTIME_DIR or /tmp); two runs at\n"
    "                     the same time need two folders\n"
    "  --quiet            no progress and no closing words\n"
    "  --version          print the version of hiloco\n"
    "\n" HIL_PART_HELP_END;

static int choose_controller(const struct hil_part_arguments *a, const struct hil_system *system,
                             bool *chosen)
{
    return hil_part_named(system, "controller", a->given.scenario, chosen);
}

int main(int argc, char **argv)
{
    static const struct hil_option options[] = {
        HIL_SET_OPTIONS, HIL_PART_OPTIONS(struct hil_part_arguments, ), {0}};

    hil_inherited_reset();
    hil_plain_locale();
    return hil_standard_files_end(
        hil_part_main(argc, argv, &(struct hil_command){help, options, 1, 1}, choose_controller));
}
