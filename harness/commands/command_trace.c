#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../h5/run_files.h"
#include "../tracing/report.h"
#include "../tracing/trace_figures.h"
#include "commands.h"

static const char help[] =
    "usage: hiloco trace DIR [--to DIR]\n"
    "\n"
    "Analyses the LTTng trace in DIR, the results of hiloco run --trace or any other folder with\n"
    "such traces: the latencies of each loop, the misses with what had the core meanwhile, and "
    "the\n"
    "parts of the round trip. Writes the same to DIR/trace.json, and the figures trace-time,\n"
    "trace-histogram and trace-tail.\n"
    "\n"
    "  --to DIR  write into this folder instead, and leave the results as they are\n";

static int status_of(int rc)
{
    return rc == 0 ? HIL_EXIT_OK : rc == -ENOENT ? HIL_EXIT_USAGE : HIL_EXIT_FAILED;
}

static int analyse(const void *arguments)
{
    const struct hil_arguments *a = arguments;
    const char *dir = a->scenario, *to = a->to ? a->to : dir;
    static struct hil_analysis analysis;
    char path[HIL_PATH_BYTES];
    int rc = hil_analyse(&analysis, dir, stderr);

    if (!rc)
        hil_report_print(&analysis, dir, stdout);
    fflush(stdout); /* before the figures' names, which go to stderr */
    if (!rc)
        rc = hil_run_path(path, to, "trace.json");
    if (!rc && (rc = hil_report_write(&analysis, path)))
        fprintf(stderr, "%s: %s\n", path, strerror(-rc));
    if (!rc)
        rc = hil_trace_figures(&analysis, to, stderr);
    hil_analysis_free(&analysis);
    return status_of(rc);
}

int hil_command_trace(int argc, char **argv)
{
    struct hil_arguments a;
    int rc = hil_arguments_parse(&a, HIL_TAKES_TO, help, argc, argv);
    int status = rc ? hil_arguments_status(rc) : hil_make_of_results(analyse, &a);

    hil_arguments_free(&a);
    return status;
}
