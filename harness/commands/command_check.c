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
    "mistake is a line FILE:LINE:COLUMN, with what was found and what is allowed.\n"
    "SCENARIO is a file, or - for standard input.\n"
    "\n"
    "  --mode MODE        check it for realtime or virtual time\n"
    "  --set KEY=VALUE    set a key, as for hiloco run\n"
    "  --parameters FILE  set parameters from an SSV file, as for hiloco run\n"
    "  --measure          make each component instead, run some hundred steps with its initial\n"
    "                     inputs, and print how long a step takes here. Warns about a component\n"
    "                     whose step is longer than its period. The exit status is 1 if a\n"
    "                     component fails, crashes or hangs\n"
    "  --against ngspice  run a netlist, driven by its own sources for the times of its .tran, in\n"
    "                     the solver of circuits and in ngspice. Prints the largest difference of\n"
    "                     each signal, and its median. The exit status is 1 if one of the two "
    "does\n"
    "                     not come to the end\n";

struct check_arguments {
    struct hil_arguments given;
    bool measure;
    const char *against;
};

static const struct hil_option options[] = {
    HIL_MODE_OPTION,
    HIL_SET_OPTIONS,
    HIL_FLAG("measure", struct check_arguments, measure),
    HIL_OPTION("against", hil_read_text, struct check_arguments, against),
    {0},
};

static int check_and_show(const struct check_arguments *a, const struct hil_scenario *s)
{
    hil_components_print_not_real_time(s->system, "note: ", stderr);
    if (a->measure)
        return hil_measure_steps(s, stdout, stderr);
    fputs(s->resolved, stdout);
    return HIL_EXIT_OK;
}

int hil_command_check(int argc, char **argv)
{
    struct check_arguments a = {0};
    struct hil_scenario *scenario;
    int status = HIL_EXIT_USAGE;
    int rc = hil_arguments_parse(&a.given, &(struct hil_command){help, options, 1, 1}, argc, argv);

    if (rc) {
        status = hil_arguments_status(rc);
    } else if (a.against) {
        status = hil_check_against(a.against, a.given.scenario, stdout, stderr);
    } else if (hil_arguments_load(&a.given, &scenario) == 0) {
        status = check_and_show(&a, scenario);
        hil_scenario_free(scenario);
    }
    hil_arguments_free(&a.given);
    return status;
}
