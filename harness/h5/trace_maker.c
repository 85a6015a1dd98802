#include "trace_maker.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "journal.h"
#include "trace_parts.h"

struct made {
    uint64_t rows;             /* rows in the trace */
    double first_ns, apart_ns; /* due time of its first row, and interval of rows; interval 0: not
                                * known */
    bool events;               /* its first number is the time of the row */
    double last_event_ns;      /* time of the last row of the chunk that is next; NAN: not read */
};

struct hil_trace_maker {
    struct hil_journal *journal;
    struct hil_trace *trace;
    struct made *streams;
    unsigned stream_count;
    struct hil_trace_watch watch;
    double *values; /* of one chunk, of any stream */
    char *path, *part;
    int error; /* the first error */
};

/* --- opening ------------------------------------------------------------------------------- */

static int set_up_streams(struct hil_trace_maker *m)
{
    const struct hil_trace_config *config = hil_journal_config(m->journal);
    size_t most = 1;

    m->streams = calloc(config->stream_count + 1, sizeof *m->streams);
    if (!m->streams)
        return -ENOMEM;
    m->stream_count = config->stream_count;
    for (unsigned i = 0; i < m->stream_count; i++) {
        const struct hil_stream_config *s = &config->streams[i];
        const size_t numbers = hil_stream_width(s) * s->chunk_rows;

        m->streams[i] = (struct made){
            .first_ns = (double)s->cadence.phase_ns,
            .apart_ns = (double)s->cadence.period_ns * (double)s->cadence.decimation,
            .events = strcmp(s->name, HIL_EVENTS) == 0,
            .last_event_ns = NAN,
        };
        most = numbers > most ? numbers : most;
    }
    m->values = malloc(most * sizeof *m->values);
    return m->values ? 0 : -ENOMEM;
}

static int open_maker(struct hil_trace_maker *m, const char *path)
{
    m->path = strdup(path);
    if (asprintf(&m->part, "%s.part", path) < 0)
        m->part = NULL;
    int rc = m->path && m->part ? hil_journal_open(&m->journal, path) : -ENOMEM;
    if (!rc)
        rc = set_up_streams(m);
    if (!rc)
        rc = hil_trace_create(&m->trace, m->part, hil_journal_config(m->journal));
    return rc;
}

int hil_trace_maker_open(struct hil_trace_maker **maker, const char *path,
                         const struct hil_trace_watch *watch)
{
    struct hil_trace_maker *made = calloc(1, sizeof *made);

    if (!made)
        return -ENOMEM;
    made->watch = *watch;
    const int rc = open_maker(made, path);
    if (rc)
        hil_trace_maker_close(made);
    else
        *maker = made;
    return rc;
}

void hil_trace_maker_use(struct hil_trace_maker *m, unsigned threads)
{
    m->watch.threads = threads;
}

/* --- one chunk ----------------------------------------------------------------------------- */

static uint64_t chunk_rows(const struct hil_trace_maker *m, unsigned stream)
{
    return hil_journal_config(m->journal)->streams[stream].chunk_rows;
}

/* How many rows of the stream the journal has beyond those in the trace. */
static uint64_t rows_left(const struct hil_trace_maker *m, unsigned stream)
{
    return hil_journal_rows(m->journal, stream) - m->streams[stream].rows;
}

static bool is_full(const struct hil_trace_maker *m, unsigned stream)
{
    return rows_left(m, stream) >= chunk_rows(m, stream);
}

static double share_made(const struct hil_trace_maker *m)
{
    double made = 0, all = 0;

    for (unsigned i = 0; i < m->stream_count; i++) {
        made += (double)m->streams[i].rows;
        all += (double)hil_journal_rows(m->journal, i);
    }
    return all > 0 ? made / all : 1;
}

static void remember(struct hil_trace_maker *m, int rc)
{
    if (!m->error)
        m->error = rc;
}

/* Reads the stream's next chunk. Returns its rows. */
static uint64_t read_chunk(struct hil_trace_maker *m, unsigned stream)
{
    const uint64_t chunk = m->streams[stream].rows / chunk_rows(m, stream);
    const int64_t rows = hil_journal_read_chunk(m->journal, stream, chunk, m->values);

    remember(m, rows < 0 ? (int)rows : 0);
    return rows < 0 ? 0 : (uint64_t)rows;
}

static void make_chunk(struct hil_trace_maker *m, unsigned stream)
{
    struct made *s = &m->streams[stream];
    const uint64_t rows = read_chunk(m, stream);

    if (!m->error)
        remember(m, trace_write_chunk(m->trace, stream, m->values, rows, m->watch.threads));
    if (m->error)
        return;
    s->rows += rows;
    s->last_event_ns = NAN;
    if (m->watch.goes_on && !m->watch.goes_on(m->watch.arg, share_made(m)))
        remember(m, -ECANCELED);
}

/* --- the order of chunks ------------------------------------------------------------------- */

/* When the last row of the stream's next chunk is due. For events this is known only when the chunk
 * is full. */
static double chunk_due_ns(struct hil_trace_maker *m, unsigned stream)
{
    struct made *s = &m->streams[stream];
    const uint64_t chunk = chunk_rows(m, stream);

    if (s->events && isnan(s->last_event_ns) && is_full(m, stream) && read_chunk(m, stream))
        s->last_event_ns = round(m->values[chunk - 1] * 1e9);
    if (s->events && !isnan(s->last_event_ns))
        return s->last_event_ns;
    return s->apart_ns > 0 ? s->first_ns + (double)(s->rows + chunk - 1) * s->apart_ns : INFINITY;
}

/* The stream whose chunk comes next. */
static unsigned next_in_order(struct hil_trace_maker *m)
{
    unsigned first = 0;

    for (unsigned i = 1; i < m->stream_count; i++)
        if (chunk_due_ns(m, i) < chunk_due_ns(m, first))
            first = i;
    return first;
}

/* Makes the full chunks whose turn has come. */
static void make_in_order(struct hil_trace_maker *m)
{
    unsigned next = m->stream_count ? next_in_order(m) : 0;

    while (!m->error && next < m->stream_count && is_full(m, next)) {
        make_chunk(m, next);
        next = next_in_order(m);
    }
}

/* In an interrupted run, or in real time, rows may be missing, and no chunk waits for them. */
static void make_rest(struct hil_trace_maker *m)
{
    for (unsigned i = 0; i < m->stream_count; i++)
        while (!m->error && rows_left(m, i) > 0)
            make_chunk(m, i);
}

int hil_trace_maker_follow(struct hil_trace_maker *m)
{
    remember(m, hil_journal_look(m->journal));
    if (!m->error && hil_journal_config(m->journal)->whole)
        make_in_order(m);
    return m->error;
}

/* --- the end ------------------------------------------------------------------------------- */

static int close_trace(struct hil_trace_maker *m)
{
    const int rc = m->trace ? hil_trace_close(m->trace) : 0;

    m->trace = NULL;
    return rc;
}

int hil_trace_maker_finish(struct hil_trace_maker *m)
{
    hil_trace_maker_follow(m);
    make_rest(m);
    if (!m->error)
        remember(m, hil_journal_copy_histograms(m->journal, m->trace));
    remember(m, close_trace(m));
    if (!m->error && rename(m->part, m->path))
        remember(m, -errno);
    if (!m->error)
        hil_journal_remove(m->path);
    return m->error;
}

/* A trace that was not finished is useless. */
void hil_trace_maker_close(struct hil_trace_maker *m)
{
    if (!m)
        return;
    const bool made = m->trace;
    close_trace(m);
    if (made || m->error)
        unlink(m->part);
    hil_journal_close(m->journal);
    free(m->streams);
    free(m->values);
    free(m->path);
    free(m->part);
    free(m);
}

int hil_trace_make(const char *path, const struct hil_trace_watch *watch, bool *lacks)
{
    struct hil_trace_maker *maker;
    int rc = hil_trace_maker_open(&maker, path, watch);

    if (rc)
        return rc;
    rc = hil_trace_maker_finish(maker);
    if (lacks)
        *lacks = hil_journal_is_damaged(maker->journal);
    hil_trace_maker_close(maker);
    return rc;
}
