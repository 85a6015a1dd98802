/* Restores a trace whose writer died from its file and its journal. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/result_file.h"
#include "journal.h"
#include "trace_parts.h"

struct old_trace {
    int file;
    off_t size;
    struct hil_trace *trace; /* the new one */
    void *chunk;
    size_t chunk_bytes;
};

/* Compressed or not, a number's values in a chunk never take more than twice their size. */
static int read_old_chunk(struct old_trace *old, const struct trace_stream *stream,
                          const struct hil_extent *extent)
{
    const size_t most = 2 * stream->chunk_rows * sizeof(double);

    if (extent->bytes > most || extent->at > (uint64_t)old->size ||
        extent->bytes > (uint64_t)old->size - extent->at)
        return -EBADMSG;
    if (old->chunk_bytes < most) {
        free(old->chunk);
        old->chunk = malloc(most);
        old->chunk_bytes = old->chunk ? most : 0;
    }
    if (!old->chunk)
        return -ENOMEM;
    return pread(old->file, old->chunk, extent->bytes, (off_t)extent->at) == (ssize_t)extent->bytes
               ? 0
               : -EIO;
}

static int copy_number(struct old_trace *old, const struct trace_stream *stream,
                       const struct trace_dataset *dataset, unsigned i,
                       const struct hil_extent *extent)
{
    const hsize_t first[] = {stream->written, i};
    const int rc = read_old_chunk(old, stream, extent);

    if (rc)
        return rc;
    return H5Dwrite_chunk(dataset->id, H5P_DEFAULT, extent->filters, first, extent->bytes,
                          old->chunk) < 0
               ? trace_hdf5_error()
               : 0;
}

static int copy_dataset(struct old_trace *old, const struct trace_stream *stream,
                        const struct trace_dataset *dataset, const struct hil_extent *extents)
{
    const hsize_t size[] = {stream->written + stream->chunk_rows, dataset->width};
    int rc = H5Dset_extent(dataset->id, size) < 0 ? trace_hdf5_error() : 0;

    for (unsigned i = 0; i < dataset->width && !rc; i++)
        rc = copy_number(old, stream, dataset, i, &extents[dataset->first + i]);
    return rc;
}

static int copy_chunk(void *arg, unsigned index, const struct hil_extent *extents)
{
    struct old_trace *old = arg;
    struct trace_stream *stream = &old->trace->streams[index];
    int rc = 0;

    for (unsigned i = 0; i < stream->dataset_count && !rc; i++)
        rc = copy_dataset(old, stream, &stream->datasets[i], extents);
    if (rc)
        return trace_cut_off(stream, rc);
    stream->written += stream->chunk_rows;
    return 0;
}

/* A writer that died immediately left no file. */
static int copy_chunks(struct hil_trace *trace)
{
    struct old_trace old = {.file = hil_result_open(trace->path, O_RDONLY), .trace = trace};
    struct stat status = {0};
    int rc = old.file < 0 && old.file != -ENOENT ? old.file : 0;

    if (old.file >= 0)
        fstat(old.file, &status);
    old.size = status.st_size;
    if (!rc)
        rc = hil_journal_each_chunk(trace->journal, copy_chunk, &old);
    free(old.chunk);
    if (old.file >= 0)
        close(old.file);
    return rc;
}

static int copy_rows(struct hil_trace *trace, unsigned index)
{
    const struct trace_stream *stream = &trace->streams[index];
    double *rows = malloc(stream->chunk_rows * stream->width * sizeof(double) + 1);
    const int64_t count = rows ? hil_journal_read_rows(trace->journal, index, rows) : -ENOMEM;
    int rc = count < 0 ? (int)count : 0;

    if (count > 0)
        rc = hil_trace_append(trace, index, rows, (size_t)count);
    free(rows);
    return rc;
}

static int resume(struct hil_trace *trace)
{
    if (asprintf(&trace->part, "%s.part", trace->path) < 0) {
        trace->part = NULL;
        return -ENOMEM;
    }
    int rc = trace_open_file(trace, trace->part);
    trace->in_order = false; /* rows may be missing at unknown places */
    if (!rc)
        rc = copy_chunks(trace);
    for (unsigned i = 0; i < trace->stream_count && !rc; i++)
        rc = copy_rows(trace, i);
    return rc;
}

int hil_trace_resume(struct hil_trace **trace, const char *path)
{
    struct hil_journal *journal;
    int rc = hil_journal_open(&journal, path);

    trace_hdf5_enter();
    if (rc)
        return rc;
    struct hil_trace *made = trace_new(path, journal);
    if (!made)
        return -ENOMEM;
    rc = resume(made);
    if (rc) {
        trace_free(made);
        return rc;
    }
    *trace = made;
    return 0;
}
