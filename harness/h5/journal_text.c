#include "journal_text.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>

/* A parsed configuration, with everything that it points at. */
struct parsed {
    struct hil_trace_config config; /* first member: the caller has a pointer to it */
    json_t *root;                   /* owns the names */
    struct hil_stream_config *streams;
    struct hil_column *columns;
    struct hil_attribute *attributes;
};

/* --- writing ------------------------------------------------------------------------------- */

static const char *text_or_none(const char *text)
{
    return text ? text : "";
}

static json_t *columns_json(const struct hil_stream_config *stream)
{
    json_t *columns = json_array();

    for (unsigned i = 0; i < stream->column_count; i++) {
        const struct hil_column *c = &stream->columns[i];
        json_array_append_new(columns,
                              json_pack("[s, s, s, I, s, s, s, s, b, s]", c->name, c->unit, c->doc,
                                        (json_int_t)c->width, text_or_none(c->of.signals),
                                        text_or_none(c->of.measure), text_or_none(c->of.role),
                                        text_or_none(c->of.names), (int)c->of.matrix,
                                        text_or_none(c->of.between)));
    }
    return columns;
}

static json_t *stream_json(const struct hil_stream_config *stream, uint64_t numbers)
{
    const struct hil_cadence *c = &stream->cadence;

    return json_pack("{s:s, s:o, s:I, s:I, s:I, s:I, s:I}", "name", stream->name, "columns",
                     columns_json(stream), "rows", (json_int_t)stream->rows, "chunk_rows",
                     (json_int_t)hil_trace_chunk_rows(stream, numbers), "phase_ns",
                     (json_int_t)c->phase_ns, "period_ns", (json_int_t)c->period_ns, "decimation",
                     (json_int_t)c->decimation);
}

char *journal_config_text(const struct hil_trace_config *config)
{
    json_t *streams = json_array(), *attributes = json_array();
    const uint64_t numbers = hil_trace_numbers(config);

    for (unsigned i = 0; i < config->stream_count; i++)
        json_array_append_new(streams, stream_json(&config->streams[i], numbers));
    for (unsigned i = 0; i < config->attribute_count; i++)
        json_array_append_new(attributes, json_pack("[s, s]", config->attributes[i].name,
                                                    config->attributes[i].value));
    json_t *root = json_pack("{s:b, s:o, s:o}", "whole", config->whole, "attributes", attributes,
                             "streams", streams);
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return text;
}

/* --- reading ------------------------------------------------------------------------------- */

/* No trace has a wider row, more rows in a chunk, or more numbers in one, if it has many rows. */
static const json_int_t WIDTH_MAX = 1 << 20, ROWS_MAX = 1 << 16;
static const uint64_t FEW_ROWS = 256, NUMBERS_MAX = 8 << 20;

static int read_column(struct hil_column *column, json_t *json)
{
    json_int_t width;

    if (json_unpack(json, "[s, s, s, I]", &column->name, &column->unit, &column->doc, &width) ||
        width < 1 || width > WIDTH_MAX)
        return -EBADMSG;
    column->width = (unsigned)width;
    column->of = (struct hil_origin){
        json_string_value(json_array_get(json, 4)), json_string_value(json_array_get(json, 5)),
        json_string_value(json_array_get(json, 6)), json_string_value(json_array_get(json, 7)),
        json_is_true(json_array_get(json, 8)),      json_string_value(json_array_get(json, 9)),
    };
    return 0;
}

static int read_columns(struct parsed *p, struct hil_stream_config *stream, json_t *columns,
                        size_t *used)
{
    struct hil_column *all =
        realloc(p->columns, (*used + json_array_size(columns) + 1) * sizeof *all);
    int rc = 0;

    if (!all)
        return -ENOMEM;
    p->columns = all;
    stream->column_count = (unsigned)json_array_size(columns);
    uint64_t width = 0;
    for (unsigned i = 0; !rc && i < stream->column_count; i++) {
        rc = read_column(&all[*used], json_array_get(columns, i));
        width += rc ? 0 : all[(*used)++].width;
    }
    return !rc && width > (uint64_t)WIDTH_MAX ? -EBADMSG : rc;
}

static int read_stream(struct parsed *p, struct hil_stream_config *stream, json_t *json,
                       size_t *used)
{
    json_int_t rows, chunk, phase, period, decimation;
    json_t *columns;

    if (json_unpack(json, "{s:s, s:o, s:I, s:I, s:I, s:I, s:I}", "name", &stream->name, "columns",
                    &columns, "rows", &rows, "chunk_rows", &chunk, "phase_ns", &phase, "period_ns",
                    &period, "decimation", &decimation) ||
        chunk < 1 || chunk > ROWS_MAX || !json_is_array(columns) ||
        json_array_size(columns) > (size_t)WIDTH_MAX)
        return -EBADMSG;
    stream->rows = (uint64_t)rows;
    stream->cadence = (struct hil_cadence){(uint64_t)phase, (uint64_t)period, (uint64_t)decimation};
    stream->chunk_rows = (uint64_t)chunk;
    return read_columns(p, stream, columns, used);
}

/* The columns can be pointed at only when all of them exist, because the array moves. */
static void point_at_columns(struct parsed *p)
{
    const struct hil_column *next = p->columns;

    for (unsigned i = 0; i < p->config.stream_count; i++) {
        p->streams[i].columns = next;
        next += p->streams[i].column_count;
    }
}

static int read_streams(struct parsed *p, json_t *streams)
{
    size_t used = 0;
    int rc = 0;

    for (unsigned i = 0; !rc && i < p->config.stream_count; i++)
        rc = read_stream(p, &p->streams[i], json_array_get(streams, i), &used);
    if (rc)
        return rc;
    point_at_columns(p);
    for (unsigned i = 0; i < p->config.stream_count; i++) {
        const struct hil_stream_config *s = &p->streams[i];
        if (s->chunk_rows > FEW_ROWS && s->chunk_rows * hil_stream_width(s) > NUMBERS_MAX)
            return -EBADMSG;
    }
    return 0;
}

static int read_attributes(struct parsed *p, json_t *attributes)
{
    for (unsigned i = 0; i < p->config.attribute_count; i++)
        if (json_unpack(json_array_get(attributes, i), "[s, s]", &p->attributes[i].name,
                        &p->attributes[i].value))
            return -EBADMSG;
    return 0;
}

static int read_root(struct parsed *p)
{
    json_t *streams, *attributes;
    int whole;

    if (json_unpack(p->root, "{s:b, s:o, s:o}", "whole", &whole, "attributes", &attributes,
                    "streams", &streams))
        return -EBADMSG;
    const size_t stream_count = json_array_size(streams), count = json_array_size(attributes);
    p->streams = calloc(stream_count + 1, sizeof *p->streams);
    p->attributes = calloc(count + 1, sizeof *p->attributes);
    if (!p->streams || !p->attributes)
        return -ENOMEM;
    p->config = (struct hil_trace_config){p->streams, (unsigned)stream_count, p->attributes,
                                          (unsigned)count, whole};
    const int rc = read_attributes(p, attributes);
    return rc ? rc : read_streams(p, streams);
}

int journal_config_parse(struct hil_trace_config **config, const char *text, size_t bytes)
{
    struct parsed *p = calloc(1, sizeof *p);

    if (!p)
        return -ENOMEM;
    p->root = json_loadb(text, bytes, 0, NULL);
    const int rc = p->root ? read_root(p) : -EBADMSG;
    if (rc)
        journal_config_free(&p->config);
    else
        *config = &p->config;
    return rc;
}

void journal_config_free(struct hil_trace_config *config)
{
    struct parsed *p = (struct parsed *)config;

    if (!p)
        return;
    json_decref(p->root);
    free(p->streams);
    free(p->columns);
    free(p->attributes);
    free(p);
}

/* --- histograms ---------------------------------------------------------------------------- */

/* [name, max, sum, [bucket, count, bucket, count ...]] */
static json_t *histogram_json(const struct hil_named_histogram *named)
{
    const struct hil_histogram *h = named->histogram;
    json_t *buckets = json_array();

    for (unsigned i = 0; i < HIL_HISTOGRAM_BUCKETS; i++) {
        if (h->buckets[i] == 0)
            continue;
        json_array_append_new(buckets, json_integer(i));
        json_array_append_new(buckets, json_integer((json_int_t)h->buckets[i]));
    }
    return json_pack("[s, I, I, o]", named->name, (json_int_t)h->max, (json_int_t)h->sum, buckets);
}

char *journal_histograms_text(const struct hil_named_histogram *histograms, unsigned count)
{
    json_t *all = json_array();

    for (unsigned i = 0; i < count; i++)
        json_array_append_new(all, histogram_json(&histograms[i]));
    char *text = json_dumps(all, JSON_COMPACT);
    json_decref(all);
    return text;
}

static int read_buckets(struct hil_histogram *histogram, const json_t *buckets)
{
    for (size_t i = 0; i + 1 < json_array_size(buckets); i += 2) {
        const json_int_t at = json_integer_value(json_array_get(buckets, i));

        if (at < 0 || at >= HIL_HISTOGRAM_BUCKETS)
            return -EBADMSG;
        histogram->buckets[at] = (uint64_t)json_integer_value(json_array_get(buckets, i + 1));
    }
    return 0;
}

static int read_histogram(struct hil_named_histogram *named, struct hil_histogram *histogram,
                          json_t *json)
{
    json_int_t max, sum;
    json_t *buckets;

    if (json_unpack(json, "[s, I, I, o]", &named->name, &max, &sum, &buckets))
        return -EBADMSG;
    histogram->max = (uint64_t)max;
    histogram->sum = (uint64_t)sum;
    named->histogram = histogram;
    return read_buckets(histogram, buckets);
}

static int copy_all(json_t *all, struct hil_trace *trace)
{
    const size_t count = json_array_size(all);
    struct hil_named_histogram *named = calloc(count + 1, sizeof *named);
    struct hil_histogram *histograms = calloc(count + 1, sizeof *histograms);
    int rc = named && histograms ? 0 : -ENOMEM;

    for (size_t i = 0; !rc && i < count; i++)
        rc = read_histogram(&named[i], &histograms[i], json_array_get(all, i));
    if (!rc)
        rc = hil_trace_add_histograms(trace, named, (unsigned)count);
    free(named);
    free(histograms);
    return rc;
}

int journal_histograms_copy(const char *text, size_t bytes, struct hil_trace *trace)
{
    json_t *all = json_loadb(text, bytes, 0, NULL);
    const int rc = json_is_array(all) ? copy_all(all, trace) : -EBADMSG;

    json_decref(all);
    return rc;
}
