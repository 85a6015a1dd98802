#include <stdio.h>

#include "commands.h"

static const char help[] =
    "usage: hiloco check SCENARIO [--mode MODE] [--set KEY=VALUE]... [--expand]\n"
    "\n"
    "Looks for mistakes in a scenario, and prints it with every key spelled out when there\n"
    "are none. Each mistake is a line FILE:LINE:COLUMN: what was found; what is allowed.\n"
    "--expand prints a scenario that has controller: and converters: in the general form,\n"
    "with nodes, components and connections. It is the same scenario.\n";

int hil_command_check(int argc, char **argv)
{
    struct hil_arguments a;
    struct hil_scenario *scenario;
    int status = HIL_EXIT_USAGE;
    int rc = hil_arguments_parse(&a, HIL_TAKES_MODE | HIL_TAKES_SET | HIL_TAKES_EXPAND, help, argc,
                                 argv);

    if (rc) {
        status = hil_arguments_status(rc);
    } else if (hil_arguments_load(&a, &scenario) == 0) {
        fputs(scenario->resolved, stdout);
        hil_scenario_free(scenario);
        status = HIL_EXIT_OK;
    }
    hil_arguments_free(&a);
    return status;
}
