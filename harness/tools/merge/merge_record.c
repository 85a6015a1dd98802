/* Merges the rows of the parts' records, with times on the first node's clock. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/pool.h"
#include "../../h5/run_files.h"
#include "../../h5/trace_clock.h"
#include "../../h5/trace_rows.h"
#include "../../record/streams.h"
#include "../../run/run_times.h"
#include "../../summary/summary_clocks.h"
#include "clock_line.h"
#include "parts.h"

enum { RECORD_ROWS = 4096 }; /* at a time */

struct record {
    const struct merge_parts *parts;
    struct hil_trace_config config; /* of the merged record */
    struct hil_trace *trace;
    struct hil_pool *pool;
    char path[HIL_PATH_BYTES], part[HIL_PATH_BYTES]; /* its file until it is complete */
};

/* --- rows ------------------------------------------------------------------------------------- */

static bool record_is_time(const struct hil_column *column)
{
    return strcmp(column->name, "time_s") == 0 || strcmp(column->name, "plant_time_s") == 0;
}

static bool record_is_alike(const struct hil_stream_config *a, const struct hil_stream_config *b)
{
    if (strcmp(a->name, b->name) != 0 || a->column_count != b->column_count)
        return false;
    for (unsigned i = 0; i < a->column_count; i++)
        if (strcmp(a->columns[i].name, b->columns[i].name) != 0 ||
            a->columns[i].width != b->columns[i].width ||
            a->columns[i].of.matrix != b->columns[i].of.matrix)
            return false;
    return true;
}

/* Copies the columns of the current block into rows. */
static void record_lay_out(const struct hil_trace_rows *r, const struct merge_part *part,
                           double *rows, unsigned width)
{
    unsigned first = 0;

    for (unsigned c = 0; c < r->stream->column_count; c++) {
        const struct hil_column *column = &r->stream->columns[c];
        const bool is_time = part->reported && record_is_time(column);
        for (size_t i = 0; i < r->count; i++)
            for (unsigned k = 0; k < column->width; k++) {
                const double value = r->columns[c][i * column->width + k];
                rows[i * width + first + k] =
                    is_time ? hil_clock_line(&part->is.report, value) : value;
            }
        first += column->width;
    }
}

typedef int record_take_fn(void *arg, const double *rows, size_t count);

/* Calls `take` with the rows of a part's stream, laid out as in the merged record. */
static int record_each(const struct record *r, const struct merge_part *part, unsigned stream,
                       record_take_fn *take, void *arg)
{
    const unsigned width = hil_stream_width(&r->config.streams[stream]);
    double *rows = malloc(RECORD_ROWS * width * sizeof *rows);
    struct hil_trace_rows from;
    int rc = rows ? hil_trace_rows_open(&from, part->record, stream, RECORD_ROWS) : -ENOMEM;

    if (rc) {
        free(rows);
        return rc;
    }
    while (!(rc = hil_trace_rows_next(&from)) && from.count > 0) {
        record_lay_out(&from, part, rows, width);
        rc = take(arg, rows, from.count);
        if (rc)
            break;
    }
    hil_trace_rows_close(&from);
    free(rows);
    return rc;
}

struct record_stream {
    struct hil_trace *trace;
    unsigned index;
};

static int record_append(void *stream, const double *rows, size_t count)
{
    const struct record_stream *s = stream;

    return hil_trace_append(s->trace, s->index, rows, count);
}

static int record_add_nodes(const struct record *r)
{
    const struct hil_system *s = r->parts->merge->scenario->system;
    struct record_stream to = {.trace = r->trace};
    int rc = 0;

    for (unsigned n = 0; !rc && n < s->node_count; n++) {
        for (unsigned i = 0; !rc && s->nodes[n].decimation && i < r->parts->count; i++)
            if (r->parts->at[i].nodes[n])
                rc = record_each(r, &r->parts->at[i], to.index, record_append, &to);
        to.index += s->nodes[n].decimation > 0;
    }
    return rc;
}

/* --- events ----------------------------------------------------------------------------------- */

/* The events of all parts; the first number of a row is its time. */
struct record_events {
    double *rows;
    size_t count, room;
    unsigned width;
};

static int record_keep_event(void *events, const double *rows, size_t count)
{
    struct record_events *e = events;

    if (e->count + count > e->room) {
        const size_t room = 2 * e->room + count;
        double *more = realloc(e->rows, room * e->width * sizeof *more);
        if (!more)
            return -ENOMEM;
        e->rows = more;
        e->room = room;
    }
    memcpy(e->rows + e->count * e->width, rows, count * e->width * sizeof *rows);
    e->count += count;
    return 0;
}

/* Sorts by time, and stably. */
static int record_compare_events(const void *a, const void *b)
{
    const double *one = *(const double *const *)a, *other = *(const double *const *)b;

    if (*one != *other)
        return *one < *other ? -1 : 1;
    return one < other ? -1 : 1;
}

static int record_append_events(const struct record *r, const struct record_events *e)
{
    const double **sorted = malloc((e->count + 1) * sizeof *sorted);
    int rc = sorted ? 0 : -ENOMEM;

    for (size_t i = 0; !rc && i < e->count; i++)
        sorted[i] = e->rows + i * e->width;
    if (!rc)
        qsort(sorted, e->count, sizeof *sorted, record_compare_events);
    for (size_t i = 0; !rc && i < e->count; i++)
        rc = hil_trace_append(r->trace, r->config.stream_count - 1, sorted[i], 1);
    free(sorted);
    return rc;
}

static int record_add_events(const struct record *r)
{
    const unsigned stream = r->config.stream_count - 1;
    struct record_events e = {.width = hil_stream_width(&r->config.streams[stream])};
    int rc = 0;

    for (unsigned i = 0; !rc && i < r->parts->count; i++)
        rc = record_each(r, &r->parts->at[i], stream, record_keep_event, &e);
    if (!rc)
        rc = record_append_events(r, &e);
    free(e.rows);
    return rc;
}

/* --- clocks ----------------------------------------------------------------------------------- */

static struct hil_stream_clock record_clock_of(const struct merge_part *part)
{
    const struct hil_part_report *report = part && part->reported ? &part->is.report : NULL;
    const bool known = report && report->first_start_ns;

    if (!known)
        return (struct hil_stream_clock){.by = "not compared"};
    const struct hil_machine_clock *c = &report->before;
    const bool own = c->by == HIL_CLOCK_OWN;
    return (struct hil_stream_clock){
        .by = hil_clock_by_name(c->by),
        .known = true,
        .ahead_s = (double)c->ahead_ns * 1e-9,
        .uncertainty_us = (double)hil_clock_about_ns(report) * 1e-3,
        .drift_us = own ? 0 : hil_clock_drift_us(c, &report->after),
    };
}

static const struct merge_part *record_part_of(const struct merge_parts *parts, unsigned node)
{
    for (unsigned i = 0; i < parts->count; i++)
        if (parts->at[i].nodes[node])
            return &parts->at[i];
    return NULL;
}

static int record_add_clocks(const struct record *r)
{
    const struct hil_system *s = r->parts->merge->scenario->system;
    unsigned stream = 0;
    int rc = 0;

    for (unsigned n = 0; !rc && n < s->node_count; n++) {
        if (!s->nodes[n].decimation)
            continue;
        const struct hil_stream_clock clock = record_clock_of(record_part_of(r->parts, n));
        rc = hil_trace_add_clock(r->trace, r->config.streams[stream++].name, &clock);
    }
    return rc;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Whether the part's record has the streams of the scenario; the stream of events comes last. */
static bool record_fits(const struct record *r, const struct merge_part *part)
{
    unsigned count, events;
    const struct hil_stream_config *streams = hil_trace_streams(part->record, &count);
    const struct hil_stream_config *last = hil_trace_events(part->record, &events);

    if (!last || count + 1 != r->config.stream_count ||
        !record_is_alike(last, &r->config.streams[count]))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!record_is_alike(&streams[i], &r->config.streams[i]))
            return false;
    return true;
}

int merge_check_records(const struct merge_parts *parts, FILE *messages)
{
    struct record r = {.parts = parts};
    struct hil_pool *pool = hil_pool_open();
    int rc = pool ? hil_streams_config(&r.config, pool, parts->merge->scenario) : -ENOMEM;

    for (unsigned i = 0; !rc && i < parts->count; i++) {
        if (record_fits(&r, &parts->at[i]))
            continue;
        fprintf(messages, "%s/trace.h5 has other signals than the scenario's\n",
                parts->at[i].from->dir);
        rc = -EPROTO;
    }
    hil_pool_close(pool);
    return rc;
}

static int record_add_times(struct record *r, const struct hil_state *state)
{
    struct hil_run_times times;
    const int rc = hil_run_times(&times, r->pool, r->parts->merge->scenario->system, state);

    return rc ? rc : hil_trace_add_histograms(r->trace, times.at, times.count);
}

static int record_write(struct record *r, const struct hil_state *state)
{
    int rc = record_add_nodes(r);

    if (!rc)
        rc = record_add_events(r);
    if (!rc)
        rc = record_add_clocks(r);
    if (!rc)
        rc = record_add_times(r, state);
    const int closed = hil_trace_close(r->trace);
    rc = rc ? rc : closed;
    if (!rc && rename(r->part, r->path))
        rc = -errno;
    return rc;
}

static int record_begin(struct record *r, const char *out)
{
    int rc = hil_streams_config(&r->config, r->pool, r->parts->merge->scenario);

    if (!rc)
        rc = hil_run_path(r->path, out, "trace.h5");
    if (!rc)
        rc = hil_run_path(r->part, out, "trace.h5.part");
    return rc ? rc : hil_trace_create(&r->trace, r->part, &r->config);
}

int merge_record(const struct merge_parts *parts, const struct hil_state *state, const char *out)
{
    struct record r = {.parts = parts, .pool = hil_pool_open()};
    int rc = r.pool ? record_begin(&r, out) : -ENOMEM;

    if (!rc)
        rc = record_write(&r, state);
    hil_pool_close(r.pool);
    return rc;
}

/* --- the summary ------------------------------------------------------------------------------ */

static json_t *record_clock_json(const struct merge_part *part)
{
    const struct hil_stream_clock c = record_clock_of(part);

    if (!c.known)
        return json_null();
    json_t *clock = hil_clock_json(&part->is.report.before, &part->is.report.after);
    json_object_set_new(clock, "uncertainty_us", json_real(c.uncertainty_us));
    if (isfinite(c.drift_us))
        json_object_set_new(clock, "drift_us", json_real(c.drift_us));
    return clock;
}

static json_t *record_part_json(const struct merge_part *p, const struct hil_system *s)
{
    json_t *machine = json_object_get(p->summary, "machine");
    char nodes[HIL_NODES_NAME_BYTES];

    merge_names(s, p->nodes, nodes);
    return json_pack("{s:s, s:s, s:b, s:s?, s:O?}", "name", p->from->name, "nodes", nodes, "ended",
                     p->reported, "cut_off", p->is.report.cut_off[0] ? p->is.report.cut_off : NULL,
                     "machine", machine);
}

json_t *merge_tell(const struct merge_parts *parts)
{
    const struct hil_system *s = parts->merge->scenario->system;
    json_t *clocks = json_object(), *each = json_array();
    char name[HIL_NODE_NAME_BYTES];

    for (unsigned n = 0; n < s->node_count; n++) {
        hil_node_name(s, n, name);
        json_object_set_new(clocks, name, record_clock_json(record_part_of(parts, n)));
    }
    for (unsigned i = 0; i < parts->count; i++)
        json_array_append_new(each, record_part_json(&parts->at[i], s));
    return json_pack("{s:o, s:o, s:s?}", "parts", each, "clocks", clocks, "missing",
                     parts->absent_names[0] ? parts->absent_names : NULL);
}
