#include "continuation.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../h5/journal.h"

/* The mask of HDF5's filters that are not applied: shuffling and deflating. */
enum { NO_FILTERS = 3 };

struct continued {
    uint64_t width, chunk_rows;
    uint64_t chunks, buffered; /* chunks in the file; rows after them */
    double *rows;              /* those rows, which are in the journal */
    double *number;            /* one number of each row, as in a chunk of the file */
    struct hil_extent *extents;
};

struct hil_continuation {
    struct hil_journal *journal;
    int file;
    uint64_t end; /* length of the file */
    struct continued *streams;
    unsigned stream_count;
};

/* --- rows ---------------------------------------------------------------------------------- */

uint64_t hil_continuation_rows(const struct hil_continuation *c, unsigned stream)
{
    const struct continued *s = &c->streams[stream];

    return s->chunks * s->chunk_rows + s->buffered;
}

/* A chunk holds one number of each of its rows. */
static int write_number(struct hil_continuation *c, struct continued *s, uint64_t number)
{
    const size_t bytes = s->chunk_rows * sizeof *s->number;

    for (uint64_t row = 0; row < s->chunk_rows; row++)
        s->number[row] = s->rows[row * s->width + number];
    s->extents[number] = (struct hil_extent){c->end, (uint32_t)bytes, NO_FILTERS};
    const int rc = hil_journal_write_all(c->file, s->number, bytes, c->end);
    if (!rc)
        c->end += bytes;
    return rc;
}

static int write_chunk(struct hil_continuation *c, unsigned index)
{
    struct continued *s = &c->streams[index];
    int rc = 0;

    for (uint64_t i = 0; !rc && i < s->width; i++)
        rc = write_number(c, s, i);
    if (!rc)
        rc = hil_journal_add_chunk(c->journal, index, s->extents);
    if (rc)
        return rc;
    s->chunks++;
    s->buffered = 0;
    return 0;
}

int hil_continuation_append(struct hil_continuation *c, unsigned index, const double *rows,
                            size_t count)
{
    struct continued *s = &c->streams[index];
    int rc = 0;

    while (!rc && count > 0) {
        const uint64_t room = s->chunk_rows - s->buffered, now = count < room ? count : room;
        rc = hil_journal_add_rows(c->journal, index, s->buffered, rows, now);
        if (rc)
            return rc;
        memcpy(s->rows + s->buffered * s->width, rows, now * s->width * sizeof *rows);
        s->buffered += now;
        rows += now * s->width;
        count -= now;
        if (s->buffered == s->chunk_rows)
            rc = write_chunk(c, index);
    }
    return rc;
}

/* --- opening ------------------------------------------------------------------------------- */

static int count_chunk(void *continuation, unsigned stream, const struct hil_extent *extents)
{
    struct hil_continuation *c = continuation;

    (void)extents;
    c->streams[stream].chunks++;
    return 0;
}

static int continue_stream(struct hil_continuation *c, unsigned index)
{
    const struct hil_trace_config *config = hil_journal_config(c->journal);
    struct continued *s = &c->streams[index];

    s->width = hil_stream_width(&config->streams[index]);
    s->chunk_rows = hil_journal_chunk_rows(c->journal, index);
    s->rows = malloc(s->chunk_rows * s->width * sizeof *s->rows);
    s->number = malloc(s->chunk_rows * sizeof *s->number);
    s->extents = calloc(s->width, sizeof *s->extents);
    if (!s->rows || !s->number || !s->extents)
        return -ENOMEM;
    const int64_t rows = hil_journal_read_rows(c->journal, index, s->rows);
    s->buffered = rows < 0 ? 0 : (uint64_t)rows;
    if (s->buffered == s->chunk_rows) /* the writer was killed before it reported the chunk */
        return write_chunk(c, index);
    return rows < 0 ? (int)rows : 0;
}

static int continue_all(struct hil_continuation *c, const char *path)
{
    struct stat status;

    c->stream_count = hil_journal_config(c->journal)->stream_count;
    c->streams = calloc(c->stream_count + 1, sizeof *c->streams);
    if (!c->streams)
        return -ENOMEM;
    c->file = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (c->file < 0 || fstat(c->file, &status))
        return -errno;
    c->end = (uint64_t)status.st_size;
    int rc = hil_journal_each_chunk(c->journal, count_chunk, c);
    for (unsigned i = 0; !rc && i < c->stream_count; i++)
        rc = continue_stream(c, i);
    return rc;
}

int hil_continuation_open(struct hil_continuation **continuation, const char *path)
{
    struct hil_continuation *made = calloc(1, sizeof *made);

    if (!made)
        return -ENOMEM;
    made->file = -1;
    int rc = hil_journal_continue(&made->journal, path);
    if (!rc)
        rc = continue_all(made, path);
    if (rc)
        hil_continuation_close(made);
    else
        *continuation = made;
    return rc;
}

void hil_continuation_close(struct hil_continuation *c)
{
    if (!c)
        return;
    for (unsigned i = 0; i < c->stream_count; i++) {
        free(c->streams[i].rows);
        free(c->streams[i].number);
        free(c->streams[i].extents);
    }
    free(c->streams);
    if (c->file >= 0)
        close(c->file);
    hil_journal_close(c->journal);
    free(c);
}
