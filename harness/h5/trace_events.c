#include "trace_events.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- names ------------------------------------------------------------------------------------ */

static int names_open(struct hil_trace_names *names, const char *text)
{
    size_t lines = 1;

    for (const char *c = text; *c; c++)
        lines += *c == '\n';
    names->text = strdup(text);
    names->at = calloc(lines, sizeof *names->at);
    if (!names->text || !names->at)
        return -ENOMEM;
    for (char *rest = names->text; rest;)
        names->at[names->count++] = strsep(&rest, "\n");
    return 0;
}

static void names_close(struct hil_trace_names *names)
{
    free(names->text);
    free(names->at);
}

static const char *names_at(const struct hil_trace_names *names, double number)
{
    return number >= 0 && number < (double)names->count ? names->at[(size_t)number] : "";
}

/* Replaces the mark in the text, if there is one, by the number. */
static void put_number(char text[HIL_EVENT_OF_BYTES], const char *mark, double number)
{
    char rest[HIL_EVENT_OF_BYTES];
    char *at = strstr(text, mark);

    if (!at)
        return;
    snprintf(rest, sizeof rest, "%s", at + strlen(mark));
    snprintf(at, (size_t)(text + HIL_EVENT_OF_BYTES - at), "[%.0f]%s", number, rest);
}

/* --- columns ---------------------------------------------------------------------------------- */

enum { TIME, STEP, NODE, KIND, OF, INDEX, PLACE, VALUE, COLUMNS };

static const char *const column_names[COLUMNS] = {"time_s", "step",  "node",  "kind",
                                                  "of",     "index", "place", "value"};

struct reading {
    const struct hil_trace_reader *trace;
    unsigned stream;
    const struct hil_stream_config *config;
    double *values[COLUMNS];
    const char *names[COLUMNS];
};

static int read_column(struct reading *r, unsigned i)
{
    const int column = hil_trace_column_find(r->config, column_names[i]);
    const size_t rows = r->config->rows;

    if (column < 0 || r->config->columns[column].width != 1)
        return -EBADMSG;
    r->names[i] = r->config->columns[column].of.names;
    r->values[i] = malloc((rows + 1) * sizeof(double));
    return r->values[i]
               ? hil_trace_read(r->trace, r->stream, (unsigned)column, 0, rows, r->values[i], rows)
               : -ENOMEM;
}

static void make_event(struct hil_trace_events *events, const struct reading *r,
                       const struct hil_trace_names *subjects, size_t row)
{
    struct hil_trace_event *e = &events->at[row];

    *e = (struct hil_trace_event){
        .time_s = r->values[TIME][row],
        .step = r->values[STEP][row],
        .node = names_at(&events->nodes, r->values[NODE][row]),
        .kind = names_at(&events->kinds, r->values[KIND][row]),
        .value = r->values[VALUE][row],
        .row = row,
    };
    snprintf(e->of, sizeof e->of, "%s", names_at(subjects, r->values[OF][row]));
    put_number(e->of, "[*]", r->values[INDEX][row]);
    put_number(e->of, "[#]", r->values[PLACE][row]);
}

static int compare_times(const void *a, const void *b)
{
    const struct hil_trace_event *one = a, *other = b;

    if (one->time_s != other->time_s)
        return one->time_s < other->time_s ? -1 : 1;
    return one->row < other->row ? -1 : one->row > other->row;
}

static int make_events(struct hil_trace_events *events, const struct reading *r)
{
    struct hil_trace_names subjects = {0};
    int rc = names_open(&events->nodes, r->names[NODE]);

    if (!rc)
        rc = names_open(&events->kinds, r->names[KIND]);
    if (!rc)
        rc = names_open(&subjects, r->names[OF]);
    events->at = calloc(r->config->rows + 1, sizeof *events->at);
    if (!events->at)
        rc = -ENOMEM;
    for (size_t row = 0; !rc && row < r->config->rows; row++)
        make_event(events, r, &subjects, events->count++);
    names_close(&subjects);
    return rc;
}

int hil_trace_events_read(struct hil_trace_events *events, const struct hil_trace_reader *trace)
{
    struct reading r = {.trace = trace, .config = hil_trace_events(trace, &r.stream)};
    int rc = 0;

    *events = (struct hil_trace_events){0};
    if (!r.config)
        return 0;
    for (unsigned i = 0; !rc && i < COLUMNS; i++)
        rc = read_column(&r, i);
    if (!rc)
        rc = make_events(events, &r);
    for (unsigned i = 0; i < COLUMNS; i++)
        free(r.values[i]);
    if (rc)
        hil_trace_events_free(events);
    else if (events->count)
        qsort(events->at, events->count, sizeof *events->at, compare_times);
    return rc;
}

void hil_trace_events_free(struct hil_trace_events *events)
{
    free(events->at);
    names_close(&events->nodes);
    names_close(&events->kinds);
    *events = (struct hil_trace_events){0};
}
