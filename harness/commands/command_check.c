#include <stdio.h>

#include "../summary/summary_components.h"
#include "commands.h"
#include "measure_steps.h"

static const char help[] =
    "usage: hiloco check SCENARIO [--mode MODE] [--set KEY=VALUE]... [--parameters FILE]...\n"
    "                    [--expand | --measure]\n"
    "\n"
    "Looks for mistakes in a scenario, and prints it with every key spelled out when there\n"
    "are none. Each mistake is a line FILE:LINE:COLUMN: what was found; what is allowed.\n"
    "--parameters lays SSV files over it (docs/parameters.md).\n"
    "--expand prints a scenario that has controller: and converters: in the general form,\n"
    "with nodes, components and connections. It is the same scenario.\n"
    "--measure steps each component some hundred times, with the inputs that it begins with,\n"
    "and prints what a step takes here in place of the scenario. A warning tells of one whose\n"
    "step is longer than its period. Exit status 1 when one fails, crashes or hangs.\n";

static int check_and_show(const struct hil_arguments *a, const struct hil_scenario *s)
{
    hil_components_print_not_real_time(s->system, "note: ", stderr);
    if (a->measure)
        return hil_measure_steps(s, stdout, stderr);
    fputs(s->resolved, stdout);
    return HIL_EXIT_OK;
}

int hil_command_check(int argc, char **argv)
{
    struct hil_arguments a;
    struct hil_scenario *scenario;
    int status = HIL_EXIT_USAGE;
    int rc =
        hil_arguments_parse(&a, HIL_TAKES_MODE | HIL_TAKES_SET | HIL_TAKES_CHECK, help, argc, argv);

    if (rc) {
        status = hil_arguments_status(rc);
    } else if (hil_arguments_load(&a, &scenario) == 0) {
        status = check_and_show(&a, scenario);
        hil_scenario_free(scenario);
    }
    hil_arguments_free(&a);
    return status;
}
