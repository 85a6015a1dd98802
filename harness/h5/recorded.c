#include "recorded.h"
#include "../base/list.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- names ----------------------------------------------------------------------------------- */

/* "[3]", "[0-3]" or "[*]"; or nothing. */
struct span {
    bool there, all;
    unsigned first, last;
};

/* "cell[0-3].input[2]" */
struct name {
    const char *component, *row;
    size_t component_length, row_length;
    struct span components, parts;
};

/* Skips a word and the span after it. */
static const char *read_word(const char *at, const char **word, size_t *length, struct span *span)
{
    int used = 0;

    *word = at;
    *length = strcspn(at, "[.");
    *span = (struct span){0};
    at += *length;
    if (*at != '[')
        return at;
    span->there = true;
    if (strncmp(at, "[*]", 3) == 0) {
        span->all = true;
        return at + 3;
    }
    if (sscanf(at, "[%u-%u]%n", &span->first, &span->last, &used) == 2 && used)
        return at + used;
    if (sscanf(at, "[%u]%n", &span->first, &used) != 1 || !used)
        return at;
    span->last = span->first;
    return at + used;
}

static bool read_name(struct name *name, const char *text)
{
    const char *at = read_word(text, &name->component, &name->component_length, &name->components);

    if (*at != '.')
        return false;
    at = read_word(at + 1, &name->row, &name->row_length, &name->parts);
    return *at == '\0' && name->component_length && name->row_length;
}

static bool is_same_word(const char *a, size_t a_length, const char *b, size_t b_length)
{
    return a_length == b_length && strncmp(a, b, a_length) == 0;
}

static bool span_takes(const struct span *span, unsigned number)
{
    return !span->there || span->all || (number >= span->first && number <= span->last);
}

/* The number of indices in a span; 0: all. */
static unsigned span_count(const struct span *span)
{
    return !span->there ? 1 : span->all ? 0 : span->last - span->first + 1;
}

/* --- finding --------------------------------------------------------------------------------- */

struct search {
    const struct hil_stream_config *streams;
    unsigned stream_count;
    const char *node;
    struct hil_recorded *found;
    unsigned from, count; /* entries before `from` have other names */
};

static bool search_has(const struct search *s, unsigned component, unsigned part)
{
    for (unsigned i = s->from; i < s->count; i++)
        if (s->found[i].component == component && s->found[i].part == part)
            return true;
    return false;
}

static int search_add(struct search *s, const struct hil_recorded *one)
{
    if (search_has(s, one->component, one->part))
        return 0;
    struct hil_recorded *more = hil_list_more(s->found, s->count, sizeof *more);
    if (!more)
        return -ENOMEM;
    s->found = more;
    s->found[s->count++] = *one;
    return 0;
}

/* Adds the requested signals of a column. */
static int search_column(struct search *s, const struct name *asked, unsigned stream,
                         unsigned column)
{
    const struct hil_column *c = &s->streams[stream].columns[column];
    struct name has;
    int rc = 0;

    if (!read_name(&has, c->of.signals) ||
        !is_same_word(has.component, has.component_length, asked->component,
                      asked->component_length) ||
        !is_same_word(has.row, has.row_length, asked->row, asked->row_length) ||
        has.components.there != asked->components.there)
        return 0;
    unsigned parts = span_count(&has.parts);
    const unsigned components = span_count(&has.components);
    if (!parts)
        parts = components ? c->width / components : 0;
    if (!parts)
        return 0; /* none of our records has a whole array inside each element of an array */
    for (unsigned i = 0; !rc && i < c->width; i++) {
        const struct hil_recorded one = {stream, column, i, has.components.first + i / parts,
                                         has.parts.first + i % parts};
        if (span_takes(&asked->components, one.component) && span_takes(&asked->parts, one.part))
            rc = search_add(s, &one);
    }
    return rc;
}

static bool search_asks_stream(const struct search *s, const char *stream)
{
    return !s->node || is_same_word(s->node, strlen(s->node), stream, strcspn(stream, "/"));
}

static bool is_measure(const struct hil_column *c, const char *name)
{
    return strcmp(c->of.measure, name) == 0 && strcmp(c->of.role, "value") == 0;
}

static int search_all(struct search *s, const char *text)
{
    struct name asked;
    const bool signal = read_name(&asked, text);
    int rc = 0;

    for (unsigned i = 0; i < s->stream_count; i++) {
        if (!search_asks_stream(s, s->streams[i].name))
            continue;
        for (unsigned k = 0; !rc && k < s->streams[i].column_count; k++) {
            const struct hil_column *c = &s->streams[i].columns[k];
            if (signal && c->of.signals && *c->of.signals)
                rc = search_column(s, &asked, i, k);
            else if (!signal && c->of.measure && c->of.role && is_measure(c, text))
                rc = search_add(s, &(struct hil_recorded){.stream = i, .column = k});
        }
    }
    return rc;
}

static int compare_numbers(const void *a, const void *b)
{
    const struct hil_recorded *one = a, *other = b;

    if (one->component != other->component)
        return one->component < other->component ? -1 : 1;
    return one->part < other->part ? -1 : one->part > other->part;
}

int hil_recorded_find(struct hil_recorded **found, const struct hil_trace_reader *record,
                      const char *name, const char *node)
{
    struct search s = {.node = node};

    s.streams = hil_trace_streams(record, &s.stream_count);
    int rc = search_all(&s, name);
    if (rc) {
        free(s.found);
        return rc;
    }
    if (s.count)
        qsort(s.found, s.count, sizeof *s.found, compare_numbers);
    *found = s.found;
    return (int)s.count;
}

/* --- all ------------------------------------------------------------------------------------- */

static const struct hil_column *column_of(const struct hil_trace_reader *record,
                                          const struct hil_recorded *one)
{
    unsigned count;

    return &hil_trace_streams(record, &count)[one->stream].columns[one->column];
}

static bool is_named(const char *text)
{
    return text && *text;
}

/* Appends a word, with its index if it has one. */
static size_t put_word(char *text, size_t used, const char *word, size_t length, bool numbered,
                       unsigned number)
{
    const size_t room = HIL_RECORDED_NAME_BYTES - used;
    int put = numbered ? snprintf(text + used, room, "%.*s[%u]", (int)length, word, number)
                       : snprintf(text + used, room, "%.*s", (int)length, word);

    return (size_t)put < room ? used + (size_t)put : HIL_RECORDED_NAME_BYTES - 1;
}

void hil_recorded_name(const struct hil_trace_reader *record, const struct hil_recorded *one,
                       char text[HIL_RECORDED_NAME_BYTES])
{
    const struct hil_column *c = column_of(record, one);
    struct name name;

    if (!is_named(c->of.signals) || !read_name(&name, c->of.signals)) {
        put_word(text, 0, c->of.measure, strlen(c->of.measure), false, 0);
        return;
    }
    size_t used = put_word(text, 0, name.component, name.component_length, name.components.there,
                           one->component);
    used = put_word(text, used, ".", 1, false, 0);
    put_word(text, used, name.row, name.row_length, name.parts.there, one->part);
}

/* Whether an earlier stream has the column's signals, too. */
static bool is_again(const struct search *s, unsigned stream, const struct hil_column *column)
{
    struct name has, before;

    if (!is_named(column->of.signals))
        return false;
    read_name(&has, column->of.signals);
    for (unsigned i = 0; i < stream; i++)
        for (unsigned k = 0; k < s->streams[i].column_count; k++) {
            const char *signals = s->streams[i].columns[k].of.signals;
            if (is_named(signals) && read_name(&before, signals) &&
                (before.components.all || strcmp(signals, column->of.signals) == 0) &&
                is_same_word(has.component, has.component_length, before.component,
                             before.component_length) &&
                is_same_word(has.row, has.row_length, before.row, before.row_length))
                return true;
        }
    return false;
}

static int add_column(struct search *all, unsigned stream, unsigned column)
{
    const struct hil_column *c = &all->streams[stream].columns[column];
    struct name name;

    all->from = all->count;
    if (is_named(c->of.signals) && read_name(&name, c->of.signals))
        return search_column(all, &name, stream, column);
    if (is_named(c->of.measure) && c->of.role && strcmp(c->of.role, "value") == 0)
        return search_add(all, &(struct hil_recorded){.stream = stream, .column = column});
    return 0;
}

int hil_recorded_all(struct hil_recorded **found, const struct hil_trace_reader *record)
{
    struct search all = {0};
    int rc = 0;

    all.streams = hil_trace_streams(record, &all.stream_count);
    for (unsigned i = 0; !rc && i < all.stream_count; i++)
        for (unsigned k = 0; !rc && k < all.streams[i].column_count; k++)
            if (!is_again(&all, i, &all.streams[i].columns[k]))
                rc = add_column(&all, i, k);
    if (rc) {
        free(all.found);
        return rc;
    }
    *found = all.found;
    return (int)all.count;
}

/* --- numbers --------------------------------------------------------------------------------- */

void hil_recorded_series_free(struct hil_recorded_series *series)
{
    free(series->times_s);
    free(series->values);
    *series = (struct hil_recorded_series){0};
}

int hil_recorded_read(struct hil_recorded_series *series, const struct hil_trace_reader *record,
                      const struct hil_recorded *one)
{
    unsigned streams;
    const struct hil_stream_config *stream = &hil_trace_streams(record, &streams)[one->stream];
    const int time = hil_trace_column_find(stream, "time_s");
    const size_t block = hil_trace_block_rows(record, one->stream);
    int rc = time < 0 ? -EBADMSG : 0;

    *series = (struct hil_recorded_series){malloc((stream->rows + 1) * sizeof(double)),
                                           malloc((stream->rows + 1) * sizeof(double)), 0};
    if (!series->times_s || !series->values)
        rc = -ENOMEM;
    for (uint64_t first = 0; !rc && first < stream->rows; first += block) {
        const size_t count = stream->rows - first < block ? (size_t)(stream->rows - first) : block;
        rc = hil_trace_read(record, one->stream, (unsigned)time, first, count,
                            series->times_s + first, count);
        if (!rc)
            rc = hil_trace_read_place(record, one->stream, one->column, one->place, first, count,
                                      series->values + first);
    }
    if (rc)
        hil_recorded_series_free(series);
    else
        series->count = stream->rows;
    return rc;
}

/* --- listing names --------------------------------------------------------------------------- */

void hil_recorded_say(const struct hil_trace_reader *record, char *text, size_t size)
{
    unsigned count;
    const struct hil_stream_config *streams = hil_trace_streams(record, &count);
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < streams[i].column_count && used < size; k++) {
            const struct hil_origin *of = &streams[i].columns[k].of;
            const bool measure = of->role && strcmp(of->role, "value") == 0;
            const char *name = measure ? of->measure : of->signals;
            if (name && *name)
                used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", name);
        }
    if (used >= size)
        strcpy(text + size - 4, "...");
}
