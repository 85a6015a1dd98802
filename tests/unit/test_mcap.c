/*
 * Reads trace.mcap back with an independent reader of the format (https://mcap.dev/spec), and
 * checks its records and their lengths, its checksums, its summary, and the numbers of the record.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "folder.h"
#include "harness/h5/trace.h"
#include "harness/record/export_mcap.h"

TestSuite(mcap, .init = folder_open, .fini = folder_close);

static char said[512];

static int export(void)
{
    FILE *messages = fmemopen(said, sizeof said, "w");
    const int rc = hil_export_mcap(folder, NULL, messages);

    fclose(messages);
    return rc;
}

/* --- bytes ------------------------------------------------------------------------------------ */

struct span {
    const uint8_t *at, *end;
};

static struct span span_of(struct span *s, uint64_t size)
{
    cr_assert_leq(size, (uint64_t)(s->end - s->at), "it ends too early");
    const struct span taken = {s->at, s->at + size};
    s->at += size;
    return taken;
}

static uint64_t number(struct span *s, unsigned size)
{
    const struct span bytes = span_of(s, size);
    uint64_t value = 0;

    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)bytes.at[i] << (8 * i);
    return value;
}

/* A few results can be held at a time. */
static const char *text(struct span *s)
{
    static char texts[8][4096];
    static unsigned next;
    const struct span bytes = span_of(s, number(s, 4));
    char *to = texts[next++ % 8];

    snprintf(to, 4096, "%.*s", (int)(bytes.end - bytes.at), (const char *)bytes.at);
    return to;
}

static struct span array(struct span *s)
{
    return span_of(s, number(s, 4));
}

/* --- the content read back -------------------------------------------------------------------- */

enum { CHANNELS_MAX = 8, CHUNKS_MAX = 64, MESSAGES_MAX = 200000 };

struct message {
    unsigned channel, sequence;
    uint64_t t_ns, offset; /* of its record, in the chunk */
    json_t *data;
};

static struct read {
    struct span file;
    struct message *messages;
    unsigned message_count, schema_count, channel_count, chunk_count, metadata_count, index_count;
    unsigned chunk_begin; /* index of its first message */
    char topics[CHANNELS_MAX][64], signals[CHANNELS_MAX][256], schemas[CHANNELS_MAX][4096];
    unsigned schema_of[CHANNELS_MAX];
    uint64_t chunks[CHUNKS_MAX], chunk_lengths[CHUNKS_MAX], counts[CHANNELS_MAX];
} r;

static uint64_t offset_of(const uint8_t *at)
{
    return (uint64_t)(at - r.file.at);
}

static void read_schema(struct span s)
{
    const uint64_t id = number(&s, 2);

    cr_assert(id >= 1 && id < CHANNELS_MAX);
    text(&s); /* its name */
    cr_expect_str_eq(text(&s), "jsonschema");
    snprintf(r.schemas[id], sizeof r.schemas[id], "%s", text(&s));
    cr_expect_eq(s.at, s.end);
    r.schema_count++;
}

static void read_channel(struct span s)
{
    const uint64_t id = number(&s, 2);

    cr_assert(id >= 1 && id < CHANNELS_MAX);
    r.schema_of[id] = (unsigned)number(&s, 2);
    cr_assert(r.schema_of[id] >= 1 && r.schema_of[id] <= r.schema_count);
    snprintf(r.topics[id], sizeof r.topics[id], "%s", text(&s));
    cr_expect_str_eq(text(&s), "json");
    for (struct span map = array(&s); map.at < map.end;) {
        const char *key = text(&map), *value = text(&map);
        const size_t used = strlen(r.signals[id]);
        snprintf(r.signals[id] + used, sizeof r.signals[id] - used, "%s=%s;", key, value);
    }
    cr_expect_eq(s.at, s.end);
    r.channel_count++;
}

static void read_message(struct span s, uint64_t offset)
{
    cr_assert_lt(r.message_count, MESSAGES_MAX);
    struct message *m = &r.messages[r.message_count++];

    *m = (struct message){.offset = offset};
    m->channel = (unsigned)number(&s, 2);
    m->sequence = (unsigned)number(&s, 4);
    m->t_ns = number(&s, 8);
    cr_assert_eq(number(&s, 8), m->t_ns);
    cr_assert(m->channel >= 1 && m->channel <= r.channel_count);
    cr_assert_eq(m->sequence, r.counts[m->channel]++);
    json_error_t error;
    m->data = json_loadb((const char *)s.at, (size_t)(s.end - s.at), 0, &error);
    cr_assert_not_null(m->data, "%s: %.*s", error.text, (int)(s.end - s.at), (const char *)s.at);
}

static void read_chunk(struct span s, uint64_t at, uint64_t length)
{
    const uint64_t first = number(&s, 8), last = number(&s, 8), size = number(&s, 8);
    const uint64_t crc = number(&s, 4);
    uint8_t *records = malloc(size + 1);

    cr_assert_lt(r.chunk_count, CHUNKS_MAX);
    r.chunks[r.chunk_count] = at;
    r.chunk_lengths[r.chunk_count++] = length;
    cr_expect_str_eq(text(&s), "zstd");
    const struct span packed = span_of(&s, number(&s, 8));
    cr_expect_eq(s.at, s.end);
    cr_assert_eq(ZSTD_decompress(records, size, packed.at, (size_t)(packed.end - packed.at)), size);
    cr_assert_eq(crc32_z(0, records, size), crc);

    r.chunk_begin = r.message_count;
    for (struct span all = {records, records + size}; all.at < all.end;) {
        const uint64_t offset = (uint64_t)(all.at - records);
        cr_assert_eq(number(&all, 1), 5);
        read_message(span_of(&all, number(&all, 8)), offset);
    }
    cr_assert_gt(r.message_count, r.chunk_begin);
    cr_expect_eq(r.messages[r.chunk_begin].t_ns, first);
    cr_expect_eq(r.messages[r.message_count - 1].t_ns, last);
    free(records);
}

/* The entries are those of the channel's messages in the preceding chunk. */
static void read_message_index(struct span s)
{
    const uint64_t channel = number(&s, 2);
    struct span entries = array(&s);

    for (unsigned i = r.chunk_begin; i < r.message_count; i++) {
        const struct message *m = &r.messages[i];
        if (m->channel != channel)
            continue;
        cr_assert_eq(number(&entries, 8), m->t_ns);
        cr_assert_eq(number(&entries, 8), m->offset);
        r.index_count++;
    }
    cr_expect_eq(entries.at, entries.end);
}

static void read_data(struct span *file)
{
    for (;;) {
        const uint8_t *at = file->at;
        const uint64_t opcode = number(file, 1);
        struct span s = span_of(file, number(file, 8));
        if (opcode == 3)
            read_schema(s);
        else if (opcode == 4)
            read_channel(s);
        else if (opcode == 6)
            read_chunk(s, offset_of(at), (uint64_t)(s.end - at));
        else if (opcode == 7)
            read_message_index(s);
        else if (opcode == 0x0c)
            r.metadata_count++;
        else
            cr_assert(opcode == 1 || opcode == 0x0f, "a record %u", (unsigned)opcode);
        if (opcode != 0x0f)
            continue;
        cr_expect_eq(number(&s, 4), crc32_z(0, r.file.at, (size_t)(at - r.file.at)));
        return;
    }
}

/* --- the summary ------------------------------------------------------------------------------ */

static void read_chunk_index(struct span s, unsigned i)
{
    number(&s, 8); /* the times of its messages, which the chunk has too */
    number(&s, 8);
    cr_expect_eq(number(&s, 8), r.chunks[i]);
    cr_expect_eq(number(&s, 8), r.chunk_lengths[i]);
    uint64_t first = UINT64_MAX, behind = 0;
    for (struct span map = array(&s); map.at < map.end;) {
        const uint64_t channel = number(&map, 2), offset = number(&map, 8);
        struct span record = {r.file.at + offset, r.file.end};
        cr_expect_eq(number(&record, 1), 7);
        const uint64_t length = number(&record, 8);
        cr_expect_eq(number(&record, 2), channel);
        first = offset < first ? offset : first;
        behind = offset + 9 + length;
    }
    cr_expect_eq(first, r.chunks[i] + r.chunk_lengths[i]);
    cr_expect_eq(number(&s, 8), behind - first);
    cr_expect_str_eq(text(&s), "zstd");
}

static void read_statistics(struct span s)
{
    cr_expect_eq(number(&s, 8), r.message_count);
    cr_expect_eq(number(&s, 2), r.schema_count);
    cr_expect_eq(number(&s, 4), r.channel_count);
    cr_expect_eq(number(&s, 4), 0);
    cr_expect_eq(number(&s, 4), r.metadata_count);
    cr_expect_eq(number(&s, 4), r.chunk_count);
    cr_expect_eq(number(&s, 8), r.message_count ? r.messages[0].t_ns : 0);
    cr_expect_eq(number(&s, 8), r.message_count ? r.messages[r.message_count - 1].t_ns : 0);
    for (struct span map = array(&s); map.at < map.end;) {
        const uint64_t channel = number(&map, 2);
        cr_expect_eq(number(&map, 8), r.counts[channel]);
    }
}

static void read_summary(struct span summary, uint64_t offsets_at)
{
    unsigned chunks = 0, groups = 0;
    uint64_t of[16] = {0}, begin[16] = {0}, length[16] = {0};

    while (summary.at < summary.end) {
        const uint8_t *at = summary.at;
        const uint64_t opcode = number(&summary, 1);
        struct span s = span_of(&summary, number(&summary, 8));
        cr_assert_lt(opcode, 16);
        if (offset_of(at) >= offsets_at) {
            cr_assert_eq(opcode, 0x0e);
            const uint64_t group = number(&s, 1);
            cr_expect_eq(number(&s, 8), begin[group]);
            cr_expect_eq(number(&s, 8), length[group]);
            groups++;
            continue;
        }
        if (of[opcode]++ == 0)
            begin[opcode] = offset_of(at);
        cr_expect_eq(begin[opcode] + length[opcode], offset_of(at), "a group is apart");
        length[opcode] += (uint64_t)(s.end - at);
        if (opcode == 8)
            read_chunk_index(s, chunks++);
        if (opcode == 0x0b)
            read_statistics(s);
    }
    cr_expect_eq(of[3], r.schema_count);
    cr_expect_eq(of[4], r.channel_count);
    cr_expect_eq(of[8], r.chunk_count);
    cr_expect_eq(of[0x0b], 1);
    cr_expect_eq(of[0x0d], r.metadata_count);
    cr_expect_eq(groups, 4 + (r.chunk_count > 0) - (r.schema_count == 0) - (r.channel_count == 0));
}

static void read_file(void)
{
    static const uint8_t magic[] = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};
    FILE *file = fopen(in_folder("trace.mcap"), "r");

    cr_assert_not_null(file);
    fseek(file, 0, SEEK_END);
    const size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(size);
    cr_assert_eq(fread(bytes, 1, size, file), size);
    fclose(file);
    r = (struct read){.file = {bytes, bytes + size},
                      .messages = calloc(MESSAGES_MAX, sizeof(struct message))};

    struct span s = r.file, footer = {r.file.end - 8 - 29, r.file.end - 8};
    cr_assert_eq(memcmp(span_of(&s, 8).at, magic, 8), 0);
    cr_assert_eq(memcmp(footer.end, magic, 8), 0);
    cr_expect_eq(*s.at, 1); /* the header */
    read_data(&s);

    const uint8_t *const end = footer.at;
    cr_expect_eq(number(&footer, 1), 2);
    cr_expect_eq(number(&footer, 8), 20);
    const uint64_t summary = number(&footer, 8), offsets = number(&footer, 8);
    cr_expect_eq(offset_of(s.at), summary);
    cr_expect_eq(crc32_z(0, s.at, (size_t)(footer.at - s.at)), number(&footer, 4));
    read_summary((struct span){s.at, end}, offsets);
    cr_expect_eq(r.index_count, r.message_count);
    for (unsigned i = 1; i < r.message_count; i++)
        cr_assert_geq(r.messages[i].t_ns, r.messages[i - 1].t_ns, "message %u is late", i);
}

static void expect_message(unsigned i, const char *topic, uint64_t t_ns, const char *data)
{
    const struct message *m = &r.messages[i];
    char *is = json_dumps(m->data, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_t *expected = json_loads(data, 0, NULL);

    cr_expect_str_eq(r.topics[m->channel], topic);
    cr_expect_eq(m->t_ns, t_ns);
    cr_expect(json_equal(m->data, expected), "%u is %s\nexpected %s", i, is, data);
    json_decref(expected);
    free(is);
}

static void write_trace(const struct hil_stream_config *streams, unsigned count, bool whole,
                        const double *const *rows, const size_t *row_counts)
{
    const struct hil_attribute attributes[] = {{"scenario", "test"}, {"mode", "virtual"}};
    struct hil_trace *trace;

    cr_assert_eq(hil_trace_create(&trace, in_folder("trace.h5"),
                                  &(struct hil_trace_config){.streams = streams,
                                                             .stream_count = count,
                                                             .attributes = attributes,
                                                             .attribute_count = 2,
                                                             .whole = whole}),
                 0);
    for (unsigned i = 0; i < count; i++)
        cr_assert_eq(hil_trace_append(trace, i, rows[i], row_counts[i]), 0);
    cr_assert_eq(hil_trace_close(trace), 0);
}

/* --- the content of the file ------------------------------------------------------------------ */

/* Among messages with the same time, the first stream's come first. */
Test(mcap, the_rows_of_all_nodes_in_the_order_of_time)
{
    static const struct hil_column hub[] = {
        {"time_s", "s", "since the start", 1, {0}},
        {"output_v", "V", "what it gives", 1, {.signals = "stage.output_v"}},
        {"duty", "", "", 2, {.signals = "cell[*].duty"}}};
    static const struct hil_column cell[] = {
        {"time_s", "s", "since the start", 1, {0}},
        {"voltage_v", "V", "of the cell", 1, {.signals = "cell[0].voltage_v"}}};
    const struct hil_stream_config streams[] = {
        {"hub", hub, 3, 2, 0, {.period_ns = 2000, .decimation = 1}},
        {"cell/000", cell, 2, 3, 0, {.period_ns = 1000, .decimation = 1}},
        {"cell/001", cell, 2, 0, 0, {.period_ns = 1000, .decimation = 1}}};
    const double first[] = {0, 240, 0.1, 1.0 / 3, 2e-6, -1e300, 0.30000000000000004, NAN};
    const double second[] = {0, 1, 1e-6, 2, 2e-6, INFINITY};

    write_trace(streams, 3, true, (const double *const[]){first, second, second},
                (const size_t[]){2, 3, 0});
    cr_assert_eq(export(), 0, "%s", said);
    cr_expect(strstr(said, "trace.mcap: 5 messages on 3 topics\n"), "%s", said);
    read_file();
    cr_assert_eq(r.message_count, 5);
    cr_expect_eq(r.chunk_count, 1);
    cr_expect_eq(r.schema_count, 2); /* both cells share one */
    cr_expect_eq(r.channel_count, 3);
    expect_message(0, "/hub", 0,
                   "{\"time_s\":0,\"output_v\":240,\"duty\":[0.1,0.33333333333333331],\"step\":0}");
    expect_message(1, "/cell/000", 0, "{\"time_s\":0,\"voltage_v\":1,\"step\":0}");
    expect_message(2, "/cell/000", 1000, "{\"time_s\":1e-6,\"voltage_v\":2,\"step\":1}");
    expect_message(
        3, "/hub", 2000,
        "{\"time_s\":2e-6,\"output_v\":-1e300,\"duty\":[0.30000000000000004,null],\"step\":1}");
    expect_message(4, "/cell/000", 2000, "{\"time_s\":2e-6,\"voltage_v\":null,\"step\":2}");
    cr_expect_str_eq(r.signals[1], "output_v=stage.output_v;duty=cell[*].duty;");
    cr_expect_str_eq(
        r.schemas[2],
        "{\"type\":\"object\",\"properties\":{\"time_s\":{\"type\":\"number\",\"description\":"
        "\"since the start\",\"unit\":\"s\"},\"voltage_v\":{\"type\":\"number\",\"description\":"
        "\"of the cell\",\"unit\":\"V\"},\"step\":{\"type\":\"number\",\"description\":\"number of "
        "the step\"}}}");
    cr_expect(strstr(r.schemas[1], "\"duty\":{\"type\":\"array\",\"items\":{\"type\":\"number\""));
}

/* In real time, each recorded step is there once. */
Test(mcap, steps_are_those_of_the_record)
{
    static const struct hil_column columns[] = {
        {"time_s", "s", "", 1, {0}}, {"step", "", "", 1, {0}}, {"speed", "", "", 1, {0}}};
    const struct hil_stream_config stream = {"hub", columns, 3,
                                             2,     0,       {.period_ns = 1000, .decimation = 2}};
    const double rows[] = {1e-6, 0, 11, 6.5e-6, 6, 12};

    write_trace(&stream, 1, false, (const double *const[]){rows}, (const size_t[]){2});
    cr_assert_eq(export(), 0, "%s", said);
    read_file();
    expect_message(0, "/hub", 1000, "{\"time_s\":1e-6,\"speed\":11,\"step\":0}");
    expect_message(1, "/hub", 6500, "{\"time_s\":6.5e-6,\"speed\":12,\"step\":6}");
}

/* Several chunks, and more rows than are in memory at once. */
Test(mcap, a_long_record)
{
    enum { ROWS = 60000 };
    static const struct hil_column columns[] = {{"time_s", "s", "", 1, {0}}, {"n", "", "", 1, {0}}};
    const struct hil_stream_config streams[] = {{"a", columns, 2, ROWS, 0, {0}},
                                                {"b", columns, 2, ROWS, 0, {0}}};
    double *rows = calloc(2 * ROWS, sizeof *rows);

    for (unsigned i = 0; i < ROWS; i++) {
        rows[2 * i] = i * 1e-5;
        rows[2 * i + 1] = i;
    }
    struct hil_trace *trace;
    const struct hil_trace_config config = {.streams = streams, .stream_count = 2};
    cr_assert_eq(hil_trace_create(&trace, in_folder("trace.h5"), &config), 0);
    for (unsigned s = 0; s < 2; s++)
        for (unsigned i = 0; i < ROWS; i += 100)
            cr_assert_eq(hil_trace_append(trace, s, &rows[2 * i], 100), 0);
    cr_assert_eq(hil_trace_close(trace), 0);
    cr_assert_eq(export(), 0, "%s", said);
    read_file();
    cr_assert_eq(r.message_count, 2 * ROWS);
    cr_expect_gt(r.chunk_count, 3);
    for (unsigned i = 0; i < 2 * ROWS; i++) {
        cr_assert_eq(r.messages[i].channel, i % 2 + 1);
        cr_assert_eq(r.messages[i].t_ns, (uint64_t)(i / 2) * 10000);
        cr_assert_eq(json_number_value(json_object_get(r.messages[i].data, "n")), i / 2);
    }
    free(rows);
}

Test(mcap, names_that_no_program_has_to_quote)
{
    static const struct hil_column columns[] = {{"time_s", "s", "", 1, {0}},
                                                {"cell[0-3].voltage_v", "V", "", 2, {0}},
                                                {"cell_0_3_voltage_v", "V", "", 1, {0}},
                                                {"\"", "", "say \"\\\"", 1, {0}}};
    const struct hil_stream_config stream = {"hub", columns, 4, 1, 0, {0}};
    const double row[] = {0, 1, 2, 3, 4};

    write_trace(&stream, 1, false, (const double *const[]){row}, (const size_t[]){1});
    cr_assert_eq(export(), 0, "%s", said);
    read_file();
    expect_message(0, "/hub", 0,
                   "{\"time_s\":0,\"cell_0_3_voltage_v\":[1,2],\"cell_0_3_voltage_v_2\":3,"
                   "\"column\":4}");
}

/* Events come before the rows of the same time. Events before the start have time 0. */
Test(mcap, events_are_a_topic)
{
    static const struct hil_column hub[] = {{"time_s", "s", "", 1, {0}}};
    static const struct hil_column events[] = {{"time_s", "s", "", 1, {0}},
                                               {"step", "", "", 1, {0}},
                                               {"node", "", "", 1, {.names = "hub\ncell[1]"}},
                                               {"kind", "", "", 1, {.names = "stale\na \"b\\"}},
                                               {"of", "", "", 1, {.names = "\ncell[*].input[#]"}},
                                               {"index", "", "", 1, {0}},
                                               {"place", "", "", 1, {0}},
                                               {"value", "", "", 1, {.names = "\n"}}};
    const struct hil_stream_config streams[] = {{"hub", hub, 1, 2, 0, {0}},
                                                {"events", events, 8, 3, 0, {0}}};
    const double rows[] = {1e-6, 3e-6};
    const double happened[] = {-1e-6, 0, 0, 0,   0,    0, 0, 0.25, 3e-6, 2, 1, 1,
                               1,     4, 2, NAN, 5e-6, 3, 0, 0,    0,    0, 0, 1};

    write_trace(streams, 2, false, (const double *const[]){rows, happened}, (const size_t[]){2, 3});
    cr_assert_eq(export(), 0, "%s", said);
    cr_expect(strstr(said, "trace.mcap: 5 messages on 2 topics\n"), "%s", said);
    read_file();
    cr_assert_eq(r.message_count, 5);
    expect_message(0, "/events", 0,
                   "{\"time_s\":-1e-6,\"step\":0,\"node\":\"hub\",\"kind\":\"stale\",\"of\":\"\","
                   "\"value\":0.25}");
    cr_expect_str_eq(r.topics[r.messages[1].channel], "/hub");
    expect_message(2, "/events", 3000,
                   "{\"time_s\":3e-6,\"step\":2,\"node\":\"cell[1]\",\"kind\":\"a \\\"b\\\\\","
                   "\"of\":\"cell[4].input[2]\",\"value\":null}");
    cr_expect_str_eq(r.topics[r.messages[3].channel], "/hub");
    expect_message(4, "/events", 5000,
                   "{\"time_s\":5e-6,\"step\":3,\"node\":\"hub\",\"kind\":\"stale\",\"of\":\"\","
                   "\"value\":1}");
    cr_expect(strstr(r.schemas[2], "\"kind\":{\"type\":\"string\"}"), "%s", r.schemas[2]);
}

Test(mcap, a_record_without_rows)
{
    static const struct hil_column columns[] = {{"time_s", "s", "", 1, {0}}};
    const struct hil_stream_config stream = {"hub", columns, 1, 0, 0, {0}};

    write_trace(&stream, 1, false, (const double *const[]){NULL}, (const size_t[]){0});
    cr_assert_eq(export(), 0, "%s", said);
    read_file();
    cr_expect_eq(r.message_count, 0);
    cr_expect_eq(r.channel_count, 1);
}

/* An existing file is not lost, and no partial file remains. */
Test(mcap, what_cannot_be_exported)
{
    static const struct hil_column columns[] = {{"n", "", "", 1, {0}}};
    const struct hil_stream_config stream = {"hub", columns, 1, 1, 0, {0}};
    const double row[] = {1};

    cr_expect_eq(export(), -ENOENT);
    write_trace(&stream, 1, false, (const double *const[]){row}, (const size_t[]){1});
    put("trace.mcap", "before");
    cr_expect_eq(export(), -EBADMSG);
    cr_expect(strstr(said, "trace.mcap: "), "%s", said);
    FILE *file = fopen(in_folder("trace.mcap"), "r");
    char line[16] = "";
    cr_assert(fgets(line, sizeof line, file));
    cr_expect_str_eq(line, "before\n");
    fclose(file);
    cr_expect_null(fopen(in_folder("trace.mcap.part"), "r"));
}
