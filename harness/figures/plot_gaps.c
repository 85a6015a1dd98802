#include "plot_gaps.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const struct hil_stream_config *config_of(const struct hil_trace_reader *trace,
                                                 unsigned stream)
{
    unsigned count;

    return &hil_trace_streams(trace, &count)[stream];
}

int plot_gaps_open(struct plot_gaps *gaps, const struct hil_trace_reader *trace, unsigned stream,
                   unsigned width, size_t block)
{
    const struct hil_cadence *cadence = &config_of(trace, stream)->cadence;

    *gaps = (struct plot_gaps){
        .trace = trace,
        .stream = stream,
        .nothing = malloc(width * sizeof(double)),
        .steps = cadence->decimation ? malloc(block * sizeof(double)) : NULL,
        .apart = (double)cadence->decimation,
        .apart_s = (double)cadence->decimation * (double)cadence->period_ns * 1e-9,
        .last_s = NAN,
    };
    if (!gaps->nothing || (cadence->decimation && !gaps->steps)) {
        plot_gaps_close(gaps);
        return -ENOMEM;
    }
    for (unsigned i = 0; i < width; i++)
        gaps->nothing[i] = NAN;
    return 0;
}

void plot_gaps_close(struct plot_gaps *gaps)
{
    free(gaps->steps);
    free(gaps->nothing);
}

int plot_gaps_read(struct plot_gaps *gaps, uint64_t first, size_t rows)
{
    return gaps->steps ? hil_trace_read_steps(gaps->trace, gaps->stream, first, rows, gaps->steps)
                       : 0;
}

static double missing_before(struct plot_gaps *gaps, size_t row)
{
    const double missing = (gaps->steps[row] - gaps->next) / gaps->apart;

    gaps->next = gaps->steps[row] + gaps->apart;
    return missing;
}

bool plot_gaps_before(struct plot_gaps *gaps, size_t row, double time_s)
{
    const bool late = time_s - gaps->last_s > 2 * gaps->apart_s;

    gaps->last_s = time_s;
    return gaps->steps && (missing_before(gaps, row) > 0 || late);
}

/* --- missed steps -------------------------------------------------------------------------- */

struct missed_scan {
    struct plot_gaps gaps;
    double phase_s, period_s;
    unsigned time; /* index of the time column */
    double *times;
    plot_missed_fn *each;
    void *arg;
    unsigned left; /* number of steps that may still be reported: a file can claim any number */
};

enum { MISSED_MAX = 1 << 24 };

static void each_missed_of_row(struct missed_scan *scan, size_t row)
{
    const double missing = missing_before(&scan->gaps, row);
    const double step = scan->gaps.steps[row], due_s = scan->phase_s + step * scan->period_s;

    for (double k = missing; k > 0 && scan->left > 0; k--, scan->left--)
        scan->each(scan->arg, due_s - k * scan->gaps.apart * scan->period_s);
    if (scan->times[row] >= due_s + scan->period_s)
        scan->each(scan->arg, due_s);
}

static int each_missed_of_block(struct missed_scan *scan, uint64_t first, size_t rows)
{
    struct plot_gaps *gaps = &scan->gaps;
    int rc = plot_gaps_read(gaps, first, rows);

    if (!rc)
        rc = hil_trace_read(gaps->trace, gaps->stream, scan->time, first, rows, scan->times, rows);
    for (size_t row = 0; row < rows && !rc; row++)
        each_missed_of_row(scan, row);
    return rc;
}

int plot_gaps_each_missed(const struct hil_trace_reader *trace, unsigned stream,
                          plot_missed_fn *each, void *arg)
{
    const struct hil_stream_config *config = config_of(trace, stream);
    const size_t block = hil_trace_block_rows(trace, stream);
    const int time = hil_trace_column_find(config, "time_s");
    struct missed_scan scan = {
        .phase_s = (double)config->cadence.phase_ns * 1e-9,
        .period_s = (double)config->cadence.period_ns * 1e-9,
        .time = (unsigned)time,
        .each = each,
        .arg = arg,
        .left = MISSED_MAX,
    };

    if (time < 0 || hil_trace_column_find(config, "step") < 0 || config->cadence.decimation == 0)
        return 0;
    int rc = plot_gaps_open(&scan.gaps, trace, stream, 1, block);
    if (rc)
        return rc;
    scan.times = malloc(block * sizeof(double));
    rc = scan.times ? 0 : -ENOMEM;
    for (uint64_t first = 0; first < config->rows && !rc; first += block)
        rc = each_missed_of_block(
            &scan, first, config->rows - first < block ? (size_t)(config->rows - first) : block);
    free(scan.times);
    plot_gaps_close(&scan.gaps);
    return rc;
}
