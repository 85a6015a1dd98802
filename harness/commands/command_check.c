#include <stdio.h>

#include "../summary/summary_components.h"
#include "check_against.h"
#include "commands.h"
#include "measure_steps.h"

static const char help[] =
    "usage: hiloco check SCENARIO [--mode MODE] [--set KEY=VALUE]... [--parameters FILE]...\n"
    "                    [--measure]\n"
    "       hiloco check --against ngspice NETLIST\n"
    "\n"
    "Checks a scenario, and prints it with every key spelled out if there are no mistakes. Each\n"
    "mistake is a line FILE:LINE:COLUMN, with what was found and what is allowed. --mode, --set\n"
    "and --parameters are as for hiloco run, and so is - in place of SCENARIO.\n"
    "\n"
    "--measure makes each component instead, runs some hundred steps with its initial inputs, and\n"
    "prints how long a step takes here. It warns about a component whose step is longer than its\n"
    "period. The exit status is 1 if a component fails, crashes or hangs.\n"
    "\n"
    "--against ngspice runs a netlist, driven by its own sources for the times of its .tran, in\n"
    "the solver of circuits and in ngspice. It prints the largest difference of each signal, and\n"
    "its median. The exit status is 1 if one of the two does not come to the end.\n";

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
    } else if (a.against) {
        status = hil_check_against(a.against, a.scenario, stdout, stderr);
    } else if (hil_arguments_load(&a, &scenario) == 0) {
        status = check_and_show(&a, scenario);
        hil_scenario_free(scenario);
    }
    hil_arguments_free(&a);
    return status;
}
