/* Judges limits of signals by their record: each column is read once, and all of its signals are
 * followed. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../h5/run_files.h"
#include "../h5/trace_reader.h"
#include "../record/columns.h"
#include "../record/streams.h"
#include "follow.h"
#include "judge_parts.h"

/* The place of a signal in the record. */
struct spot {
    int stream;
    unsigned column, offset; /* offset in a row of the column */
    bool done;
};

/* The findings of the limit, one for each of its bounds. */
struct sums {
    struct finding_sum at[HIL_BOUNDS];
};

struct signals {
    struct trial *trial;
    struct hil_trace_reader *trace;
    const struct hil_stream_config *streams;
    struct spot *spots;       /* by signal */
    struct follow **followed; /* by signal; NULL: not in this column */
    struct sums sums;
};

/* --- finding signals ------------------------------------------------------------------------- */

/* The signal's place in a row of the node's stream. */
static unsigned place_of(const struct trial *t, const struct hil_limit_signal *signal)
{
    const struct hil_node_config *n = &t->system->nodes[signal->node];
    const struct hil_row_places places = hil_columns_places(t->run->scenario, signal->node);
    unsigned place = places.measures;

    if (!signal->measure)
        return places.signals + signal->number;
    for (unsigned i = 0; i < signal->number; i++) {
        const struct hil_measure *m = &t->system->measures[n->measures[i]];
        place += !hil_columns_has(m) ? 0 : m->has_reference ? 2 : 1;
    }
    return place;
}

static int find_spot(const struct signals *s, const struct hil_limit_signal *signal,
                     struct spot *spot)
{
    unsigned place = place_of(s->trial, signal);

    spot->stream = hil_streams_number(s->trial->system, signal->node);
    const struct hil_stream_config *stream = &s->streams[spot->stream];
    while (spot->column < stream->column_count && place >= stream->columns[spot->column].width)
        place -= stream->columns[spot->column++].width;
    spot->offset = place;
    return spot->column < stream->column_count ? 0 : -EBADMSG;
}

static void name_signal(const struct signals *s, unsigned i, char text[HIL_SIGNAL_NAME_BYTES])
{
    const struct hil_system *system = s->trial->system;
    const struct hil_limit_signal *signal = &s->trial->limit->signals[i];
    const struct hil_node_config *n = &system->nodes[signal->node];

    if (signal->measure)
        hil_instance_name(&system->measures[n->measures[signal->number]].is, text);
    else
        hil_signal_name(system, &n->recorded[signal->number], text);
}

static const char *unit_of(const struct trial *t)
{
    const struct hil_limit_signal *signal = &t->limit->signals[0];
    const struct hil_node_config *n = &t->system->nodes[signal->node];
    unsigned place;

    if (signal->measure)
        return t->system->measures[n->measures[signal->number]].unit;
    return hil_signal_row(t->system, &n->recorded[signal->number], &place)->unit;
}

/* --- following signals ----------------------------------------------------------------------- */

/* If a reference ends too early, what comes later cannot be judged. */
static void leave_uncovered(const struct sums *sums, const struct follow *follow)
{
    struct hil_finding *finding = sums->at[HIL_BOUND_LIKE].finding;
    double time_s;

    if (finding && finding->outcome != HIL_OUTCOME_FAILED && follow_uncovered(follow, &time_s))
        finding_leave(finding, HIL_OUTCOME_INCONCLUSIVE, "the reference has no row at %.9g s",
                      time_s);
}

static void take_looks(struct signals *s, unsigned i, const struct follow *follow)
{
    for (unsigned bound = 0; bound < HIL_BOUNDS; bound++) {
        struct hil_finding *finding = s->sums.at[bound].finding;
        struct look look;
        if (!finding || !follow_look(follow, bound, &look) ||
            !finding_look(&s->sums.at[bound], &look))
            continue;
        name_signal(s, i, finding->signal);
        if (bound == HIL_BOUND_STEP) {
            snprintf(finding->unit, sizeof finding->unit, "%s",
                     follow_step_unit(follow, unit_of(s->trial)));
            finding->no_value = "is not in the second band";
        }
        finding->stream = s->spots[i].stream;
        finding->column = (int)s->spots[i].column;
    }
    leave_uncovered(&s->sums, follow);
}

/* Passes the rows of a block to each signal that is followed. */
static int follow_block(struct signals *s, const struct spot *spot, uint64_t first, size_t rows,
                        double *times, double *values)
{
    const unsigned width = s->streams[spot->stream].columns[spot->column].width;
    int rc = hil_trace_read(s->trace, (unsigned)spot->stream, 0, first, rows, times, rows);

    if (!rc)
        rc = hil_trace_read(s->trace, (unsigned)spot->stream, spot->column, first, rows, values,
                            rows * width);
    for (unsigned i = 0; i < s->trial->limit->signal_count && !rc; i++)
        for (size_t row = 0; s->followed[i] && row < rows && !rc; row++)
            rc =
                follow_sample(s->followed[i], times[row], values[row * width + s->spots[i].offset]);
    return rc;
}

static int follow_rows(struct signals *s, const struct spot *spot)
{
    const struct hil_stream_config *stream = &s->streams[spot->stream];
    const size_t block = hil_trace_block_rows(s->trace, (unsigned)spot->stream);
    double *times = malloc(block * sizeof *times);
    double *values = malloc(block * stream->columns[spot->column].width * sizeof *values);
    int rc = times && values ? 0 : -ENOMEM;

    for (uint64_t first = 0; first < stream->rows && !rc; first += block)
        rc = follow_block(s, spot, first,
                          stream->rows - first < block ? (size_t)(stream->rows - first) : block,
                          times, values);
    free(times);
    free(values);
    return rc;
}

static bool is_in_column(const struct spot *a, const struct spot *b)
{
    return a->stream == b->stream && a->column == b->column;
}

/* Judges all signals of the limit in this column. */
static int judge_column(struct signals *s, const struct spot *spot)
{
    const struct hil_limit *limit = s->trial->limit;
    int rc = 0;

    for (unsigned i = 0; i < limit->signal_count && !rc; i++)
        if (is_in_column(&s->spots[i], spot))
            rc = follow_open(&s->followed[i], limit, i);
    if (!rc)
        rc = follow_rows(s, spot);
    for (unsigned i = 0; i < limit->signal_count; i++) {
        if (!s->followed[i])
            continue;
        if (!rc)
            take_looks(s, i, s->followed[i]);
        s->spots[i].done = true;
        follow_close(s->followed[i]);
        s->followed[i] = NULL;
    }
    return rc;
}

/* Nodes that did not run here have an empty record, or none. */
static void say_nothing(struct signals *s)
{
    for (unsigned bound = 0; bound < HIL_BOUNDS; bound++) {
        struct hil_finding *finding = s->sums.at[bound].finding;
        const unsigned node = s->trial->limit->signals[0].node;
        if (!finding || finding->judged)
            continue;
        if (!s->trial->run->state->nodes[node].here)
            finding_leave(finding, HIL_OUTCOME_SKIPPED, "it is recorded elsewhere");
        else if (!s->trial->run->dir)
            finding_leave(finding, HIL_OUTCOME_SKIPPED, "no record is kept here");
        else
            finding_leave(
                finding, HIL_OUTCOME_INCONCLUSIVE,
                "the record, or the reference, has no row in the time that this limit applies to");
    }
}

static int judge_record(struct signals *s)
{
    const struct hil_limit *limit = s->trial->limit;
    char path[HIL_PATH_BYTES];
    unsigned streams;
    int rc = hil_run_path(path, s->trial->run->dir, "trace.h5");

    if (!rc)
        rc = hil_trace_reader_open(&s->trace, path);
    if (rc)
        return rc;
    s->streams = hil_trace_streams(s->trace, &streams);
    for (unsigned i = 0; i < limit->signal_count && !rc; i++)
        rc = find_spot(s, &limit->signals[i], &s->spots[i]);
    for (unsigned i = 0; i < limit->signal_count && !rc; i++)
        if (!s->spots[i].done)
            rc = judge_column(s, &s->spots[i]);
    hil_trace_reader_close(s->trace);
    return rc;
}

static struct finding_sum begin_sum(struct trial *t, enum hil_bound bound)
{
    const bool slope = bound == HIL_BOUND_SLOPE_MIN || bound == HIL_BOUND_SLOPE_MAX;
    const char *of = unit_of(t);
    char unit[24];

    snprintf(unit, sizeof unit, "%.16s%s", slope && !*of ? "1" : of, slope ? "/s" : "");
    return (struct finding_sum){trial_add(t, bound, NULL, unit), -INFINITY};
}

int judge_signals(struct trial *t)
{
    struct signals s = {
        .trial = t,
        .spots = calloc(t->limit->signal_count, sizeof *s.spots),
        .followed = calloc(t->limit->signal_count, sizeof *s.followed),
    };
    int rc = s.spots && s.followed ? 0 : -ENOMEM;

    for (unsigned bound = 0; bound < HIL_BOUNDS && !rc; bound++)
        if (t->limit->given[bound])
            s.sums.at[bound] = begin_sum(t, bound);
    if (!rc && t->run->dir)
        rc = judge_record(&s);
    if (!rc)
        say_nothing(&s);
    free(s.spots);
    free(s.followed);
    return rc;
}
