#include <stdio.h>

#include "commands.h"

static const char help[] =
    "usage: hiloco run SCENARIO [--mode MODE] [--set KEY=VALUE]... [--out DIR] [--quiet]\n"
    "\n"
    "Runs a scenario: one controller and its converters, joined by network memory.\n"
    "\n"
    "  --mode realtime    against the clock, over shared memory: a process for each executor,\n"
    "                     each on a core of its own\n"
    "  --mode virtual     in simulated time, as fast as it goes; the same run, bit for bit,\n"
    "                     every time\n"
    "  --set KEY=VALUE    set a key of the scenario by its dotted path, as in\n"
    "                     --set controller.period_us=20; may be given more than once\n"
    "  --out DIR          where the results go (default: results/NAME-TIMESTAMP)\n"
    "  --quiet            no progress and no closing words\n"
    "\n"
    "DIR holds scenario.yaml (every key spelled out), summary.json and trace.h5. Interrupting\n"
    "a run (Ctrl-C) ends it in order; what was recorded is kept.\n";

int hil_command_run(int argc, char **argv)
{
    struct hil_arguments a;
    struct hil_scenario *scenario;
    int status = HIL_EXIT_USAGE;
    int rc = hil_arguments_parse(
        &a, HIL_TAKES_MODE | HIL_TAKES_SET | HIL_TAKES_OUT | HIL_TAKES_QUIET, help, argc, argv);

    if (rc) {
        status = hil_arguments_status(rc);
    } else if (hil_arguments_load(&a, &scenario) == 0) {
        const struct hil_launch launch = {
            .scenario = scenario, .out = a.out, .keep_quiet = a.quiet, .wait_s = a.wait_s};
        status = hil_launch(&launch);
        hil_scenario_free(scenario);
    }
    hil_arguments_free(&a);
    return status;
}
