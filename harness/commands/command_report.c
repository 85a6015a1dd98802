#include <errno.h>
#include <stdio.h>

#include "../base/apart.h"
#include "../h5/run_files.h"
#include "../report/page.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco report DIR... [--out FILE]\n"
    "\n"
    "Writes a report of the results in each DIR, of a run, a sweep or tests, to hand on: one HTML\n"
    "file that any browser opens, with all that it shows in it. It fetches nothing.\n"
    "\n"
    "It has the verdict first, and each limit; figures that zoom and pan, with the values under\n"
    "the cursor; events; how late steps were, and the worst misses, with their causes where\n"
    "hiloco trace has found them; the machine as the doctor found it; the scenario; and the data,\n"
    "to download. Several runs are in the same figures, where their signals have the same names.\n"
    "Of tests it has the measures; of a sweep a table of its runs, maps over two keys, how the\n"
    "figures of a Monte Carlo are distributed, with limits as lines, and the path of a "
    "bisection.\n"
    "\n"
    "  --out FILE    where it goes (default: report.html in the first DIR)\n"
    "\n"
    "Exit status: 0; 1 when it cannot be written; 2 when a DIR has no results, or FILE's folder "
    "is\n"
    "not there.\n";

static int write_page(const void *arguments)
{
    const struct hil_arguments *a = arguments;
    char path[HIL_PATH_BYTES];
    int rc = a->out ? 0 : hil_run_path(path, a->scenario, "report.html");

    if (!rc)
        rc = hil_page_write(a->scenarios, a->scenario_count, a->out ? a->out : path, stderr);
    if (!rc)
        printf("%s\n", a->out ? a->out : path);
    fflush(stdout); /* this process ends without */
    return rc == 0 ? HIL_EXIT_OK : rc == -ENOENT ? HIL_EXIT_USAGE : HIL_EXIT_FAILED;
}

int hil_command_report(int argc, char **argv)
{
    struct hil_arguments a;
    int rc = hil_arguments_parse(&a, HIL_TAKES_SCENARIOS | HIL_TAKES_OUT, help, argc, argv);
    int status = rc ? hil_arguments_status(rc) : hil_apart(write_page, &a, a.scenario, stderr);

    hil_arguments_free(&a);
    return status;
}
