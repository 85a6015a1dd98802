#include "mcap.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "../base/list.h"
#include "../base/result_file.h"
#include "../base/version.h"

/* Record types, the first byte of each record. */
enum {
    MCAP_HEADER = 0x01,
    MCAP_FOOTER = 0x02,
    MCAP_SCHEMA = 0x03,
    MCAP_CHANNEL = 0x04,
    MCAP_MESSAGE = 0x05,
    MCAP_CHUNK = 0x06,
    MCAP_MESSAGE_INDEX = 0x07,
    MCAP_CHUNK_INDEX = 0x08,
    MCAP_STATISTICS = 0x0b,
    MCAP_METADATA = 0x0c,
    MCAP_METADATA_INDEX = 0x0d,
    MCAP_SUMMARY_OFFSET = 0x0e,
    MCAP_DATA_END = 0x0f,
};

/* A chunk ends with the message that reaches this size. */
enum { MCAP_CHUNK_BYTES = 1 << 20, MCAP_ZSTD_LEVEL = 1 };

static const uint8_t mcap_magic[] = {0x89, 'M', 'C', 'A', 'P', '0', '\r', '\n'};

/* A growing array of bytes. If memory runs out it stops growing. */
struct mcap_bytes {
    uint8_t *at;
    size_t used, room;
    bool failed;
};

struct mcap_entry {
    uint64_t t_ns, offset;
    uint16_t channel;
};

struct hil_mcap {
    FILE *file, *chunk_indices; /* an unnamed temporary file with records to be written after the
                                 * chunks */
    uint64_t at;                /* bytes written */
    uint32_t crc;               /* of the current section */
    int rc;
    ZSTD_CCtx *zstd;
    struct mcap_bytes chunk, packed, record;
    struct mcap_bytes schemas, channels, metadata_indices; /* copies for the summary */
    struct mcap_entry *entries;                            /* messages of the current chunk */
    size_t entry_count;
    uint64_t *counts; /* number of messages in each channel */
    uint64_t first_ns, last_ns, chunk_first_ns, chunk_last_ns;
    uint64_t message_count;
    unsigned schema_count, channel_count, chunk_count, metadata_count;
};

/* --- bytes --------------------------------------------------------------------------------- */

static void bytes_put(struct mcap_bytes *b, const void *data, size_t size)
{
    if (b->used + size > b->room && !b->failed) {
        const size_t room = 2 * (b->used + size);
        uint8_t *more = realloc(b->at, room);
        b->failed = !more;
        b->at = more ? more : b->at;
        b->room = more ? room : b->room;
    }
    if (b->failed || size == 0)
        return;
    memcpy(b->at + b->used, data, size);
    b->used += size;
}

/* Little-endian. */
static void bytes_number(struct mcap_bytes *b, uint64_t number, unsigned size)
{
    uint8_t bytes[8];

    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    bytes_put(b, bytes, size);
}

static void bytes_text(struct mcap_bytes *b, const char *text)
{
    bytes_number(b, strlen(text), 4);
    bytes_put(b, text, strlen(text));
}

/* A record or an array begins with its length, which is filled in at its end. */
static size_t bytes_begin(struct mcap_bytes *b, unsigned length_bytes)
{
    bytes_number(b, 0, length_bytes);
    return b->used;
}

static void bytes_end(struct mcap_bytes *b, size_t begin, unsigned length_bytes)
{
    const uint64_t length = b->used - begin;

    for (unsigned i = 0; !b->failed && i < length_bytes; i++)
        b->at[begin - length_bytes + i] = (uint8_t)(length >> (8 * i));
}

static size_t bytes_record(struct mcap_bytes *b, unsigned opcode)
{
    bytes_number(b, opcode, 1);
    return bytes_begin(b, 8);
}

static void bytes_map(struct mcap_bytes *b, const struct hil_mcap_pair *pairs, unsigned count)
{
    const size_t map = bytes_begin(b, 4);

    for (unsigned i = 0; i < count; i++) {
        bytes_text(b, pairs[i].key);
        bytes_text(b, pairs[i].text);
    }
    bytes_end(b, map, 4);
}

/* --- the file ------------------------------------------------------------------------------ */

static int mcap_fail(struct hil_mcap *m, int rc)
{
    if (!m->rc)
        m->rc = rc;
    return m->rc;
}

static int mcap_write(struct hil_mcap *m, const void *data, size_t size)
{
    if (!size)
        return m->rc;
    if (!m->rc)
        fwrite(data, 1, size, m->file);
    m->crc = (uint32_t)crc32_z(m->crc, data, size);
    m->at += size;
    return m->rc;
}

/* Writes the collected bytes, and clears them. */
static int mcap_write_bytes(struct hil_mcap *m, struct mcap_bytes *b)
{
    if (b->failed)
        mcap_fail(m, -ENOMEM);
    else
        mcap_write(m, b->at, b->used);
    b->used = 0;
    return m->rc;
}

int hil_mcap_create(struct hil_mcap **mcap, const char *path)
{
    struct hil_mcap *m = calloc(1, sizeof *m);
    char library[64];

    if (!m)
        return -ENOMEM;
    m->file = hil_result_create(path, &m->rc);
    if (!m->file) {
        const int rc = m->rc;
        free(m);
        return rc;
    }
    m->chunk_indices = tmpfile();
    if (!m->chunk_indices)
        mcap_fail(m, -errno);
    m->zstd = ZSTD_createCCtx();
    m->counts = calloc(HIL_MCAP_CHANNELS_MAX + 1, sizeof *m->counts);
    if (!m->zstd || !m->counts ||
        ZSTD_isError(ZSTD_CCtx_setParameter(m->zstd, ZSTD_c_compressionLevel, MCAP_ZSTD_LEVEL)))
        mcap_fail(m, -ENOMEM);
    mcap_write(m, mcap_magic, sizeof mcap_magic);
    const size_t header = bytes_record(&m->record, MCAP_HEADER);
    snprintf(library, sizeof library, "hiloco %s", hil_version);
    bytes_text(&m->record, ""); /* no profile */
    bytes_text(&m->record, library);
    bytes_end(&m->record, header, 8);
    mcap_write_bytes(m, &m->record);
    *mcap = m;
    return 0;
}

/* --- schemas, channels and metadata ---------------------------------------------------------- */

/* Writes the record, and keeps a copy for the summary. */
static int mcap_write_twice(struct hil_mcap *m, struct mcap_bytes *again)
{
    bytes_put(again, m->record.at, m->record.used);
    if (again->failed)
        mcap_fail(m, -ENOMEM);
    return mcap_write_bytes(m, &m->record);
}

int hil_mcap_add_metadata(struct hil_mcap *m, const char *name, const struct hil_mcap_pair *pairs,
                          unsigned count)
{
    const uint64_t offset = m->at;
    const size_t record = bytes_record(&m->record, MCAP_METADATA);

    bytes_text(&m->record, name);
    bytes_map(&m->record, pairs, count);
    bytes_end(&m->record, record, 8);
    const size_t index = bytes_record(&m->metadata_indices, MCAP_METADATA_INDEX);
    bytes_number(&m->metadata_indices, offset, 8);
    bytes_number(&m->metadata_indices, m->record.used, 8);
    bytes_text(&m->metadata_indices, name);
    bytes_end(&m->metadata_indices, index, 8);
    m->metadata_count++;
    return mcap_write_bytes(m, &m->record);
}

int hil_mcap_add_schema(struct hil_mcap *m, const char *name, const char *text, unsigned *id)
{
    if (m->schema_count == HIL_MCAP_CHANNELS_MAX)
        return mcap_fail(m, -E2BIG);
    *id = ++m->schema_count;
    const size_t record = bytes_record(&m->record, MCAP_SCHEMA);
    bytes_number(&m->record, *id, 2);
    bytes_text(&m->record, name);
    bytes_text(&m->record, "jsonschema");
    bytes_text(&m->record, text);
    bytes_end(&m->record, record, 8);
    return mcap_write_twice(m, &m->schemas);
}

int hil_mcap_add_channel(struct hil_mcap *m, const char *topic, unsigned schema,
                         const struct hil_mcap_pair *pairs, unsigned count, unsigned *channel)
{
    if (m->channel_count == HIL_MCAP_CHANNELS_MAX)
        return mcap_fail(m, -E2BIG);
    *channel = ++m->channel_count;
    const size_t record = bytes_record(&m->record, MCAP_CHANNEL);
    bytes_number(&m->record, *channel, 2);
    bytes_number(&m->record, schema, 2);
    bytes_text(&m->record, topic);
    bytes_text(&m->record, "json");
    bytes_map(&m->record, pairs, count);
    bytes_end(&m->record, record, 8);
    return mcap_write_twice(m, &m->channels);
}

/* --- chunks -------------------------------------------------------------------------------- */

static int entry_compare(const void *a, const void *b)
{
    const struct mcap_entry *one = a, *other = b;

    if (one->channel != other->channel)
        return one->channel < other->channel ? -1 : 1;
    return (one->offset > other->offset) - (one->offset < other->offset);
}

/* Writes the positions of each channel's messages, and adds them to the chunk's index. */
static void chunk_write_entries(struct hil_mcap *m, struct mcap_bytes *index)
{
    qsort(m->entries, m->entry_count, sizeof *m->entries, entry_compare);
    for (size_t i = 0; i < m->entry_count;) {
        const uint16_t channel = m->entries[i].channel;
        bytes_number(index, channel, 2);
        bytes_number(index, m->at, 8);
        const size_t record = bytes_record(&m->record, MCAP_MESSAGE_INDEX);
        bytes_number(&m->record, channel, 2);
        const size_t array = bytes_begin(&m->record, 4);
        for (; i < m->entry_count && m->entries[i].channel == channel; i++) {
            bytes_number(&m->record, m->entries[i].t_ns, 8);
            bytes_number(&m->record, m->entries[i].offset, 8);
        }
        bytes_end(&m->record, array, 4);
        bytes_end(&m->record, record, 8);
        mcap_write_bytes(m, &m->record);
    }
}

static int chunk_pack(struct hil_mcap *m)
{
    const size_t room = ZSTD_compressBound(m->chunk.used);

    m->packed.used = 0;
    if (room > m->packed.room) {
        free(m->packed.at);
        m->packed = (struct mcap_bytes){.at = malloc(room), .room = room};
        if (!m->packed.at) {
            m->packed.room = 0;
            return mcap_fail(m, -ENOMEM);
        }
    }
    m->packed.used = ZSTD_compress2(m->zstd, m->packed.at, room, m->chunk.at, m->chunk.used);
    return ZSTD_isError(m->packed.used) ? mcap_fail(m, -EIO) : 0;
}

static int chunk_keep_index(struct hil_mcap *m, struct mcap_bytes *index)
{
    errno = 0;
    if (index->failed)
        mcap_fail(m, -ENOMEM);
    else if (!m->rc && fwrite(index->at, 1, index->used, m->chunk_indices) != index->used)
        mcap_fail(m, errno ? -errno : -EIO);
    index->used = 0;
    return m->rc;
}

/* Writes the chunk with its indices, and begins another. */
static int chunk_end(struct hil_mcap *m)
{
    static const char compression[] = "zstd";
    struct mcap_bytes index = {0};
    const uint64_t offset = m->at, size = m->chunk.used;

    if (m->chunk.failed)
        mcap_fail(m, -ENOMEM);
    if (m->rc || m->entry_count == 0 || chunk_pack(m))
        return m->rc;
    const size_t record = bytes_record(&m->record, MCAP_CHUNK);
    bytes_number(&m->record, m->chunk_first_ns, 8);
    bytes_number(&m->record, m->chunk_last_ns, 8);
    bytes_number(&m->record, size, 8);
    bytes_number(&m->record, crc32_z(0, m->chunk.at, size), 4);
    bytes_text(&m->record, compression);
    const size_t records = bytes_begin(&m->record, 8);
    bytes_put(&m->record, m->packed.at, m->packed.used);
    bytes_end(&m->record, records, 8);
    bytes_end(&m->record, record, 8);
    mcap_write_bytes(m, &m->record);

    const uint64_t behind = m->at;
    const size_t entry = bytes_record(&index, MCAP_CHUNK_INDEX);
    bytes_number(&index, m->chunk_first_ns, 8);
    bytes_number(&index, m->chunk_last_ns, 8);
    bytes_number(&index, offset, 8);
    bytes_number(&index, behind - offset, 8);
    const size_t map = bytes_begin(&index, 4);
    chunk_write_entries(m, &index);
    bytes_end(&index, map, 4);
    bytes_number(&index, m->at - behind, 8);
    bytes_text(&index, compression);
    bytes_number(&index, m->packed.used, 8);
    bytes_number(&index, size, 8);
    bytes_end(&index, entry, 8);
    chunk_keep_index(m, &index);
    free(index.at);
    m->chunk.used = 0;
    m->entry_count = 0;
    m->chunk_count++;
    return m->rc;
}

static int chunk_note(struct hil_mcap *m, unsigned channel, uint64_t t_ns)
{
    struct mcap_entry *more = hil_list_more(m->entries, m->entry_count, sizeof *more);

    if (!more)
        return mcap_fail(m, -ENOMEM);
    m->entries = more;
    if (m->entry_count == 0)
        m->chunk_first_ns = m->chunk_last_ns = t_ns;
    m->chunk_first_ns = t_ns < m->chunk_first_ns ? t_ns : m->chunk_first_ns;
    m->chunk_last_ns = t_ns > m->chunk_last_ns ? t_ns : m->chunk_last_ns;
    m->entries[m->entry_count++] =
        (struct mcap_entry){.t_ns = t_ns, .offset = m->chunk.used, .channel = (uint16_t)channel};
    return 0;
}

int hil_mcap_add(struct hil_mcap *m, unsigned channel, uint64_t t_ns, const void *data, size_t size)
{
    if (m->rc || chunk_note(m, channel, t_ns))
        return m->rc;
    if (m->message_count == 0)
        m->first_ns = m->last_ns = t_ns;
    m->first_ns = t_ns < m->first_ns ? t_ns : m->first_ns;
    m->last_ns = t_ns > m->last_ns ? t_ns : m->last_ns;
    const size_t record = bytes_record(&m->chunk, MCAP_MESSAGE);
    bytes_number(&m->chunk, channel, 2);
    bytes_number(&m->chunk, m->counts[channel]++, 4);
    bytes_number(&m->chunk, t_ns, 8); /* recorded */
    bytes_number(&m->chunk, t_ns, 8); /* published */
    bytes_put(&m->chunk, data, size);
    bytes_end(&m->chunk, record, 8);
    m->message_count++;
    return m->chunk.used < MCAP_CHUNK_BYTES ? m->rc : chunk_end(m);
}

/* --- the summary --------------------------------------------------------------------------- */

static void summary_statistics(struct hil_mcap *m)
{
    const size_t record = bytes_record(&m->record, MCAP_STATISTICS);

    bytes_number(&m->record, m->message_count, 8);
    bytes_number(&m->record, m->schema_count, 2);
    bytes_number(&m->record, m->channel_count, 4);
    bytes_number(&m->record, 0, 4); /* attachments */
    bytes_number(&m->record, m->metadata_count, 4);
    bytes_number(&m->record, m->chunk_count, 4);
    bytes_number(&m->record, m->first_ns, 8);
    bytes_number(&m->record, m->last_ns, 8);
    const size_t map = bytes_begin(&m->record, 4);
    for (unsigned i = 1; i <= m->channel_count; i++) {
        bytes_number(&m->record, i, 2);
        bytes_number(&m->record, m->counts[i], 8);
    }
    bytes_end(&m->record, map, 4);
    bytes_end(&m->record, record, 8);
    mcap_write_bytes(m, &m->record);
}

static void summary_chunk_indices(struct hil_mcap *m)
{
    char block[65536];
    size_t got;

    if (m->rc || fflush(m->chunk_indices) || fseek(m->chunk_indices, 0, SEEK_SET)) {
        mcap_fail(m, -EIO);
        return;
    }
    while ((got = fread(block, 1, sizeof block, m->chunk_indices)) > 0)
        mcap_write(m, block, got);
    if (ferror(m->chunk_indices))
        mcap_fail(m, -EIO);
}

/* Records the position of the group that was written since `start`. */
static void summary_group(struct hil_mcap *m, struct mcap_bytes *offsets, unsigned opcode,
                          uint64_t *start)
{
    if (m->at > *start) {
        const size_t record = bytes_record(offsets, MCAP_SUMMARY_OFFSET);
        bytes_number(offsets, opcode, 1);
        bytes_number(offsets, *start, 8);
        bytes_number(offsets, m->at - *start, 8);
        bytes_end(offsets, record, 8);
    }
    *start = m->at;
}

static void summary_write(struct hil_mcap *m)
{
    struct mcap_bytes offsets = {0};
    const uint64_t summary = m->at;
    uint64_t start = summary;

    m->crc = 0;
    mcap_write_bytes(m, &m->schemas);
    summary_group(m, &offsets, MCAP_SCHEMA, &start);
    mcap_write_bytes(m, &m->channels);
    summary_group(m, &offsets, MCAP_CHANNEL, &start);
    summary_chunk_indices(m);
    summary_group(m, &offsets, MCAP_CHUNK_INDEX, &start);
    mcap_write_bytes(m, &m->metadata_indices);
    summary_group(m, &offsets, MCAP_METADATA_INDEX, &start);
    summary_statistics(m);
    summary_group(m, &offsets, MCAP_STATISTICS, &start);
    mcap_write_bytes(m, &offsets);
    free(offsets.at);

    /* The checksum covers the summary, and the footer up to the checksum. */
    bytes_number(&m->record, MCAP_FOOTER, 1);
    bytes_number(&m->record, 8 + 8 + 4, 8);
    bytes_number(&m->record, summary, 8);
    bytes_number(&m->record, start, 8);
    mcap_write_bytes(m, &m->record);
    bytes_number(&m->record, m->crc, 4);
    mcap_write_bytes(m, &m->record);
    mcap_write(m, mcap_magic, sizeof mcap_magic);
}

static void data_end(struct hil_mcap *m)
{
    const uint32_t crc = m->crc;
    const size_t record = bytes_record(&m->record, MCAP_DATA_END);

    bytes_number(&m->record, crc, 4);
    bytes_end(&m->record, record, 8);
    mcap_write_bytes(m, &m->record);
}

int hil_mcap_close(struct hil_mcap *m)
{
    struct mcap_bytes *const bytes[] = {&m->chunk,   &m->packed,   &m->record,
                                        &m->schemas, &m->channels, &m->metadata_indices};

    if (chunk_end(m) == 0) {
        data_end(m);
        summary_write(m);
    }
    fclose(m->file);
    if (m->chunk_indices)
        fclose(m->chunk_indices);
    const int rc = m->rc;
    for (size_t i = 0; i < sizeof bytes / sizeof bytes[0]; i++)
        free(bytes[i]->at);
    ZSTD_freeCCtx(m->zstd);
    free(m->entries);
    free(m->counts);
    free(m);
    return rc;
}
