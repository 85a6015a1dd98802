#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace_chunk.h"
#include "trace_parts.h"

/* Rows per chunk, a power of two. More rows compress better, but a chunk is packed in memory. */
enum { CHUNK_ROWS_MIN = 256, CHUNK_ROWS_MAX = 8192, BUFFER_BYTES = 64 << 20 };

/* A chunk of events has more rows than can wait in the recorder. Therefore no second chunk is full
 * before the first is written, and all chunks are in order of time. */
enum { CHUNK_EVENTS = 4096 };

unsigned hil_stream_width(const struct hil_stream_config *stream)
{
    unsigned width = 0;

    for (unsigned i = 0; i < stream->column_count; i++)
        width += stream->columns[i].width;
    return width;
}

uint64_t hil_trace_numbers(const struct hil_trace_config *config)
{
    uint64_t numbers = 0;

    for (unsigned i = 0; i < config->stream_count; i++)
        numbers += hil_stream_width(&config->streams[i]);
    return numbers;
}

uint64_t hil_trace_chunk_rows(const struct hil_stream_config *stream, uint64_t numbers)
{
    uint64_t rows = CHUNK_ROWS_MAX;

    if (stream->chunk_rows)
        return stream->chunk_rows;
    if (strcmp(stream->name, HIL_EVENTS) == 0)
        return CHUNK_EVENTS;
    while (rows > CHUNK_ROWS_MIN &&
           (rows / 2 >= stream->rows || rows * numbers * sizeof(double) > BUFFER_BYTES))
        rows /= 2;
    return rows;
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

    H5Pset_chunk(create, dimensions, chunk);
    H5Pset_shuffle(create);
    H5Pset_deflate(create, TRACE_DEFLATE_LEVEL);
    H5Pset_obj_track_times(create, false); /* makes files reproducible */
    *dataset =
        H5Dcreate2(group, column->name, H5T_IEEE_F64LE, space, H5P_DEFAULT, create, H5P_DEFAULT);
    const int rc = *dataset < 0 ? trace_hdf5_error() : 0;

    H5Pclose(create);
    H5Sclose(space);
    return rc;
}

static int set_origin(hid_t dataset, const struct hil_origin *of)
{
    const struct hil_attribute attributes[] = {{HIL_SIGNALS, of->signals},
                                               {HIL_MEASURE, of->measure},
                                               {HIL_ROLE, of->role},
                                               {HIL_NAMES, of->names},
                                               {HIL_BETWEEN, of->between}};
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
                       const struct hil_stream_config *config)
{
    hid_t group;

    stream->width = hil_stream_width(config);
    stream->datasets = calloc(config->column_count, sizeof(struct trace_dataset));
    if (!stream->datasets)
        return -ENOMEM;
    stream->dataset_count = config->column_count;
    for (unsigned i = 0; i < config->column_count; i++)
        stream->datasets[i].id = H5I_INVALID_HID;
    int rc = trace_hdf5_create_group(trace->file, config->name, &group);
    if (rc)
        return rc;
    rc = set_cadence(group, &config->cadence);
    if (!rc)
        rc = open_datasets(stream, group, config);
    H5Gclose(group);
    return rc;
}

static int open_file(struct hil_trace *trace, const char *path,
                     const struct hil_trace_config *config)
{
    const uint64_t numbers = hil_trace_numbers(config);

    trace->streams = calloc(config->stream_count + 1, sizeof(struct trace_stream));
    if (!trace->streams)
        return -ENOMEM;
    trace->stream_count = config->stream_count;

    int rc = create_file(path, &trace->file);
    for (unsigned i = 0; i < config->attribute_count && !rc; i++)
        rc = trace_hdf5_set_text(trace->file, config->attributes[i].name,
                                 config->attributes[i].value);
    for (unsigned i = 0; i < config->stream_count && !rc; i++) {
        trace->streams[i].chunk_rows = hil_trace_chunk_rows(&config->streams[i], numbers);
        rc = open_stream(trace, &trace->streams[i], &config->streams[i]);
    }
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

static void free_trace(struct hil_trace *trace)
{
    for (unsigned i = 0; i < trace->stream_count; i++) {
        free(trace->streams[i].datasets);
        free(trace->streams[i].buffer);
    }
    free(trace->streams);
    free(trace);
}

int hil_trace_create(struct hil_trace **trace, const char *path,
                     const struct hil_trace_config *config)
{
    struct hil_trace *made = calloc(1, sizeof *made);

    trace_hdf5_enter();
    if (!made)
        return -ENOMEM;
    made->file = H5I_INVALID_HID;
    const int rc = open_file(made, path, config);
    if (rc) {
        if (made->file >= 0)
            unlink(path);
        close_file(made);
        free_trace(made);
        return rc;
    }
    *trace = made;
    return 0;
}

/* --- rows ---------------------------------------------------------------------------------- */

/* What is behind the last row of a chunk. */
static void clear_rest(const struct trace_stream *stream, double *values, hsize_t rows)
{
    for (unsigned i = 0; i < stream->width; i++)
        memset(values + i * stream->chunk_rows + rows, 0,
               (stream->chunk_rows - rows) * sizeof *values);
}

static int write_packed(const struct trace_stream *stream, const struct trace_dataset *dataset,
                        const struct trace_packed packed[], unsigned first, unsigned numbers)
{
    int rc = 0;

    for (unsigned i = 0; i < numbers && !rc; i++) {
        const hsize_t at[] = {stream->written, first + i};
        if (H5Dwrite_chunk(dataset->id, H5P_DEFAULT, 0, at, packed[i].bytes, packed[i].at) < 0)
            rc = trace_hdf5_error();
    }
    return rc;
}

static int write_numbers(const struct trace_stream *stream, const struct trace_dataset *dataset,
                         const double *values, unsigned first, unsigned threads)
{
    struct trace_packed packed[TRACE_NUMBERS];
    const unsigned rest = dataset->width - first;
    const unsigned numbers = rest < TRACE_NUMBERS ? rest : TRACE_NUMBERS;
    int rc = trace_pack(packed, values + (dataset->first + first) * stream->chunk_rows,
                        stream->chunk_rows, numbers, threads);

    if (!rc)
        rc = write_packed(stream, dataset, packed, first, numbers);
    trace_packed_free(packed, numbers);
    return rc;
}

static int write_dataset(const struct trace_stream *stream, const struct trace_dataset *dataset,
                         const double *values, hsize_t rows, unsigned threads)
{
    const hsize_t size[] = {stream->written + rows, dataset->width};
    int rc = H5Dset_extent(dataset->id, size) < 0 ? trace_hdf5_error() : 0;

    for (unsigned i = 0; i < dataset->width && !rc; i += TRACE_NUMBERS)
        rc = write_numbers(stream, dataset, values, i, threads);
    return rc;
}

int trace_write_chunk(struct hil_trace *trace, unsigned index, double *values, hsize_t rows,
                      unsigned threads)
{
    struct trace_stream *stream = &trace->streams[index];

    trace_hdf5_enter();
    clear_rest(stream, values, rows);
    for (unsigned i = 0; i < stream->dataset_count && !trace->error; i++)
        remember(trace, write_dataset(stream, &stream->datasets[i], values, rows, threads));
    if (!trace->error)
        stream->written += rows;
    return trace->error;
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

static int write_buffer(struct hil_trace *trace, unsigned index)
{
    struct trace_stream *stream = &trace->streams[index];
    const hsize_t rows = stream->buffered;

    stream->buffered = 0;
    return rows ? trace_write_chunk(trace, index, stream->buffer, rows, 1) : 0;
}

int hil_trace_append(struct hil_trace *trace, unsigned index, const double *rows, size_t count)
{
    struct trace_stream *stream = &trace->streams[index];

    if (!stream->buffer)
        stream->buffer = malloc(stream->width * stream->chunk_rows * sizeof(double));
    if (!stream->buffer)
        remember(trace, -ENOMEM);
    while (count > 0 && !trace->error) {
        const size_t room = stream->chunk_rows - stream->buffered;
        const size_t now = count < room ? count : room;

        buffer_rows(stream, rows, now);
        if (now == room)
            write_buffer(trace, index);
        rows += now * stream->width;
        count -= now;
    }
    return trace->error;
}

/* --- the end ------------------------------------------------------------------------------- */

int hil_trace_close(struct hil_trace *trace)
{
    trace_hdf5_enter();
    for (unsigned i = 0; i < trace->stream_count; i++)
        write_buffer(trace, i);
    remember(trace, close_file(trace));
    const int rc = trace->error;
    free_trace(trace);
    return rc;
}
