#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/result_file.h"
#include "journal_block.h"
#include "journal_text.h"

/* A block has at most so many bytes of rows, unless a single row is longer. */
enum { HEAD_BYTES_MAX = 64 << 20, BLOCK_BYTES = 1 << 20, TEXT_BYTES_MAX = 64 << 20 };

static const char MAGIC[8] = "hljrnl2";

struct head {
    char magic[sizeof MAGIC];
    uint64_t text_bytes; /* length of the configuration that follows */
};

struct stream {
    uint64_t width, chunk_rows;
    uint64_t rows;
    uint64_t *last; /* of each chunk: the offset of its last block */
    size_t last_room;
};

struct hil_journal {
    int file;
    struct hil_trace_config *config;
    struct stream *streams;
    uint64_t end;  /* offset of the block after the last one that was seen or appended */
    uint64_t text; /* offset of the histograms; 0: none */
    bool damaged;
    struct block_buffer buffer;
};

static int journal_path(char path[PATH_MAX], const char *trace)
{
    return snprintf(path, PATH_MAX, "%s.journal", trace) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* --- the file ------------------------------------------------------------------------------ */

static int write_all(int file, const void *from, uint64_t bytes, uint64_t at)
{
    const char *next = from;

    while (bytes > 0) {
        const ssize_t done = pwrite(file, next, bytes, (off_t)at);
        if (done < 0 && errno != EINTR)
            return -errno;
        if (done < 0)
            continue;
        next += done;
        at += (uint64_t)done;
        bytes -= (uint64_t)done;
    }
    return 0;
}

/* Returns -EBADMSG if the file ends too early. */
static int read_all(int file, void *to, uint64_t bytes, uint64_t at)
{
    char *next = to;

    while (bytes > 0) {
        const ssize_t done = pread(file, next, bytes, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? -errno : -EBADMSG;
        next += done;
        at += (uint64_t)done;
        bytes -= (uint64_t)done;
    }
    return 0;
}

/* --- what blocks there are ----------------------------------------------------------------- */

static int set_up_streams(struct hil_journal *j)
{
    const struct hil_trace_config *config = j->config;

    j->streams = calloc(config->stream_count + 1, sizeof *j->streams);
    if (!j->streams)
        return -ENOMEM;
    for (unsigned i = 0; i < config->stream_count; i++) {
        j->streams[i].width = hil_stream_width(&config->streams[i]);
        j->streams[i].chunk_rows = config->streams[i].chunk_rows;
    }
    return 0;
}

/* The offset of the last block of the stream's last chunk; 0 when the next row begins a chunk. */
static uint64_t block_before(const struct stream *s)
{
    return s->rows % s->chunk_rows ? s->last[s->rows / s->chunk_rows] : 0;
}

static int make_room_for_chunk(struct stream *s, uint64_t chunk)
{
    if (chunk < s->last_room)
        return 0;
    const size_t room = 2 * s->last_room + 16;
    uint64_t *last = realloc(s->last, room * sizeof *last);
    if (!last)
        return -ENOMEM;
    s->last = last;
    s->last_room = room;
    return 0;
}

/* Counts the block at the journal's end. */
static int add_block(struct hil_journal *j, const struct block_head *head)
{
    if (head->stream == BLOCK_OF_TEXT) {
        j->text = j->end;
    } else {
        struct stream *s = &j->streams[head->stream];
        const uint64_t chunk = s->rows / s->chunk_rows;
        if (make_room_for_chunk(s, chunk))
            return -ENOMEM;
        s->last[chunk] = j->end;
        s->rows += head->rows;
    }
    j->end += block_length(head);
    return 0;
}

/* The most rows that the stream's next block may have. */
static uint64_t block_rows_max(const struct stream *s)
{
    const uint64_t in_chunk = s->chunk_rows - s->rows % s->chunk_rows;
    const uint64_t rows = BLOCK_BYTES / (s->width * sizeof(double)) + 1;

    return rows < in_chunk ? rows : in_chunk;
}

/* Whether a block at the journal's end may begin so. */
static bool is_next(const struct hil_journal *j, const struct block_head *head)
{
    if (head->stream == BLOCK_OF_TEXT)
        return head->bytes <= TEXT_BYTES_MAX && head->before == j->text &&
               head->packed <= block_packed_most(head->bytes);
    if (head->stream >= j->config->stream_count)
        return false;
    const struct stream *s = &j->streams[head->stream];
    return head->first == s->rows && head->rows > 0 && head->rows <= block_rows_max(s) &&
           head->before == block_before(s) &&
           head->bytes == head->rows * s->width * sizeof(double) &&
           head->packed <= block_packed_most(head->bytes);
}

static int read_block(struct hil_journal *j, size_t length, uint64_t at)
{
    if (block_make_room(&j->buffer, length))
        return -ENOMEM;
    return read_all(j->file, j->buffer.block, length, at);
}

/* Reads the block at the journal's end. Returns 1, 0 when there is no more, or -ENOMEM. The writer
 * appends blocks from front to back: what is within the file, and is no block, was damaged. */
static int read_next(struct hil_journal *j, uint64_t file_bytes)
{
    struct block_head head;

    if (j->damaged || read_all(j->file, &head, sizeof head, j->end))
        return 0;
    const bool next = is_next(j, &head);
    if (next && j->end + block_length(&head) > file_bytes)
        return 0;
    const int rc = next ? read_block(j, block_length(&head), j->end) : 0;
    if (rc == -ENOMEM)
        return rc;
    j->damaged = !next || rc || memcmp(&head, j->buffer.block, sizeof head) != 0 ||
                 !block_is_whole(&j->buffer);
    return !j->damaged;
}

int hil_journal_look(struct hil_journal *j)
{
    struct stat status;
    int rc = fstat(j->file, &status) ? 0 : 1;

    while (rc > 0) {
        rc = read_next(j, (uint64_t)status.st_size);
        if (rc > 0 && add_block(j, j->buffer.block))
            rc = -ENOMEM;
    }
    return rc;
}

bool hil_journal_is_damaged(const struct hil_journal *j)
{
    return j->damaged;
}

/* --- creating ------------------------------------------------------------------------------ */

static int write_head(struct hil_journal *j, const char *text)
{
    struct head head = {.text_bytes = strlen(text)};

    memcpy(head.magic, MAGIC, sizeof MAGIC);
    int rc = write_all(j->file, &head, sizeof head, 0);
    if (!rc)
        rc = write_all(j->file, text, head.text_bytes, sizeof head);
    j->end = sizeof head + head.text_bytes;
    return rc;
}

/* The file has its name when it has its head. */
static int create_file(struct hil_journal *j, const char *path, const char *text)
{
    char name[PATH_MAX], part[PATH_MAX + 8];
    int rc = journal_path(name, path);

    if (rc)
        return rc;
    snprintf(part, sizeof part, "%s.part", name);
    if (unlink(part) && errno != ENOENT)
        return -errno;
    j->file = open(part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (j->file < 0)
        return -errno;
    rc = write_head(j, text);
    if (!rc && rename(part, name))
        rc = -errno;
    if (rc)
        unlink(part);
    return rc;
}

static struct hil_journal *new_journal(void)
{
    struct hil_journal *j = calloc(1, sizeof *j);

    if (j)
        j->file = -1;
    return j;
}

int hil_journal_create(struct hil_journal **journal, const char *path,
                       const struct hil_trace_config *config)
{
    char *text = journal_config_text(config);
    struct hil_journal *made = new_journal();
    int rc = text && made ? journal_config_parse(&made->config, text, strlen(text)) : -ENOMEM;

    if (!rc)
        rc = set_up_streams(made);
    if (!rc)
        rc = create_file(made, path, text);
    free(text);
    if (rc) {
        hil_journal_close(made);
        return rc;
    }
    *journal = made;
    return 0;
}

/* --- appending ----------------------------------------------------------------------------- */

/* What the disk did not take as a whole is cut off. */
static int append_block(struct hil_journal *j)
{
    const struct block_head *block = j->buffer.block;
    int rc = write_all(j->file, block, block_length(block), j->end);

    if (!rc)
        return add_block(j, block);
    if (ftruncate(j->file, (off_t)j->end))
        return rc; /* its checksum does not fit either */
    return rc;
}

int hil_journal_append(struct hil_journal *j, unsigned stream, const double *rows, uint64_t count)
{
    const struct stream *s = &j->streams[stream];
    int rc = 0;

    while (!rc && count > 0) {
        const uint64_t most = block_rows_max(s), now = count < most ? count : most;
        const struct block_head head = {
            .stream = stream, .rows = (uint32_t)now, .first = s->rows, .before = block_before(s)};

        rc = block_pack_rows(&j->buffer, &head, rows, s->width);
        if (!rc)
            rc = append_block(j);
        rows += now * s->width;
        count -= now;
    }
    return rc;
}

int hil_journal_add_histograms(struct hil_journal *j, const struct hil_named_histogram *histograms,
                               unsigned count)
{
    const struct block_head head = {.stream = BLOCK_OF_TEXT, .before = j->text};
    char *text = journal_histograms_text(histograms, count);
    int rc = text ? block_pack_text(&j->buffer, &head, text) : -ENOMEM;

    free(text);
    return rc ? rc : append_block(j);
}

/* --- opening ------------------------------------------------------------------------------- */

static int read_head(struct hil_journal *j)
{
    struct head head;
    int rc = read_all(j->file, &head, sizeof head, 0);

    if (rc)
        return rc;
    if (memcmp(head.magic, MAGIC, sizeof MAGIC) != 0 || head.text_bytes > HEAD_BYTES_MAX)
        return -EBADMSG;
    char *text = malloc(head.text_bytes + 1);
    if (!text)
        return -ENOMEM;
    rc = read_all(j->file, text, head.text_bytes, sizeof head);
    if (!rc)
        rc = journal_config_parse(&j->config, text, head.text_bytes);
    free(text);
    j->end = sizeof head + head.text_bytes;
    return rc ? rc : set_up_streams(j);
}

static int open_journal(struct hil_journal **journal, const char *path, int access)
{
    char name[PATH_MAX];
    struct hil_journal *made = new_journal();
    int rc = made ? journal_path(name, path) : -ENOMEM;

    if (!rc) {
        made->file = hil_result_open(name, access);
        rc = made->file < 0 ? made->file : read_head(made);
    }
    if (!rc)
        rc = hil_journal_look(made);
    if (rc) {
        hil_journal_close(made);
        return rc;
    }
    *journal = made;
    return 0;
}

int hil_journal_open(struct hil_journal **journal, const char *path)
{
    return open_journal(journal, path, O_RDONLY);
}

int hil_journal_continue(struct hil_journal **journal, const char *path)
{
    const int rc = open_journal(journal, path, O_RDWR);

    if (rc)
        return rc;
    if (ftruncate((*journal)->file, (off_t)(*journal)->end) == 0)
        return 0;
    const int error = -errno;
    hil_journal_close(*journal);
    return error;
}

/* --- reading ------------------------------------------------------------------------------- */

/* Reads a block that was seen before. */
static int read_again(struct hil_journal *j, uint64_t at)
{
    struct block_head head;
    int rc = read_all(j->file, &head, sizeof head, at);

    if (!rc && at + block_length(&head) > j->end)
        rc = -EBADMSG;
    if (!rc)
        rc = read_block(j, block_length(&head), at);
    return rc || block_is_whole(&j->buffer) ? rc : -EBADMSG;
}

int64_t hil_journal_read_chunk(struct hil_journal *j, unsigned stream, uint64_t chunk,
                               double *values)
{
    const struct stream *s = &j->streams[stream];
    const uint64_t first = chunk * s->chunk_rows;
    const uint64_t there = s->rows > first ? s->rows - first : 0;
    const uint64_t rows = there < s->chunk_rows ? there : s->chunk_rows;
    int rc = 0;

    for (uint64_t at = rows ? s->last[chunk] : 0; at && !rc; at = j->buffer.block->before) {
        rc = read_again(j, at);
        const struct block_head *block = j->buffer.block;
        if (!rc && (block->stream != stream || block->first < first || block->before >= at ||
                    block->first + block->rows > first + rows))
            rc = -EBADMSG;
        if (!rc)
            rc = block_unpack_rows(&j->buffer, s->width, values + (block->first - first),
                                   s->chunk_rows);
        if (rc)
            return rc;
    }
    return (int64_t)rows;
}

int hil_journal_copy_histograms(struct hil_journal *j, struct hil_trace *trace)
{
    int rc = j->text ? read_again(j, j->text) : 0;

    if (!rc && j->text)
        rc = block_unpack(&j->buffer);
    if (rc || !j->text)
        return rc;
    return journal_histograms_copy((const char *)j->buffer.bytes, j->buffer.block->bytes, trace);
}

/* --- both ---------------------------------------------------------------------------------- */

const struct hil_trace_config *hil_journal_config(const struct hil_journal *j)
{
    return j->config;
}

uint64_t hil_journal_rows(const struct hil_journal *j, unsigned stream)
{
    return j->streams[stream].rows;
}

void hil_journal_remove(const char *path)
{
    char name[PATH_MAX];

    if (journal_path(name, path) == 0)
        unlink(name);
}

void hil_journal_close(struct hil_journal *j)
{
    if (!j)
        return;
    if (j->file >= 0)
        close(j->file);
    for (unsigned i = 0; j->streams && i < j->config->stream_count; i++)
        free(j->streams[i].last);
    block_buffer_free(&j->buffer);
    free(j->streams);
    journal_config_free(j->config);
    free(j);
}
