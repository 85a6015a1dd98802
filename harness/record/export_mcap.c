#include "export_mcap.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/digits.h"
#include "../base/foreign.h"
#include "../h5/run_files.h"
#include "../h5/trace_events.h"
#include "../h5/trace_rows.h"
#include "mcap.h"

/* The most bytes of rows of all streams in memory. */
enum { MCAP_ROWS_BYTES = 32 << 20, MCAP_ROWS_LEAST = 64, MCAP_NAME_BYTES = 256 };

/* A stream that is being written to its channel. */
struct topic {
    struct hil_trace_rows rows;
    char (*keys)[MCAP_NAME_BYTES]; /* key of each column in the messages */
    unsigned time, channel;        /* time: index of its column */
    size_t row;                    /* index of the next row in memory */
    uint64_t t_ns;                 /* its time */
};

struct mcap_export {
    struct hil_trace_reader *trace;
    struct hil_mcap *mcap;
    struct topic *topics;
    struct topic **due; /* a heap: the first topic has the earliest row */
    unsigned topic_count, due_count;
    struct hil_trace_events events;
    size_t event; /* the next event */
    unsigned event_channel;
    char *message; /* has room for the longest message */
    uint64_t written;
    char *schema; /* the newest schema */
    unsigned schema_id;
};

/* --- names --------------------------------------------------------------------------------- */

static bool key_taken(const struct topic *t, unsigned before, const char *key)
{
    for (unsigned i = 0; i < before; i++)
        if (strcmp(t->keys[i], key) == 0)
            return true;
    return false;
}

/* "cell[0-3].current_a" becomes cell_0_3_current_a, a key that needs no quotes in any program. */
static void key_make(struct topic *t, unsigned column)
{
    const char *from = t->rows.stream->columns[column].name;
    char *key = t->keys[column];
    size_t length = 0;

    for (; *from && length + 16 < MCAP_NAME_BYTES; from++) {
        const unsigned char c = (unsigned char)*from;
        if (c < 128 && isalnum(c))
            key[length++] = (char)c;
        else if (c == '_' || (length && key[length - 1] != '_'))
            key[length++] = '_';
    }
    key[length] = '\0';
    if (length == 0)
        length = (size_t)sprintf(key, "column");
    for (unsigned number = 2; key_taken(t, column, key); number++)
        snprintf(key + length, 16, "_%u", number);
}

/* The step is written for each row in any case, so a recorded step column is left out. */
static bool topic_leaves_out(const struct topic *t, unsigned column)
{
    return t->rows.steps && strcmp(t->rows.stream->columns[column].name, "step") == 0;
}

/* --- schemas ------------------------------------------------------------------------------- */

static json_t *schema_text(const char *text)
{
    char shown[512];

    return json_string(hil_foreign_text(shown, sizeof shown, text, strlen(text)));
}

static json_t *schema_number(const char *doc, const char *unit)
{
    json_t *number = json_pack("{s:s, s:o}", "type", "number", "description", schema_text(doc));

    if (*unit)
        json_object_set_new(number, "unit", schema_text(unit));
    return number;
}

static json_t *schema_column(const struct hil_column *c)
{
    json_t *number = schema_number(c->doc, c->unit);

    return !hil_column_is_matrix(c) ? number
                                    : json_pack("{s:s, s:o}", "type", "array", "items", number);
}

/* The schema's text, which the caller frees; takes ownership of the properties. */
static char *schema_object(json_t *properties)
{
    json_t *schema = json_pack("{s:s, s:o}", "type", "object", "properties", properties);
    char *text = json_dumps(schema, JSON_COMPACT);

    json_decref(schema);
    return text;
}

static char *schema_make(const struct topic *t)
{
    const struct hil_stream_config *stream = t->rows.stream;
    json_t *properties = json_object();

    for (unsigned i = 0; i < stream->column_count; i++)
        if (!topic_leaves_out(t, i))
            json_object_set_new(properties, t->keys[i], schema_column(&stream->columns[i]));
    if (t->rows.steps)
        json_object_set_new(properties, "step", schema_number("number of the step", ""));
    return schema_object(properties);
}

/* Nodes of one array that record the same signals share a schema. */
static int schema_add(struct mcap_export *x, const struct topic *t)
{
    const char *name = t->rows.stream->name;
    char *text = schema_make(t), shown[MCAP_NAME_BYTES];
    int rc = 0;

    if (!text)
        return -ENOMEM;
    if (!x->schema || strcmp(x->schema, text) != 0) {
        hil_foreign_text(shown, sizeof shown, name, strcspn(name, "/"));
        rc = hil_mcap_add_schema(x->mcap, shown, text, &x->schema_id);
    }
    free(x->schema);
    x->schema = text;
    return rc;
}

/* --- topics -------------------------------------------------------------------------------- */

static uint64_t topic_ns(double time_s)
{
    const double ns = round(time_s * 1e9);

    return ns > 0 && ns < 0x1p63 ? (uint64_t)ns : 0;
}

/* Goes to the next row. At the end there are no rows in memory. */
static int topic_next(struct topic *t)
{
    int rc = 0;

    if (++t->row >= t->rows.count) {
        rc = hil_trace_rows_next(&t->rows);
        t->row = 0;
    }
    if (!rc && t->rows.count)
        t->t_ns = topic_ns(t->rows.columns[t->time][t->row]);
    return rc;
}

/* The channel's metadata has the scenario's names of the signals. */
static int topic_add_channel(struct mcap_export *x, struct topic *t)
{
    const struct hil_stream_config *stream = t->rows.stream;
    struct hil_mcap_pair *pairs = calloc(stream->column_count, sizeof *pairs);
    char(*texts)[MCAP_NAME_BYTES] = calloc(stream->column_count, sizeof *texts);
    char name[MCAP_NAME_BYTES], topic[MCAP_NAME_BYTES + 1];
    unsigned count = 0;
    int rc = pairs && texts ? 0 : -ENOMEM;

    for (unsigned i = 0; i < stream->column_count && !rc; i++) {
        const char *signals = stream->columns[i].of.signals;
        if (!*signals)
            continue;
        hil_foreign_text(texts[count], sizeof texts[count], signals, strlen(signals));
        pairs[count] = (struct hil_mcap_pair){t->keys[i], texts[count]};
        count++;
    }
    hil_foreign_text(name, sizeof name, stream->name, strlen(stream->name));
    snprintf(topic, sizeof topic, "/%s", name);
    if (!rc)
        rc = hil_mcap_add_channel(x->mcap, topic, x->schema_id, pairs, count, &t->channel);
    free(pairs);
    free(texts);
    return rc;
}

static int topic_open(struct mcap_export *x, unsigned index, size_t rows)
{
    struct topic *t = &x->topics[index];
    int rc = hil_trace_rows_open(&t->rows, x->trace, index, rows);

    if (rc)
        return rc;
    x->topic_count = index + 1;
    const struct hil_stream_config *stream = t->rows.stream;
    const int time = hil_trace_column_find(stream, "time_s");
    if (time < 0 || stream->columns[time].width != 1)
        return -EBADMSG;
    t->time = (unsigned)time;
    t->keys = calloc(stream->column_count, sizeof *t->keys);
    if (!t->keys)
        return -ENOMEM;
    for (unsigned i = 0; i < stream->column_count; i++)
        key_make(t, i);
    rc = schema_add(x, t);
    return rc ? rc : topic_add_channel(x, t);
}

static void topic_close(struct topic *t)
{
    hil_trace_rows_close(&t->rows);
    free(t->keys);
}

static size_t topic_message_bytes(const struct hil_stream_config *stream)
{
    size_t bytes = sizeof "{\"step\":}" + HIL_NUMBER_BYTES;

    for (unsigned i = 0; i < stream->column_count; i++)
        bytes += MCAP_NAME_BYTES + sizeof ",\"\":[]" +
                 (size_t)stream->columns[i].width * (HIL_NUMBER_BYTES + 1);
    return bytes;
}

/* --- messages ------------------------------------------------------------------------------ */

static char *message_number(char *to, double value)
{
    char text[HIL_NUMBER_BYTES];

    return stpcpy(to, isfinite(value) ? hil_number(text, value) : "null");
}

static char *message_column(char *to, const struct topic *t, unsigned column)
{
    const struct hil_column *c = &t->rows.stream->columns[column];
    const double *values = &t->rows.columns[column][t->row * c->width];

    to += sprintf(to, "%c\"%s\":", column ? ',' : ' ', t->keys[column]);
    if (!hil_column_is_matrix(c))
        return message_number(to, values[0]);
    for (unsigned i = 0; i < c->width; i++) {
        *to++ = i ? ',' : '[';
        to = message_number(to, values[i]);
    }
    return stpcpy(to, "]");
}

/* {"time_s":0.1,"current_a":[1,2],"step":3} */
static int message_write(struct mcap_export *x, const struct topic *t)
{
    char *to = x->message;

    for (unsigned i = 0; i < t->rows.stream->column_count; i++)
        if (!topic_leaves_out(t, i))
            to = message_column(to, t, i);
    if (t->rows.steps)
        to = message_number(stpcpy(to, ",\"step\":"), t->rows.steps[t->row]);
    x->message[0] = '{'; /* replaces the first comma */
    to = stpcpy(to, "}");
    x->written++;
    return hil_mcap_add(x->mcap, t->channel, t->t_ns, x->message, (size_t)(to - x->message));
}

/* --- events -------------------------------------------------------------------------------- */

enum { EVENT_MESSAGE_BYTES = 4096 };

static int events_open(struct mcap_export *x)
{
    unsigned stream, schema;

    if (!hil_trace_events(x->trace, &stream))
        return 0;
    int rc = hil_trace_events_read(&x->events, x->trace);
    if (rc)
        return rc;
    json_t *properties =
        json_pack("{s:o, s:o, s:{s:s}, s:{s:s}, s:{s:s}, s:o}", "time_s",
                  schema_number("since the start", "s"), "step",
                  schema_number("number of the step", ""), "node", "type", "string", "kind", "type",
                  "string", "of", "type", "string", "value", schema_number("by its kind", ""));
    char *text = schema_object(properties);
    rc = text ? hil_mcap_add_schema(x->mcap, HIL_EVENTS, text, &schema) : -ENOMEM;
    free(text);
    return rc ? rc
              : hil_mcap_add_channel(x->mcap, "/" HIL_EVENTS, schema, NULL, 0, &x->event_channel);
}

/* A name in quotes; if it comes from an untrusted file it is cut to fit. */
static char *message_text(char *to, const char *key, const char *text)
{
    char shown[MCAP_NAME_BYTES];

    hil_foreign_text(shown, sizeof shown, text, strlen(text));
    to += sprintf(to, ",\"%s\":\"", key);
    for (const char *c = shown; *c; c++) {
        if (*c == '"' || *c == '\\')
            *to++ = '\\';
        *to++ = *c;
    }
    return stpcpy(to, "\"");
}

static int event_write(struct mcap_export *x, const struct hil_trace_event *event)
{
    char message[EVENT_MESSAGE_BYTES];
    char *to = message_number(stpcpy(message, "{\"time_s\":"), event->time_s);

    to = message_number(stpcpy(to, ",\"step\":"), event->step);
    to = message_text(to, "node", event->node);
    to = message_text(to, "kind", event->kind);
    to = message_text(to, "of", event->of);
    to = stpcpy(message_number(stpcpy(to, ",\"value\":"), event->value), "}");
    x->written++;
    return hil_mcap_add(x->mcap, x->event_channel, topic_ns(event->time_s), message,
                        (size_t)(to - message));
}

/* Writes the events up to this time. */
static int events_write(struct mcap_export *x, uint64_t t_ns)
{
    int rc = 0;

    for (; !rc && x->event < x->events.count; x->event++) {
        if (topic_ns(x->events.at[x->event].time_s) > t_ns)
            return 0;
        rc = event_write(x, &x->events.at[x->event]);
    }
    return rc;
}

/* --- merging in order of time -------------------------------------------------------------- */

/* At the same time, topics keep the order of the record. */
static bool due_before(const struct topic *a, const struct topic *b)
{
    return a->t_ns != b->t_ns ? a->t_ns < b->t_ns : a < b;
}

static void due_sift(struct mcap_export *x, unsigned at)
{
    for (unsigned child; (child = 2 * at + 1) < x->due_count; at = child) {
        if (child + 1 < x->due_count && due_before(x->due[child + 1], x->due[child]))
            child++;
        if (!due_before(x->due[child], x->due[at]))
            return;
        struct topic *other = x->due[at];
        x->due[at] = x->due[child];
        x->due[child] = other;
    }
}

static int due_begin(struct mcap_export *x)
{
    for (unsigned i = 0; i < x->topic_count; i++) {
        const int rc = topic_next(&x->topics[i]);
        if (rc)
            return rc;
        if (x->topics[i].rows.count)
            x->due[x->due_count++] = &x->topics[i];
    }
    for (unsigned i = x->due_count; i-- > 0;)
        due_sift(x, i);
    return 0;
}

static int export_messages(struct mcap_export *x)
{
    int rc = due_begin(x);

    while (!rc && x->due_count) {
        rc = events_write(x, x->due[0]->t_ns);
        if (!rc)
            rc = message_write(x, x->due[0]);
        if (!rc)
            rc = topic_next(x->due[0]);
        if (x->due[0]->rows.count == 0)
            x->due[0] = x->due[--x->due_count];
        due_sift(x, 0);
    }
    return rc ? rc : events_write(x, UINT64_MAX);
}

/* --- the whole ----------------------------------------------------------------------------- */

static int export_attributes(struct mcap_export *x)
{
    static const char *const names[] = {"scenario", "mode", "fabric"};
    struct hil_mcap_pair pairs[3];
    char texts[3][MCAP_NAME_BYTES];

    for (unsigned i = 0; i < 3; i++) {
        const char *text = hil_trace_attribute(x->trace, names[i]);
        pairs[i] = (struct hil_mcap_pair){
            names[i], hil_foreign_text(texts[i], sizeof texts[i], text, strlen(text))};
    }
    return hil_mcap_add_metadata(x->mcap, "run", pairs, 3);
}

static int export_topics(struct mcap_export *x)
{
    unsigned count;
    const struct hil_stream_config *streams = hil_trace_streams(x->trace, &count);
    size_t width = 1, longest = 1;

    for (unsigned i = 0; i < count; i++) {
        const size_t bytes = topic_message_bytes(&streams[i]);
        width += hil_stream_width(&streams[i]);
        longest = bytes > longest ? bytes : longest;
    }
    const size_t rows = MCAP_ROWS_BYTES / sizeof(double) / width;
    x->topics = calloc(count + 1, sizeof *x->topics);
    x->due = calloc(count + 1, sizeof *x->due);
    x->message = malloc(longest);
    int rc = x->topics && x->due && x->message ? 0 : -ENOMEM;
    for (unsigned i = 0; i < count && !rc; i++)
        rc = topic_open(x, i, rows > MCAP_ROWS_LEAST ? rows : MCAP_ROWS_LEAST);
    return rc ? rc : events_open(x);
}

static int export_to(struct mcap_export *x, const char *path)
{
    int rc = hil_mcap_create(&x->mcap, path);

    if (rc)
        return rc;
    rc = export_attributes(x);
    if (!rc)
        rc = export_topics(x);
    if (!rc)
        rc = export_messages(x);
    const int closed = hil_mcap_close(x->mcap);
    for (unsigned i = 0; i < x->topic_count; i++)
        topic_close(&x->topics[i]);
    hil_trace_events_free(&x->events);
    free(x->topics);
    free(x->due);
    free(x->message);
    free(x->schema);
    return rc ? rc : closed;
}

/* The file has another name until it is complete. */
static int export_named(struct mcap_export *x, const char *path)
{
    char part[HIL_PATH_BYTES + 8];

    snprintf(part, sizeof part, "%s.part", path);
    int rc = export_to(x, part);
    if (!rc && rename(part, path) != 0)
        rc = -errno;
    if (rc)
        unlink(part);
    return rc;
}

int hil_export_mcap(const char *dir, const char *to, FILE *messages)
{
    struct mcap_export x = {0};
    char path[HIL_PATH_BYTES], shown[HIL_PATH_BYTES];
    int rc = hil_run_open_trace(&x.trace, dir, messages);
    if (rc)
        return rc;

    rc = hil_run_path(path, to ? to : dir, HIL_EXPORT_MCAP);
    if (!rc)
        rc = export_named(&x, path);
    hil_foreign_text(shown, sizeof shown, path, sizeof path);
    if (rc)
        fprintf(messages, "%s: %s\n", shown, strerror(-rc));
    else
        fprintf(messages, "%s: %llu messages on %u topics\n", shown, (unsigned long long)x.written,
                x.topic_count + (x.event_channel != 0));
    hil_trace_reader_close(x.trace);
    return rc;
}
