#include <errno.h>
#include <stdio.h>

#include "../h5/run_files.h"
#include "../tools/report/page.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco report DIR... [--out FILE | --to DIR]\n"
    "\n"
    "Writes the results in each DIR, of a run, a sweep or tests, as one HTML file that any "
    "browser\n"
    "opens. The file is complete, and fetches nothing from the network.\n"
    "\n"
    "It shows the verdict first, and each limit; figures that zoom and pan, with the values under\n"
    "the cursor; events; how late steps were; the worst misses, with their causes if hiloco trace\n"
    "has found them; the machine and the doctor's findings; the scenario; and the data to\n"
    "download. Signals of the same name from several runs share a figure. For tests it shows the\n"
    "measures. For a sweep it shows a table of the runs, maps over two keys, the distributions of\n"
    "a Monte Carlo sweep with limits as lines, and the path of a bisection.\n"
    "\n"
    "  --out FILE    the file (default: report.html in the first DIR)\n"
    "  --to DIR      write report.html into this folder instead\n"
    "\n"
    "Exit status: 0; 1 if the file cannot be written; 2 if a DIR has no results, or FILE's folder\n"
    "does not exist.\n";

struct report_arguments {
    struct hil_arguments given;
    const char *out, *to;
};

static const struct hil_option options[] = {
    HIL_OPTION("out", hil_read_text, struct report_arguments, out),
    HIL_OPTION("to", hil_read_text, struct report_arguments, to),
    {0},
};

static int write_page(const void *arguments)
{
    const struct report_arguments *a = arguments;
    char path[HIL_PATH_BYTES];
    int rc = a->out ? 0 : hil_run_path(path, a->to ? a->to : a->given.scenario, "report.html");

    if (!rc)
        rc = hil_page_write(a->given.scenarios, a->given.scenario_count, a->out ? a->out : path,
                            stderr);
    if (!rc)
        printf("%s\n", a->out ? a->out : path);
    fflush(stdout); /* this process ends without flushing */
    return rc == 0 ? HIL_EXIT_OK : rc == -ENOENT ? HIL_EXIT_USAGE : HIL_EXIT_FAILED;
}

int hil_command_report(int argc, char **argv)
{
    struct report_arguments a = {0};
    int rc = hil_arguments_parse(&a.given, &(struct hil_command){help, options, 1, 0}, argc, argv);
    int status = HIL_EXIT_USAGE;

    if (rc)
        status = hil_arguments_status(rc);
    else if (a.out && a.to)
        fprintf(stderr, "%s: --out %s names the file and --to %s its folder: give one of them\n",
                argv[0], a.out, a.to);
    else
        status = hil_make_of_results(write_page, &a.given, a.to, a.out != NULL);

    hil_arguments_free(&a.given);
    return status;
}
