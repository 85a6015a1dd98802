#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

#include "../base/result_file.h"
#include "journal_config.h"

enum { HEAD_BYTES_MAX = 64 << 20, RESERVE_BYTES = 4 << 20, RESERVE_SHARE = 8 };

static const char MAGIC[8] = "hljrnl1";

struct head {
    char magic[sizeof MAGIC];
    uint64_t text_bytes; /* length of the configuration that follows */
};

/* A record of the index; its extents follow. */
struct record {
    uint64_t stream;
    uint64_t check; /* checksum of the extents, which reveals a truncated record */
};

struct tail {
    uint64_t chunk_rows;
    uint64_t width;
    uint64_t at;     /* offset in the file: the total number of rows, then the rows of one chunk */
    uint64_t chunks; /* number of chunks in the index */
};

struct hil_journal {
    int file;
    struct hil_trace_config *config;
    struct tail *tails;
    uint64_t index_at, index_end;
    struct record *record; /* has room for the extents of the widest stream */
};

static int journal_path(char path[PATH_MAX], const char *trace)
{
    return snprintf(path, PATH_MAX, "%s.journal", trace) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

/* --- the file ------------------------------------------------------------------------------ */

int hil_journal_write_all(int file, const void *from, uint64_t bytes, uint64_t at)
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

static uint64_t aligned(uint64_t bytes)
{
    return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

/* --- the layout ---------------------------------------------------------------------------- */

/* The tails are stored one after the other from `at` on, and the index follows them. */
static int journal_lay_out(struct hil_journal *j, const uint64_t *chunk_rows, uint64_t at)
{
    uint64_t widest = 0;

    j->tails = calloc(j->config->stream_count + 1, sizeof *j->tails);
    if (!j->tails)
        return -ENOMEM;
    for (unsigned i = 0; i < j->config->stream_count; i++) {
        const uint64_t width = hil_stream_width(&j->config->streams[i]);

        j->tails[i] = (struct tail){.chunk_rows = chunk_rows[i], .width = width, .at = at};
        at += sizeof(uint64_t) + chunk_rows[i] * width * sizeof(double);
        widest = width > widest ? width : widest;
    }
    j->index_at = j->index_end = at;
    j->record = malloc(sizeof *j->record + widest * sizeof(struct hil_extent));
    return j->record ? 0 : -ENOMEM;
}

static uint64_t record_bytes(const struct tail *tail)
{
    return sizeof(struct record) + tail->width * sizeof(struct hil_extent);
}

static uint64_t check_of(const struct record *record, const struct tail *tail)
{
    return XXH3_64bits_withSeed(record + 1, tail->width * sizeof(struct hil_extent),
                                record->stream);
}

/* --- writing ------------------------------------------------------------------------------- */

static void give_back_room(const struct hil_journal *j)
{
    struct stat status;

    if (fstat(j->file, &status) == 0 && ftruncate(j->file, status.st_size))
        return; /* none was reserved */
}

/* Reserves blocks after the end of the file for the index. The run continues if this fails; a full
 * disk may then be harder to handle. */
static void keep_room(const struct hil_journal *j)
{
    struct statvfs disk;

    if (fstatvfs(j->file, &disk))
        return;
    const uint64_t share = (uint64_t)disk.f_bavail * disk.f_frsize / RESERVE_SHARE;
    const uint64_t bytes = share < RESERVE_BYTES ? share : RESERVE_BYTES;
    if (bytes && fallocate(j->file, FALLOC_FL_KEEP_SIZE, (off_t)j->index_at, (off_t)bytes))
        give_back_room(j);
}

void hil_journal_make_room(struct hil_journal *j)
{
    const uint64_t from = j->config->stream_count ? j->tails[0].at : j->index_at;

    give_back_room(j);
    if (fallocate(j->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)from,
                  (off_t)(j->index_at - from)))
        return; /* this file system has no holes */
}

void hil_journal_remove(struct hil_journal *j, const char *path)
{
    char name[PATH_MAX];

    if (journal_path(name, path) == 0 && unlink(name) == 0 && ftruncate(j->file, 0))
        return; /* opened only for reading */
}

static int write_head(struct hil_journal *j, const char *text, const uint64_t *chunk_rows)
{
    struct head head = {.text_bytes = strlen(text)};

    memcpy(head.magic, MAGIC, sizeof MAGIC);
    int rc = hil_journal_write_all(j->file, &head, sizeof head, 0);
    if (!rc)
        rc = hil_journal_write_all(j->file, text, head.text_bytes, sizeof head);
    if (!rc)
        rc = journal_lay_out(j, chunk_rows, aligned(sizeof head + head.text_bytes));
    if (!rc && ftruncate(j->file, (off_t)j->index_at))
        rc = -errno;
    return rc;
}

static int create_journal(struct hil_journal *j, const char *path, const char *text,
                          const uint64_t *chunk_rows)
{
    char name[PATH_MAX];
    int rc = journal_path(name, path);

    if (rc)
        return rc;
    j->file = open(name, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (j->file < 0)
        return -errno;
    rc = write_head(j, text, chunk_rows);
    if (rc)
        unlink(name);
    else
        keep_room(j);
    return rc;
}

int hil_journal_create(struct hil_journal **journal, const char *path,
                       const struct hil_trace_config *config, const uint64_t *chunk_rows)
{
    char *text = journal_config_text(config, chunk_rows);
    struct hil_journal *made = calloc(1, sizeof *made);
    int rc = text && made ? 0 : -ENOMEM;

    if (made)
        made->file = -1;
    if (!rc)
        rc = journal_config_parse(&made->config, NULL, text, strlen(text));
    if (!rc)
        rc = create_journal(made, path, text, chunk_rows);
    free(text);
    if (rc) {
        hil_journal_close(made);
        return rc;
    }
    *journal = made;
    return 0;
}

/* The count is written after its rows, so the journal is consistent at every moment. */
int hil_journal_add_rows(struct hil_journal *j, unsigned stream, uint64_t first, const double *rows,
                         uint64_t count)
{
    const struct tail *tail = &j->tails[stream];
    const uint64_t row_bytes = tail->width * sizeof(double);
    const uint64_t all = tail->chunks * tail->chunk_rows + first + count;
    const int rc = hil_journal_write_all(j->file, rows, count * row_bytes,
                                         tail->at + sizeof all + first * row_bytes);

    return rc ? rc : hil_journal_write_all(j->file, &all, sizeof all, tail->at);
}

int hil_journal_add_chunk(struct hil_journal *j, unsigned stream, const struct hil_extent *extents)
{
    struct tail *tail = &j->tails[stream];

    j->record->stream = stream;
    memcpy(j->record + 1, extents, tail->width * sizeof *extents);
    j->record->check = check_of(j->record, tail);
    const int rc = hil_journal_write_all(j->file, j->record, record_bytes(tail), j->index_end);
    if (rc)
        return rc;
    j->index_end += record_bytes(tail);
    tail->chunks++;
    return 0;
}

/* --- reading ------------------------------------------------------------------------------- */

static int read_head(struct hil_journal *j)
{
    struct head head;
    struct stat status;
    uint64_t *chunk_rows = NULL;
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
        rc = journal_config_parse(&j->config, &chunk_rows, text, head.text_bytes);
    if (!rc)
        rc = journal_lay_out(j, chunk_rows, aligned(sizeof head + head.text_bytes));
    if (!rc && (fstat(j->file, &status) || (uint64_t)status.st_size < j->index_at))
        rc = -EBADMSG;
    free(chunk_rows);
    free(text);
    return rc;
}

static int open_journal(struct hil_journal **journal, const char *path, int access)
{
    char name[PATH_MAX];
    struct hil_journal *made = calloc(1, sizeof *made);
    int rc = made ? journal_path(name, path) : -ENOMEM;

    if (!rc) {
        made->file = hil_result_open(name, access);
        rc = made->file < 0 ? made->file : read_head(made);
    } else if (made) {
        made->file = -1;
    }
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
    return open_journal(journal, path, O_RDWR);
}

/* Reads the next record of the index. Returns false at the end, or at a record that its writer did
 * not finish. */
static bool next_record(struct hil_journal *j)
{
    struct record *record = j->record;

    if (read_all(j->file, record, sizeof *record, j->index_end) ||
        record->stream >= j->config->stream_count)
        return false;
    const struct tail *tail = &j->tails[record->stream];
    if (read_all(j->file, record, record_bytes(tail), j->index_end) ||
        record->check != check_of(record, tail))
        return false;
    j->index_end += record_bytes(tail);
    return true;
}

int hil_journal_each_chunk(struct hil_journal *j, hil_journal_chunk_fn *each, void *arg)
{
    int rc = 0;

    while (!rc && next_record(j)) {
        j->tails[j->record->stream].chunks++;
        rc = each(arg, (unsigned)j->record->stream, (const struct hil_extent *)(j->record + 1));
    }
    return rc;
}

int64_t hil_journal_read_rows(struct hil_journal *j, unsigned stream, double *rows)
{
    const struct tail *tail = &j->tails[stream];
    const uint64_t in_chunks = tail->chunks * tail->chunk_rows;
    uint64_t all;
    int rc = read_all(j->file, &all, sizeof all, tail->at);

    if (rc)
        return rc;
    if (all < in_chunks) /* the writer died between writing a chunk and its rows */
        return 0;
    if (all - in_chunks > tail->chunk_rows)
        return -EBADMSG;
    rc = read_all(j->file, rows, (all - in_chunks) * tail->width * sizeof(double),
                  tail->at + sizeof all);
    return rc ? rc : (int64_t)(all - in_chunks);
}

/* --- both ---------------------------------------------------------------------------------- */

const struct hil_trace_config *hil_journal_config(const struct hil_journal *j)
{
    return j->config;
}

uint64_t hil_journal_chunk_rows(const struct hil_journal *j, unsigned stream)
{
    return j->tails[stream].chunk_rows;
}

void hil_journal_close(struct hil_journal *j)
{
    if (!j)
        return;
    if (j->file >= 0)
        close(j->file);
    journal_config_free(j->config);
    free(j->tails);
    free(j->record);
    free(j);
}
