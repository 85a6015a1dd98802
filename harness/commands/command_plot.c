#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "../figures/plot.h"
#include "../h5/run_files.h"
#include "../record/export.h"
#include "../record/export_mcap.h"
#include "../tools/tracing/trace_figures.h"
#include "commands.h"

static const char plot_help[] =
    "usage: hiloco plot DIR [--from S] [--until S] [--beside DIR] [--to DIR]\n"
    "\n"
    "Plots the results of a run or a sweep in DIR, as PNG and SVG into DIR.\n"
    "\n"
    "  of a run      each measure and its reference; the signals of each recorded array; the "
    "other\n"
    "                signals of each node, by unit; latency and tail; if it was\n"
    "                traced, trace-time, trace-histogram and trace-tail, as hiloco trace does\n"
    "  of a sweep    figure (the first measure over time, with a panel for each run) and\n"
    "                figure-startup; the same in one panel: figure-overlay and\n"
    "                figure-startup-overlay; round-trip if the period of a node varies; if two\n"
    "                keys vary, map-verdict, map-settling, map-overshoot, map-rise, map-error\n"
    "                and map-pp, with a cell for each run\n"
    "\n"
    "  --from S, --until S\n"
    "                plot only the time from S to S, in seconds since the start, in the figures\n"
    "                with a time axis (for a sweep, figure and figure-overlay). The defaults are\n"
    "                the start and the end\n"
    "  --beside DIR  plot only figure-beside: two sweeps over the same values in two columns, for\n"
    "                example one in virtual and one in real time, with the deadlines that the\n"
    "                second one missed\n"
    "  --to DIR      write into this folder instead, and leave the results as they are\n";

static const char export_help[] =
    "usage: hiloco export DIR [--csv] [--mcap] [--to DIR]\n"
    "\n"
    "Exports the record of the run in DIR into DIR.\n"
    "\n"
    "  --csv   as text: NODE.csv for each node that recorded, such as controller.csv, or\n"
    "          cell-007.csv in an array. The first line names the columns, with their units. Each\n"
    "          row has the number of its step, and how many rows are missing before it\n"
    "  --mcap  as trace.mcap, which Foxglove and PlotJuggler read: a topic for each node, /NODE,\n"
    "          with a message for each row\n"
    "  --to DIR\n"
    "          write into this folder instead, and leave the results as they are\n";

/* A directory that is missing or has no results, and a time span without a record, are mistakes of
 * the user. */
static int status_of(int rc)
{
    return rc == 0                                            ? HIL_EXIT_OK
           : rc == -ENOENT || rc == -ENOTDIR || rc == -ERANGE ? HIL_EXIT_USAGE
                                                              : HIL_EXIT_FAILED;
}

static struct hil_plot_span span_of(const struct hil_arguments *a)
{
    return (struct hil_plot_span){a->from_s, a->until_s};
}

/* The figures of the trace, if the run was traced. */
static int plot_trace(const struct hil_arguments *a)
{
    static struct hil_analysis analysis;
    char path[HIL_PATH_BYTES];
    int rc = hil_run_path(path, a->scenario, "ctf");

    if (rc || access(path, F_OK))
        return rc;
    rc = hil_analyse(&analysis, a->scenario, stderr);
    if (!rc)
        rc = hil_trace_figures(&analysis, a->to ? a->to : a->scenario, stderr);
    hil_analysis_free(&analysis);
    return rc;
}

static int plot(const void *arguments)
{
    const struct hil_arguments *a = arguments;

    if (a->beside)
        return status_of(hil_plot_beside(a->scenario, a->beside, a->to, span_of(a), stderr));
    const int rc = hil_plot(a->scenario, a->to, span_of(a), stderr);
    return status_of(rc ? rc : plot_trace(a));
}

static int export(const void *arguments)
{
    const struct hil_arguments *a = arguments;

    int rc = a->csv ? hil_export_csv(a->scenario, a->to, stderr) : 0;

    if (!rc && a->mcap)
        rc = hil_export_mcap(a->scenario, a->to, stderr);
    return status_of(rc);
}

int hil_command_plot(int argc, char **argv)
{
    struct hil_arguments a;
    int rc = hil_arguments_parse(&a, HIL_TAKES_BESIDE | HIL_TAKES_SPAN | HIL_TAKES_TO, plot_help,
                                 argc, argv);
    int status = rc ? hil_arguments_status(rc) : hil_make_of_results(plot, &a);

    hil_arguments_free(&a);
    return status;
}

int hil_command_export(int argc, char **argv)
{
    struct hil_arguments a;
    int rc = hil_arguments_parse(&a, HIL_TAKES_EXPORT | HIL_TAKES_TO, export_help, argc, argv);
    int status = HIL_EXIT_USAGE;

    if (rc)
        status = hil_arguments_status(rc);
    else if (!a.csv && !a.mcap)
        fprintf(stderr, "%s: in which form? --csv, --mcap or both are allowed\n", argv[0]);
    else
        status = hil_make_of_results(export, &a);
    hil_arguments_free(&a);
    return status;
}
