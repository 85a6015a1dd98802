#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "journal.h"
#include "trace_parts.h"

/* Rows per chunk, a power of two. More rows compress better, but all columns are buffered. */
enum { CHUNK_ROWS_MIN = 256, CHUNK_ROWS_MAX = 8192, BUFFER_BYTES = 64 << 20 };

/* A chunk of events has more rows than can wait in the recorder. Therefore no second chunk is full
 * before the first is written, and all chunks are in order of time. */
enum { CHUNK_EVENTS = 4096 };

enum { DEFLATE_LEVEL = 1 };

unsigned hil_stream_width(const struct hil_stream_config *stream)
{
    unsigned width = 0;

    for (unsigned i = 0; i < stream->column_count; i++)
        width += stream->columns[i].width;
    return width;
}

/* --- creating ------------------------------------------------------------------------------ */

static int create_file(const char *path, hid_t *file)
{
    if (unlink(path) && errno != ENOENT) /* so that a link is not followed */
        return -errno;
    const hid_t create = H5Pcreate(H5P_FILE_CREATE);

    H5Pset_link_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    *file = H5Fcreate(path, H5F_ACC_TRUNC, create, H5P_DEFAULT);
    const int rc = *file < 0 ? trace_hdf5_error() : 0;

    H5Pclose(create);
    return rc;
}

/* An empty dataset that grows by rows. */
static int create_dataset(hid_t group, const struct hil_column *column, hsize_t chunk_rows,
                          hid_t *dataset)
{
    const int dimensions = hil_column_is_matrix(column) ? 2 : 1;
    const hsize_t size[] = {0, column->width};
    const hsize_t limit[] = {H5S_UNLIMITED, column->width};
    const hsize_t chunk[] = {chunk_rows, 1};
    const hid_t space = H5Screate_simple(dimensions, size, limit);
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);

    H5Pset_chunk(create, dimensions, chunk);
    H5Pset_shuffle(create);
    H5Pset_deflate(create, DEFLATE_LEVEL);
    H5Pset_obj_track_times(create, false);                        /* makes files reproducible */
    H5Pset_chunk_cache(access, 1, 0, H5D_CHUNK_CACHE_W0_DEFAULT); /* chunks are written as a
                                                                   * whole */
    *dataset = H5Dcreate2(group, column->name, H5T_IEEE_F64LE, space, H5P_DEFAULT, create, access);
    const int rc = *dataset < 0 ? trace_hdf5_error() : 0;

    H5Pclose(access);
    H5Pclose(create);
    H5Sclose(space);
    return rc;
}

static bool is_full(const struct trace_stream *stream)
{
    return stream->buffered == stream->chunk_rows;
}

/* When the last row of the stream's next chunk is due. For events this is known only when the chunk
 * is full. */
static double chunk_due_ns(const struct trace_stream *stream)
{
    if (stream->events && is_full(stream))
        return round(stream->buffer[stream->chunk_rows - 1] * 1e9);

    const hsize_t last = stream->written + stream->chunk_rows - 1;

    return stream->apart_ns > 0 ? stream->first_ns + (double)last * stream->apart_ns : INFINITY;
}

static struct trace_stream *next_in_order(const struct hil_trace *trace)
{
    struct trace_stream *first = trace->streams;

    for (unsigned i = 1; i < trace->stream_count; i++)
        if (chunk_due_ns(&trace->streams[i]) < chunk_due_ns(first))
            first = &trace->streams[i];
    return first;
}

static bool is_of_events(const struct hil_stream_config *config)
{
    return strcmp(config->name, HIL_EVENTS) == 0;
}

static hsize_t rows_in_chunk(const struct hil_stream_config *config, uint64_t numbers)
{
    hsize_t rows = CHUNK_ROWS_MAX;

    if (is_of_events(config))
        return CHUNK_EVENTS;
    while (rows > CHUNK_ROWS_MIN &&
           (rows / 2 >= config->rows || rows * numbers * sizeof(double) > BUFFER_BYTES))
        rows /= 2;
    return rows;
}

static int set_origin(hid_t dataset, const struct hil_origin *of)
{
    const struct hil_attribute attributes[] = {{HIL_SIGNALS, of->signals},
                                               {HIL_MEASURE, of->measure},
                                               {HIL_ROLE, of->role},
                                               {HIL_NAMES, of->names}};
    int rc = 0;

    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0] && !rc; i++)
        if (attributes[i].value && attributes[i].value[0] != '\0')
            rc = trace_hdf5_set_text(dataset, attributes[i].name, attributes[i].value);
    return rc;
}

static int open_dataset(struct trace_dataset *dataset, hid_t group, const struct hil_column *column,
                        hsize_t chunk_rows)
{
    dataset->width = column->width;
    dataset->dimensions = hil_column_is_matrix(column) ? 2 : 1;
    int rc = create_dataset(group, column, chunk_rows, &dataset->id);
    if (!rc)
        rc = trace_hdf5_set_text(dataset->id, HIL_UNIT, column->unit);
    if (!rc)
        rc = trace_hdf5_set_text(dataset->id, HIL_DOC, column->doc);
    return rc ? rc : set_origin(dataset->id, &column->of);
}

static int open_datasets(struct trace_stream *stream, hid_t group,
                         const struct hil_stream_config *config)
{
    unsigned first = 0;

    for (unsigned i = 0; i < config->column_count; i++) {
        struct trace_dataset *dataset = &stream->datasets[i];
        const int rc = open_dataset(dataset, group, &config->columns[i], stream->chunk_rows);

        if (rc)
            return rc;
        dataset->first = first;
        first += dataset->width;
    }
    return 0;
}

static int set_cadence(hid_t group, const struct hil_cadence *cadence)
{
    if (cadence->period_ns == 0)
        return 0;
    int rc = trace_hdf5_set_count(group, HIL_PHASE, cadence->phase_ns);
    if (!rc)
        rc = trace_hdf5_set_count(group, HIL_PERIOD, cadence->period_ns);
    return rc ? rc : trace_hdf5_set_count(group, HIL_DECIMATION, cadence->decimation);
}

static int open_stream(struct hil_trace *trace, struct trace_stream *stream,
                       const struct hil_stream_config *config, uint64_t chunk_rows)
{
    const struct hil_cadence *cadence = &config->cadence;

    stream->first_ns = (double)cadence->phase_ns;
    stream->apart_ns = (double)cadence->period_ns * (double)cadence->decimation;
    stream->events = is_of_events(config);
    stream->width = hil_stream_width(config);
    stream->chunk_rows = chunk_rows;
    stream->buffer = malloc(stream->width * stream->chunk_rows * sizeof(double));
    stream->extents = malloc(stream->width * sizeof(struct hil_extent));
    stream->datasets = calloc(config->column_count, sizeof(struct trace_dataset));
    if (!stream->buffer || !stream->extents || !stream->datasets)
        return -ENOMEM;
    stream->dataset_count = config->column_count;
    for (unsigned i = 0; i < config->column_count; i++)
        stream->datasets[i].id = H5I_INVALID_HID;

    hid_t group;
    int rc = trace_hdf5_create_group(trace->file, config->name, &group);
    if (rc)
        return rc;
    rc = set_cadence(group, cadence);
    if (!rc)
        rc = open_datasets(stream, group, config);
    H5Gclose(group);
    return rc;
}

int trace_open_file(struct hil_trace *trace, const char *path)
{
    const struct hil_trace_config *config = hil_journal_config(trace->journal);

    trace->streams = calloc(config->stream_count, sizeof(struct trace_stream));
    if (!trace->streams && config->stream_count > 0)
        return -ENOMEM;
    trace->stream_count = config->stream_count;

    int rc = create_file(path, &trace->file);
    if (rc)
        return rc;
    for (unsigned i = 0; i < config->attribute_count && !rc; i++)
        rc = trace_hdf5_set_text(trace->file, config->attributes[i].name,
                                 config->attributes[i].value);

    for (unsigned i = 0; i < config->stream_count && !rc; i++)
        rc = open_stream(trace, &trace->streams[i], &config->streams[i],
                         hil_journal_chunk_rows(trace->journal, i));
    trace->in_order = config->whole;
    trace->next = next_in_order(trace);
    return rc;
}

static void remember(struct hil_trace *trace, int rc)
{
    if (!trace->error)
        trace->error = rc;
}

static int close_stream(struct trace_stream *stream)
{
    int rc = 0;

    for (unsigned i = 0; i < stream->dataset_count; i++)
        if (stream->datasets[i].id >= 0 && H5Dclose(stream->datasets[i].id) < 0 && !rc)
            rc = trace_hdf5_error();
    stream->dataset_count = 0;
    return rc;
}

static int close_file(struct hil_trace *trace)
{
    int rc = 0;

    for (unsigned i = 0; i < trace->stream_count; i++) {
        const int stream_rc = close_stream(&trace->streams[i]);
        rc = rc ? rc : stream_rc;
    }
    if (trace->file >= 0 && H5Fclose(trace->file) < 0 && !rc)
        rc = trace_hdf5_error();
    trace->file = H5I_INVALID_HID;
    return rc;
}

/* A resumed trace that was not closed properly is useless: the old one remains, with its
 * journal. */
void trace_free(struct hil_trace *trace)
{
    close_file(trace);
    if (trace->part)
        unlink(trace->part);
    for (unsigned i = 0; i < trace->stream_count; i++) {
        free(trace->streams[i].datasets);
        free(trace->streams[i].buffer);
        free(trace->streams[i].extents);
    }
    hil_journal_close(trace->journal);
    free(trace->streams);
    free(trace->path);
    free(trace->part);
    free(trace);
}

/* A trace that has its journal, but no file yet. */
struct hil_trace *trace_new(const char *path, struct hil_journal *journal)
{
    struct hil_trace *made = calloc(1, sizeof(*made));

    if (made)
        made->path = strdup(path);
    if (!made || !made->path) {
        hil_journal_close(journal);
        free(made);
        return NULL;
    }
    made->file = H5I_INVALID_HID;
    made->journal = journal;
    return made;
}

int hil_trace_create_journal(struct hil_journal **journal, const char *path,
                             const struct hil_trace_config *config)
{
    uint64_t *chunk_rows = calloc(config->stream_count + 1, sizeof(*chunk_rows));
    uint64_t numbers = 0;

    if (!chunk_rows)
        return -ENOMEM;
    for (unsigned i = 0; i < config->stream_count; i++)
        numbers += hil_stream_width(&config->streams[i]);
    for (unsigned i = 0; i < config->stream_count; i++)
        chunk_rows[i] = rows_in_chunk(&config->streams[i], numbers);
    const int rc = hil_journal_create(journal, path, config, chunk_rows);
    free(chunk_rows);
    return rc;
}

int hil_trace_begin(struct hil_trace **trace, const char *path, struct hil_journal *journal)
{
    trace_hdf5_enter();
    struct hil_trace *made = trace_new(path, journal);
    if (!made)
        return -ENOMEM;

    const int rc = trace_open_file(made, path);
    if (rc) {
        hil_journal_remove(journal, path);
        trace_free(made);
        return rc;
    }
    *trace = made;
    return 0;
}

int hil_trace_create(struct hil_trace **trace, const char *path,
                     const struct hil_trace_config *config)
{
    struct hil_journal *journal;
    const int rc = hil_trace_create_journal(&journal, path, config);

    return rc ? rc : hil_trace_begin(trace, path, journal);
}

/* --- rows ---------------------------------------------------------------------------------- */

/* Appends the buffered values of one number of the rows. The dataspaces have the same rank, because
 * HDF5 is several times slower otherwise. */
static int write_number(const struct trace_stream *stream, const struct trace_dataset *dataset,
                        hid_t in_file, hid_t in_memory, unsigned i)
{
    const hsize_t start[] = {stream->written, i};
    const hsize_t count[] = {stream->buffered, 1};
    const double *values = stream->buffer + (dataset->first + i) * stream->chunk_rows;

    H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, count, NULL);
    return H5Dwrite(dataset->id, H5T_NATIVE_DOUBLE, in_memory, in_file, H5P_DEFAULT, values) < 0
               ? trace_hdf5_error()
               : 0;
}

static int write_dataset(const struct trace_stream *stream, const struct trace_dataset *dataset)
{
    const hsize_t size[] = {stream->written + stream->buffered, dataset->width};
    const hsize_t memory_size[] = {stream->buffered, 1};
    int rc = H5Dset_extent(dataset->id, size) < 0 ? trace_hdf5_error() : 0;
    const hid_t in_file = H5Dget_space(dataset->id);
    const hid_t in_memory = H5Screate_simple(dataset->dimensions, memory_size, NULL);

    for (unsigned i = 0; i < dataset->width && !rc; i++)
        rc = write_number(stream, dataset, in_file, in_memory, i);
    H5Sclose(in_memory);
    H5Sclose(in_file);
    return rc;
}

/* Rows that the disk did not take completely are removed. */
int trace_cut_off(const struct trace_stream *stream, int rc)
{
    for (unsigned i = 0; i < stream->dataset_count; i++) {
        const struct trace_dataset *dataset = &stream->datasets[i];
        const hsize_t size[] = {stream->written, dataset->width};
        H5Dset_extent(dataset->id, size);
    }
    return rc;
}

static int write_buffer(struct trace_stream *stream)
{
    int rc = 0;

    if (stream->buffered == 0)
        return 0;
    for (unsigned i = 0; i < stream->dataset_count && !rc; i++)
        rc = write_dataset(stream, &stream->datasets[i]);
    if (rc)
        return trace_cut_off(stream, rc);
    stream->written += stream->buffered;
    stream->buffered = 0;
    return 0;
}

/* Finds the place of the last written chunk. */
static int find_extents(struct trace_stream *stream, const struct trace_dataset *dataset)
{
    for (unsigned i = 0; i < dataset->width; i++) {
        const hsize_t first[] = {stream->written - stream->chunk_rows, i};
        struct hil_extent *extent = &stream->extents[dataset->first + i];
        haddr_t at = HADDR_UNDEF;
        hsize_t bytes = 0;

        if (H5Dget_chunk_info_by_coord(dataset->id, first, &extent->filters, &at, &bytes) < 0 ||
            at == HADDR_UNDEF)
            return trace_hdf5_error();
        extent->at = at;
        extent->bytes = (uint32_t)bytes;
    }
    return 0;
}

/* Writes the full buffer, and records the chunk in the journal, which may then drop its rows. */
static int write_chunk(struct hil_trace *trace, struct trace_stream *stream)
{
    int rc = write_buffer(stream);

    if (trace->part)
        return rc; /* the file is made anew, and its journal belongs to the old one */
    for (unsigned i = 0; i < stream->dataset_count && !rc; i++)
        rc = find_extents(stream, &stream->datasets[i]);
    return rc ? rc
              : hil_journal_add_chunk(trace->journal, (unsigned)(stream - trace->streams),
                                      stream->extents);
}

/* Transposes rows, so that the values of each number are adjacent. */
static void buffer_rows(struct trace_stream *stream, const double *rows, size_t count)
{
    for (unsigned i = 0; i < stream->width; i++) {
        double *values = stream->buffer + i * stream->chunk_rows + stream->buffered;

        for (size_t row = 0; row < count; row++)
            values[row] = rows[row * stream->width + i];
    }
    stream->buffered += count;
}

static bool has_turns(const struct hil_trace *trace, const struct trace_stream *stream)
{
    return trace->in_order && (stream->apart_ns > 0 || stream->events);
}

/* Writes the stream's full buffer; in an ordered trace, writes all buffers whose turn has come. */
static void write_full(struct hil_trace *trace, struct trace_stream *stream)
{
    if (!has_turns(trace, stream)) {
        remember(trace, write_chunk(trace, stream));
        return;
    }
    trace->next = next_in_order(trace); /* for events it is known now that the chunk is full */
    while (is_full(trace->next) && !trace->error) {
        remember(trace, write_chunk(trace, trace->next));
        trace->next = next_in_order(trace);
    }
}

/* Replaces the old trace by the resumed one. */
static int replace_old(const struct hil_trace *trace)
{
    return rename(trace->part, trace->path) ? -errno : 0;
}

/* Writes the buffers, and closes the file. After an error it saves what it can: on a full disk it
 * uses the space that was reserved for this. */
static void end_file(struct hil_trace *trace)
{
    if (trace->error && !trace->part)
        hil_journal_make_room(trace->journal);
    for (unsigned i = 0; i < trace->stream_count; i++)
        remember(trace, write_buffer(&trace->streams[i]));
    int rc = close_file(trace);
    if (!rc && trace->part)
        rc = replace_old(trace);
    if (!rc)
        hil_journal_remove(trace->journal, trace->path);
    remember(trace, rc);
    trace->ended = true;
}

size_t hil_trace_room(const struct hil_trace *trace, unsigned index)
{
    const struct trace_stream *stream = &trace->streams[index];

    return has_turns(trace, stream) ? stream->chunk_rows - stream->buffered : SIZE_MAX;
}

int hil_trace_append(struct hil_trace *trace, unsigned index, const double *rows, size_t count)
{
    struct trace_stream *stream = &trace->streams[index];

    trace_hdf5_enter();
    while (count > 0 && !trace->error) {
        const size_t room = stream->chunk_rows - stream->buffered;
        const size_t now = count < room ? count : room;

        if (now == 0)
            return -ENOBUFS;
        if (!trace->part)
            remember(trace,
                     hil_journal_add_rows(trace->journal, index, stream->buffered, rows, now));
        buffer_rows(stream, rows, now);
        if (now == room)
            write_full(trace, stream);
        rows += now * stream->width;
        count -= now;
    }
    if (trace->error && !trace->ended)
        end_file(trace);
    return trace->error;
}

void hil_trace_end_order(struct hil_trace *trace)
{
    trace_hdf5_enter();
    trace->in_order = false;
    for (unsigned i = 0; i < trace->stream_count && !trace->error; i++)
        if (is_full(&trace->streams[i]))
            remember(trace, write_chunk(trace, &trace->streams[i]));
}

uint64_t hil_trace_rows(const struct hil_trace *trace, unsigned stream)
{
    return trace->streams[stream].written + trace->streams[stream].buffered;
}

/* --- the end ------------------------------------------------------------------------------- */

int hil_trace_close(struct hil_trace *trace)
{
    trace_hdf5_enter();
    if (!trace->ended)
        end_file(trace);
    const int rc = trace->error;
    trace_free(trace);
    return rc;
}
