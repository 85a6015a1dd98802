#include "trace_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../base/foreign.h"
#include "../base/result_file.h"
#include "trace_hdf5.h"

/* Limits of a valid record, which a hostile file may exceed. Deflate compresses at most 1032 bytes
 * into one. */
enum {
    DEFLATE_MOST = 1032,
    WIDTH_MAX = 1 << 16,
    CHUNK_BYTES_MAX = 64 << 20,
    BLOCK_NUMBERS_MAX = 1 << 23,
};

struct found {
    char *group, *name; /* one allocation, owned by group */
};

struct hil_trace_reader {
    hid_t file;
    struct found *found; /* all datasets in the order of creation */
    unsigned found_count;

    /* Each has room for everything found; the columns of a stream are consecutive. */
    struct hil_stream_config *streams;
    struct hil_column *columns;
    hid_t *datasets; /* by column */
    const char **histograms;
    unsigned stream_count, column_count, histogram_count;
    bool has_events; /* a stream of events exists, after the others */

    char *attribute; /* the last requested one */
    uint64_t room;   /* number of bytes that the values in a file of this size can have, minus those
                      * found so far */
};

/* --- attributes ---------------------------------------------------------------------------- */

/* Whether the attribute is a single element of that class: HDF5 writes as many elements as the file
 * claims, even where one is expected. */
static bool is_one(hid_t attribute, H5T_class_t class)
{
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const bool one = H5Tget_class(type) == class && H5Sget_simple_extent_npoints(space) == 1;
    const bool fixed = class == H5T_STRING && H5Tis_variable_str(type) <= 0;

    H5Sclose(space);
    H5Tclose(type);
    return one && !fixed;
}

static char *read_text(hid_t attribute)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    char *text = NULL;

    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    if (is_one(attribute, H5T_STRING))
        H5Aread(attribute, type, &text);
    char *copy = strdup(text ? text : "");

    H5free_memory(text);
    H5Tclose(type);
    return copy;
}

/* A copy of the attribute's text, empty if it is missing; NULL when memory runs out. */
static char *get_text(hid_t object, const char *name)
{
    if (H5Aexists(object, name) <= 0)
        return strdup("");

    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    char *text = read_text(attribute);
    H5Aclose(attribute);
    return text;
}

static int get_count(hid_t object, const char *name, uint64_t *count)
{
    if (H5Aexists(object, name) <= 0)
        return -ENODATA;

    const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    const herr_t read =
        is_one(attribute, H5T_INTEGER) ? H5Aread(attribute, H5T_NATIVE_UINT64, count) : -1;

    H5Aclose(attribute);
    return read < 0 ? -EBADMSG : 0;
}

const char *hil_trace_attribute(struct hil_trace_reader *reader, const char *name)
{
    trace_hdf5_enter();
    free(reader->attribute);
    reader->attribute = get_text(reader->file, name);
    return reader->attribute ? reader->attribute : "";
}

/* --- contents of the file ------------------------------------------------------------------ */

/* The name of the histogram in this group; NULL if it has none. */
static const char *histogram_name(const char *group)
{
    const size_t length = strlen(HIL_HISTOGRAMS "/");

    return strncmp(group, HIL_HISTOGRAMS "/", length) == 0 ? group + length : NULL;
}

static int list(struct hil_trace_reader *reader, const char *path)
{
    const size_t size = (reader->found_count + 1) * sizeof(struct found);
    struct found *found = realloc(reader->found, size);
    if (!found)
        return -ENOMEM;
    reader->found = found;

    char *group = strdup(path);
    if (!group)
        return -ENOMEM;
    char *slash = strrchr(group, '/');
    *slash = '\0';
    found[reader->found_count++] = (struct found){group, slash + 1};
    return 0;
}

static bool is_dataset(hid_t file, const char *path)
{
    H5O_info_t info;

    return H5Oget_info_by_name2(file, path, &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
           info.type == H5O_TYPE_DATASET;
}

/* A result other than zero ends the walk; HDF5's own errors are negative. Links that are not hard
 * links may lead to another file, and are refused. */
static herr_t visit(hid_t group, const char *path, const H5L_info_t *info, void *reader)
{
    const bool ours = info->type == H5L_TYPE_HARD && strchr(path, '/') && is_dataset(group, path);

    return ours ? -list(reader, path) : 0;
}

static int list_datasets(struct hil_trace_reader *reader)
{
    const herr_t end = H5Lvisit(reader->file, H5_INDEX_CRT_ORDER, H5_ITER_INC, visit, reader);

    return end < 0 ? -EBADMSG : -end;
}

static int get_shape(hid_t dataset, uint64_t *rows, struct hil_column *column)
{
    hsize_t size[2] = {0, 1};
    const hid_t space = H5Dget_space(dataset);
    const int dimensions = H5Sget_simple_extent_ndims(space);
    const bool known = (dimensions == 1 || dimensions == 2) &&
                       H5Sget_simple_extent_dims(space, size, NULL) == dimensions;

    H5Sclose(space);
    if (!known || size[1] == 0 || size[1] > WIDTH_MAX)
        return -EBADMSG;
    *rows = size[0];
    column->width = (unsigned)size[1];
    column->of.matrix = dimensions == 2;
    return 0;
}

/* Numbers with more than 8 bytes are refused. */
static bool holds_numbers(hid_t dataset)
{
    const hid_t type = H5Dget_type(dataset);
    const H5T_class_t class = H5Tget_class(type);
    const bool numbers = (class == H5T_FLOAT || class == H5T_INTEGER) && H5Tget_size(type) <= 8;

    H5Tclose(type);
    return numbers;
}

/* Whether the data is in this file rather than in others, in chunks of acceptable size. */
static bool lies_here(hid_t dataset)
{
    hsize_t chunk[2] = {1, 1};
    const hid_t create = H5Dget_create_plist(dataset);
    const H5D_layout_t layout = H5Pget_layout(create);
    const bool fits = layout != H5D_CHUNKED ||
                      (H5Pget_chunk(create, 2, chunk) <= 2 && /* each is less than 2^32 */
                       hil_foreign_fits(chunk[0] * chunk[1], sizeof(double), CHUNK_BYTES_MAX));
    const bool here = layout != H5D_VIRTUAL && H5Pget_external_count(create) == 0;

    H5Pclose(create);
    return here && fits;
}

/* The only check of a column's sizes; later code relies on it. */
static int check_column(struct hil_trace_reader *reader, hid_t dataset, uint64_t rows,
                        unsigned width)
{
    const uint64_t row = width * sizeof(double);

    if (!holds_numbers(dataset) || !lies_here(dataset) ||
        !hil_foreign_fits(rows, row, reader->room))
        return -EBADMSG;
    reader->room -= rows * row;
    return 0;
}

static int get_texts(hid_t dataset, struct hil_column *column)
{
    column->unit = get_text(dataset, HIL_UNIT);
    column->doc = get_text(dataset, HIL_DOC);
    column->of = (struct hil_origin){
        get_text(dataset, HIL_SIGNALS),
        get_text(dataset, HIL_MEASURE),
        get_text(dataset, HIL_ROLE),
        get_text(dataset, HIL_NAMES),
        column->of.matrix,
        get_text(dataset, HIL_BETWEEN),
    };
    const bool all = column->unit && column->doc && column->of.signals && column->of.measure &&
                     column->of.role && column->of.names && column->of.between;
    return all ? 0 : -ENOMEM;
}

static void free_texts(const struct hil_column *column)
{
    free((char *)column->unit);
    free((char *)column->doc);
    free((char *)column->of.signals);
    free((char *)column->of.measure);
    free((char *)column->of.role);
    free((char *)column->of.names);
    free((char *)column->of.between);
}

/* All columns of a stream have the same number of rows, unless the writer was cut off. */
static int open_column(struct hil_trace_reader *reader, struct hil_stream_config *stream,
                       const struct found *found)
{
    const unsigned i = reader->column_count++;
    struct hil_column *column = &reader->columns[i];
    const hid_t group = H5Gopen2(reader->file, found->group, H5P_DEFAULT);
    uint64_t rows;

    reader->datasets[i] = H5Dopen2(group, found->name, H5P_DEFAULT);
    H5Gclose(group);
    int rc = get_shape(reader->datasets[i], &rows, column);
    if (!rc)
        rc = check_column(reader, reader->datasets[i], rows, column->width);
    if (rc)
        return rc;

    column->name = found->name;
    rc = get_texts(reader->datasets[i], column);
    if (rc)
        return rc;
    stream->column_count++;
    if (rows < stream->rows)
        stream->rows = rows;
    return 0;
}

/* Leaves the cadence unchanged if the group does not have it. */
static void get_cadence(hid_t file, struct hil_stream_config *stream)
{
    const hid_t group = H5Gopen2(file, stream->name, H5P_DEFAULT);
    struct hil_cadence cadence;

    if (get_count(group, HIL_PHASE, &cadence.phase_ns) == 0 &&
        get_count(group, HIL_PERIOD, &cadence.period_ns) == 0 &&
        get_count(group, HIL_DECIMATION, &cadence.decimation) == 0)
        stream->cadence = cadence;
    H5Gclose(group);
}

static struct hil_stream_config *stream_of(struct hil_trace_reader *reader,
                                           const struct found *found)
{
    struct hil_stream_config *next = &reader->streams[reader->stream_count];

    if (reader->stream_count > 0 && strcmp(next[-1].name, found->group) == 0)
        return next - 1;
    *next = (struct hil_stream_config){
        .name = found->group,
        .columns = &reader->columns[reader->column_count],
        .rows = UINT64_MAX,
    };
    get_cadence(reader->file, next);
    reader->stream_count++;
    return next;
}

static int open_found(struct hil_trace_reader *reader, const struct found *found)
{
    const char *histogram = histogram_name(found->group);

    if (!histogram)
        return open_column(reader, stream_of(reader, found), found);
    if (strcmp(found->name, "count") == 0) /* one of its two datasets is enough */
        reader->histograms[reader->histogram_count++] = histogram;
    return 0;
}

/* Moves the stream of events behind the others, from which it is separate. */
static void set_events_apart(struct hil_trace_reader *reader)
{
    const int events = hil_trace_stream_find(reader, HIL_EVENTS);

    if (events < 0)
        return;
    struct hil_stream_config *at = &reader->streams[events];
    const struct hil_stream_config stream = *at;
    reader->stream_count--;
    memmove(at, at + 1, (reader->stream_count - (unsigned)events) * sizeof *at);
    reader->streams[reader->stream_count] = stream;
    reader->has_events = true;
}

static int open_all(struct hil_trace_reader *reader)
{
    hsize_t bytes;
    int rc = H5Fget_filesize(reader->file, &bytes) < 0 ? -EBADMSG : list_datasets(reader);
    if (rc)
        return rc;

    reader->room = bytes < UINT64_MAX / DEFLATE_MOST ? bytes * DEFLATE_MOST : UINT64_MAX;

    const size_t room = reader->found_count + 1;
    reader->streams = calloc(room, sizeof(*reader->streams));
    reader->columns = calloc(room, sizeof(*reader->columns));
    reader->datasets = calloc(room, sizeof(*reader->datasets));
    reader->histograms = calloc(room, sizeof(*reader->histograms));
    if (!reader->streams || !reader->columns || !reader->datasets || !reader->histograms)
        return -ENOMEM;
    for (unsigned i = 0; i < reader->found_count && !rc; i++)
        rc = open_found(reader, &reader->found[i]);
    set_events_apart(reader);
    return rc;
}

int hil_trace_reader_open(struct hil_trace_reader **reader, const char *path)
{
    trace_hdf5_enter();
    struct hil_trace_reader *made = calloc(1, sizeof(*made));
    if (!made)
        return -ENOMEM;

    int rc = hil_result_open(path, O_RDONLY);
    if (rc >= 0)
        close(rc);
    made->file = rc < 0 ? -1 : H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    if (rc >= 0)
        rc = made->file >= 0 ? 0 : trace_hdf5_reason(-EBADMSG);
    if (!rc)
        rc = open_all(made);
    if (rc) {
        hil_trace_reader_close(made);
        return rc;
    }
    *reader = made;
    return 0;
}

void hil_trace_reader_close(struct hil_trace_reader *reader)
{
    trace_hdf5_enter();
    for (unsigned i = 0; i < reader->column_count; i++) {
        H5Dclose(reader->datasets[i]);
        free_texts(&reader->columns[i]);
    }
    for (unsigned i = 0; i < reader->found_count; i++)
        free(reader->found[i].group);
    if (reader->file >= 0)
        H5Fclose(reader->file);
    free(reader->found);
    free(reader->streams);
    free(reader->columns);
    free(reader->datasets);
    free(reader->histograms);
    free(reader->attribute);
    free(reader);
}

const struct hil_stream_config *hil_trace_streams(const struct hil_trace_reader *reader,
                                                  unsigned *count)
{
    *count = reader->stream_count;
    return reader->streams;
}

const struct hil_stream_config *hil_trace_events(const struct hil_trace_reader *reader,
                                                 unsigned *stream)
{
    *stream = reader->stream_count;
    return reader->has_events ? &reader->streams[reader->stream_count] : NULL;
}

int hil_trace_stream_find(const struct hil_trace_reader *reader, const char *name)
{
    for (unsigned i = 0; i < reader->stream_count; i++)
        if (strcmp(reader->streams[i].name, name) == 0)
            return (int)i;
    return -1;
}

int hil_trace_column_find(const struct hil_stream_config *stream, const char *name)
{
    for (unsigned i = 0; i < stream->column_count; i++)
        if (strcmp(stream->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* --- numbers ------------------------------------------------------------------------------- */

static hid_t dataset_of(const struct hil_trace_reader *reader, unsigned stream, unsigned column)
{
    return reader->datasets[reader->streams[stream].columns - reader->columns + column];
}

/* The greatest block size of the stream's columns. */
static size_t block_rows_max(const struct hil_stream_config *stream)
{
    unsigned widest = 1;

    for (unsigned i = 0; i < stream->column_count; i++)
        if (stream->columns[i].width > widest)
            widest = stream->columns[i].width;
    return BLOCK_NUMBERS_MAX / widest;
}

size_t hil_trace_block_rows(const struct hil_trace_reader *reader, unsigned stream)
{
    trace_hdf5_enter();
    const size_t most = block_rows_max(&reader->streams[stream]);
    const hid_t create = H5Dget_create_plist(dataset_of(reader, stream, 0));
    hsize_t chunk[2] = {0, 0};
    const int dimensions = H5Pget_chunk(create, 2, chunk);

    H5Pclose(create);
    const size_t rows = dimensions > 0 ? (size_t)chunk[0] : 1024;
    return rows < most ? rows : most;
}

/* Reads the places first_place .. first_place + places - 1 of the rows. */
static int read_rectangle(hid_t dataset, uint64_t first, size_t count, unsigned first_place,
                          unsigned places, double *values)
{
    const hid_t in_file = H5Dget_space(dataset);
    const hsize_t start[] = {first, first_place};
    const hsize_t size[] = {count, places};
    const hid_t in_memory = H5Screate_simple(H5Sget_simple_extent_ndims(in_file), size, NULL);
    herr_t status = H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, size, NULL);

    if (status >= 0)
        status = H5Dread(dataset, H5T_NATIVE_DOUBLE, in_memory, in_file, H5P_DEFAULT, values);
    const int rc = status < 0 ? trace_hdf5_error() : 0;

    H5Sclose(in_memory);
    H5Sclose(in_file);
    return rc;
}

int hil_trace_read(const struct hil_trace_reader *reader, unsigned stream, unsigned column,
                   uint64_t first, size_t count, double *values, size_t room)
{
    const unsigned width = reader->streams[stream].columns[column].width;

    trace_hdf5_enter();
    if (!hil_foreign_fits(count, width, room))
        return -EBADMSG;
    return read_rectangle(dataset_of(reader, stream, column), first, count, 0, width, values);
}

int hil_trace_read_place(const struct hil_trace_reader *reader, unsigned stream, unsigned column,
                         unsigned place, uint64_t first, size_t count, double *values)
{
    trace_hdf5_enter();
    return read_rectangle(dataset_of(reader, stream, column), first, count, place, 1, values);
}

int hil_trace_read_steps(const struct hil_trace_reader *reader, unsigned stream, uint64_t first,
                         size_t count, double *steps)
{
    const struct hil_stream_config *config = &reader->streams[stream];
    const int column = hil_trace_column_find(config, "step");

    if (column >= 0)
        return hil_trace_read(reader, stream, (unsigned)column, first, count, steps, count);
    if (config->cadence.period_ns == 0)
        return -ENODATA;
    for (size_t i = 0; i < count; i++)
        steps[i] = (double)((first + i) * config->cadence.decimation);
    return 0;
}

/* --- histograms ---------------------------------------------------------------------------- */

const char *hil_trace_histogram_name(const struct hil_trace_reader *reader, unsigned i)
{
    return i < reader->histogram_count ? reader->histograms[i] : NULL;
}

/* Reads at most as many numbers as a histogram has buckets. Returns how many, or a negative
 * errno. */
static int read_counts(hid_t group, const char *name, uint64_t *values)
{
    const hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
    const hid_t space = H5Dget_space(dataset);
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    int rc = -EBADMSG;

    if (count >= 0 && count <= HIL_HISTOGRAM_BUCKETS &&
        H5Dread(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0)
        rc = (int)count;
    H5Sclose(space);
    H5Dclose(dataset);
    return rc;
}

static int read_histogram(hid_t group, struct hil_histogram *histogram)
{
    uint64_t lower_ns[HIL_HISTOGRAM_BUCKETS], counts[HIL_HISTOGRAM_BUCKETS];
    const int buckets = read_counts(group, "lower_ns", lower_ns);

    *histogram = (struct hil_histogram){0};
    if (buckets < 0 || read_counts(group, "count", counts) != buckets)
        return -EBADMSG;
    for (int i = 0; i < buckets; i++) {
        histogram->buckets[hil_histogram_bucket(lower_ns[i])] += counts[i];
        histogram->count += counts[i];
    }
    const int rc = get_count(group, "max_ns", &histogram->max);
    return rc ? rc : get_count(group, "sum_ns", &histogram->sum);
}

int hil_trace_read_histogram(const struct hil_trace_reader *reader, const char *name,
                             struct hil_histogram *histogram)
{
    trace_hdf5_enter();
    const hid_t all = H5Gopen2(reader->file, HIL_HISTOGRAMS, H5P_DEFAULT);
    const hid_t group = H5Gopen2(all, name, H5P_DEFAULT);
    const int rc = group < 0 ? -ENOENT : read_histogram(group, histogram);

    H5Gclose(group);
    H5Gclose(all);
    return rc;
}
