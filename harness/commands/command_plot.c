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
    "       hiloco plot --signals A,B,... DIR... [--from S] [--until S] [--to DIR]\n"
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
    "  --signals A,B,...\n"
    "                plot only signals: these signals and measures of one or more runs, over each\n"
    "                other, with a panel for each unit. Names are those of the scenario, such as\n"
    "                motor.speed_rad_per_s, cell[3].current_a, cell[*].current_a or output_v. The\n"
    "                figure is written into the first DIR\n"
    "  --to DIR      write into this folder instead, and leave the results as they are\n"
    "\n"
    "A value that is held until the next row, such as what a controller gives, is drawn with "
    "steps.\n";

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

/* A directory that is missing or has no results, a time span without a record, and signals that no
 * record has are mistakes of the user. */
static int status_of(int rc)
{
    if (rc == 0)
        return HIL_EXIT_OK;
    const bool mistake = rc == -ENOENT || rc == -ENOTDIR || rc == -ERANGE || rc == -EINVAL;
    return mistake ? HIL_EXIT_USAGE : HIL_EXIT_FAILED;
}

struct plot_arguments {
    struct hil_arguments given;
    struct hil_plot_span span;
    const char *beside, *signals, *to;
};

static const struct hil_option plot_options[] = {
    HIL_SPAN_OPTIONS(struct plot_arguments, span),
    HIL_OPTION("beside", hil_read_text, struct plot_arguments, beside),
    HIL_OPTION("signals", hil_read_text, struct plot_arguments, signals),
    HIL_OPTION("to", hil_read_text, struct plot_arguments, to),
    {0},
};

struct export_arguments {
    struct hil_arguments given;
    bool csv, mcap;
    const char *to;
};

static const struct hil_option export_options[] = {
    HIL_FLAG("csv", struct export_arguments, csv),
    HIL_FLAG("mcap", struct export_arguments, mcap),
    HIL_OPTION("to", hil_read_text, struct export_arguments, to),
    {0},
};

/* The figures of the trace, if the run was traced. */
static int plot_trace(const struct plot_arguments *a)
{
    static struct hil_analysis analysis;
    char path[HIL_PATH_BYTES];
    int rc = hil_run_path(path, a->given.scenario, "ctf");

    if (rc || access(path, F_OK))
        return rc;
    rc = hil_analyse(&analysis, a->given.scenario, stderr);
    if (!rc)
        rc = hil_trace_figures(&analysis, a->to ? a->to : a->given.scenario, stderr);
    hil_analysis_free(&analysis);
    return rc;
}

static int plot(const void *arguments)
{
    const struct plot_arguments *a = arguments;

    if (a->signals)
        return status_of(hil_plot_signals(a->given.scenarios, a->given.scenario_count, a->signals,
                                          a->to, a->span, stderr));
    if (a->beside)
        return status_of(hil_plot_beside(a->given.scenario, a->beside, a->to, a->span, stderr));
    const int rc = hil_plot(a->given.scenario, a->to, a->span, stderr);
    return status_of(rc ? rc : plot_trace(a));
}

static int export(const void *arguments)
{
    const struct export_arguments *a = arguments;

    int rc = a->csv ? hil_export_csv(a->given.scenario, a->to, stderr) : 0;

    if (!rc && a->mcap)
        rc = hil_export_mcap(a->given.scenario, a->to, stderr);
    return status_of(rc);
}

static int check_plot(const char *command, const struct plot_arguments *a)
{
    if (a->signals && a->beside)
        fprintf(stderr, "%s: --signals and --beside are two figures: one at a time\n", command);
    else if (!a->signals && a->given.scenario_count > 1)
        fprintf(stderr, "%s: of several runs, --signals says what is drawn\n", command);
    else
        return hil_check_span(command, &a->span, a->to);
    return -EINVAL;
}

int hil_command_plot(int argc, char **argv)
{
    const struct hil_command line = {plot_help, plot_options, 1, 0};
    struct plot_arguments a = {.span = HIL_ALL};
    int rc = hil_arguments_parse(&a.given, &line, argc, argv);
    int status = HIL_EXIT_USAGE;

    if (rc)
        status = hil_arguments_status(rc);
    else if (check_plot(argv[0], &a) == 0)
        status = hil_make_of_results(plot, &a.given, a.to, false);
    hil_arguments_free(&a.given);
    return status;
}

int hil_command_export(int argc, char **argv)
{
    const struct hil_command line = {export_help, export_options, 1, 1};
    struct export_arguments a = {0};
    int rc = hil_arguments_parse(&a.given, &line, argc, argv);
    int status = HIL_EXIT_USAGE;

    if (rc)
        status = hil_arguments_status(rc);
    else if (!a.csv && !a.mcap)
        fprintf(stderr, "%s: in which form? --csv, --mcap or both are allowed\n", argv[0]);
    else
        status = hil_make_of_results(export, &a.given, a.to, false);
    hil_arguments_free(&a.given);
    return status;
}
