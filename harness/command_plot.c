#include <errno.h>
#include <stdio.h>

#include "apart.h"
#include "commands.h"
#include "figures/plot.h"
#include "record/export.h"

static const char plot_help[] =
    "usage: hiloco plot DIR [--from S] [--to S] [--beside DIR]\n"
    "\n"
    "Draws what is in DIR, the results of a run or of a sweep, as PNG and SVG into DIR.\n"
    "\n"
    "  of a run      output, voltages, duty, latency, tail; current, where the converters\n"
    "                recorded it (recording.converter_decimation)\n"
    "  of a sweep    figure (output voltage against time, a panel for each value) and\n"
    "                figure-startup; the same in one panel: figure-overlay and\n"
    "                figure-startup-overlay; round-trip where the controller's period varies\n"
    "\n"
    "  --from S, --to S\n"
    "                only the time from S to S seconds after the start: of a run output,\n"
    "                voltages, duty and current; of a sweep figure and figure-overlay. Without\n"
    "                one of them, from the start or to the end\n"
    "  --beside DIR  only figure-beside: two sweeps over the same values in two columns, such\n"
    "                as one in virtual and one in real time, with the deadlines that the\n"
    "                second missed\n";

static const char export_help[] =
    "usage: hiloco export DIR --csv\n"
    "\n"
    "Writes the record of the run in DIR as text: DIR/controller.csv, and converter-NNN.csv for\n"
    "each converter that was recorded. The first line names the columns, with their units. Each\n"
    "row has the number of its step, and how many rows are missing before it.\n";

/* A directory that is not there or holds no results, and a time of which there is no record, are
 * the user's mistake. */
static int status_of(int rc)
{
    return rc == 0                                            ? HIL_EXIT_OK
           : rc == -ENOENT || rc == -ENOTDIR || rc == -ERANGE ? HIL_EXIT_USAGE
                                                              : HIL_EXIT_FAILED;
}

static struct hil_plot_span span_of(const struct hil_arguments *a)
{
    return (struct hil_plot_span){a->from_s, a->to_s};
}

static int plot(const void *arguments)
{
    const struct hil_arguments *a = arguments;

    if (a->beside)
        return status_of(hil_plot_beside(a->scenario, a->beside, span_of(a), stderr));
    return status_of(hil_plot(a->scenario, span_of(a), stderr));
}

static int export(const void *arguments)
{
    const struct hil_arguments *a = arguments;

    return status_of(hil_export_csv(a->scenario, stderr));
}

int hil_command_plot(int argc, char **argv)
{
    struct hil_arguments a;
    int rc = hil_arguments_parse(&a, HIL_TAKES_BESIDE | HIL_TAKES_SPAN, plot_help, argc, argv);
    int status = rc ? hil_arguments_status(rc) : hil_apart(plot, &a, a.scenario, stderr);

    hil_arguments_free(&a);
    return status;
}

int hil_command_export(int argc, char **argv)
{
    struct hil_arguments a;
    int rc = hil_arguments_parse(&a, HIL_TAKES_CSV, export_help, argc, argv);
    int status = HIL_EXIT_USAGE;

    if (rc)
        status = hil_arguments_status(rc);
    else if (!a.csv)
        fprintf(stderr, "%s: in which form? --csv is the one there is\n", argv[0]);
    else
        status = hil_apart(export, &a, a.scenario, stderr);
    hil_arguments_free(&a);
    return status;
}
