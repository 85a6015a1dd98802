/*
 * The trace of a run: an HDF5 file with a group for each stream of rows, and a dataset in it for
 * each column. Every dataset has the attributes `unit` and `doc`, and the given attributes of
 * struct hil_origin.
 *
 *      /                           attributes given by the caller: scenario, mode, ...
 *      /hub                        attributes of its loop: phase_ns, period_ns, decimation
 *      /hub/time_s                 rows
 *      /hub/current_a              rows x cells
 *      /cell/007/time_s            rows
 *      /events/time_s              rows: of HIL_EVENTS, a stream without a fixed rate
 *      /histograms/NAME/lower_ns   the least value of each bucket that is not empty,
 *      /histograms/NAME/count      and its count; the group has max_ns and sum_ns
 *
 * Numbers are 64-bit floating point. They are stored in shuffled and deflated chunks, each of which
 * holds one column element of many rows. Values that are adjacent in time compress several times
 * better and faster than values of different signals, and a reader of one column reads nothing
 * else. docs/record.md describes the streams and columns of a run.
 *
 * The file cannot be read while it is being written. Therefore the rows of a run go into a journal
 * (journal.h), from which the trace is made (trace_maker.h).
 *
 * trace_reader.h reads traces.
 */
#ifndef HIL_TRACE_H
#define HIL_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "histogram.h"

/* The origin of a column's numbers. A member that does not apply is NULL or "". */
struct hil_origin {
    const char *signals; /* "cell[*].current_a" */
    const char *measure; /* its name */
    const char *role;    /* in the measure: "value", "reference"; "each": of a measure made of each
                          * of these signals */
    const char *names;   /* the name of each whole number from 0 on, a line each */
    bool matrix;         /* its signals are of an array or a wide row, perhaps of one */
    const char *between; /* "held": a value holds until the next row */
};

/* A dataset of a stream, with `width` numbers in each row. */
struct hil_column {
    const char *name; /* "current_a" */
    const char *unit; /* "A" */
    const char *doc;
    unsigned width; /* a rows x width matrix, or a vector of rows */
    struct hil_origin of;
};

static inline bool hil_column_is_held(const struct hil_column *column)
{
    return column->of.between && column->of.between[0];
}

static inline bool hil_column_is_matrix(const struct hil_column *column)
{
    return column->of.matrix || column->width > 1;
}

/* The cadence of a stream's loop: step n is due phase_ns + n * period_ns after the start, and one
 * in every `decimation` steps has a row. All members are 0 when no loop is known. */
struct hil_cadence {
    uint64_t phase_ns, period_ns;
    uint64_t decimation;
};

struct hil_stream_config {
    const char *name; /* the HDF5 group "hub", "cell/007"; or HIL_EVENTS */
    const struct hil_column *columns;
    unsigned column_count;
    uint64_t rows;       /* the expected total; decides how many rows a chunk has */
    uint64_t chunk_rows; /* rows in a chunk; 0: as hil_trace_chunk_rows decides */
    struct hil_cadence cadence;
};

/* The stream of events, which has no cadence. Its first column is the time of the event in s, and
 * its rows are appended before rows of other streams that are due later. There is at most one, and
 * it is the last stream. */
#define HIL_EVENTS "events"

struct hil_attribute {
    const char *name, *value;
};

struct hil_trace_config {
    const struct hil_stream_config *streams;
    unsigned stream_count;
    const struct hil_attribute *attributes; /* attributes of the file */
    unsigned attribute_count;
    bool whole; /* no stream ever leaves out a row */
};

/* The number of values in a row of the stream: the sum of its columns' widths. */
unsigned hil_stream_width(const struct hil_stream_config *stream);

/* The number of values in a row of each stream, all together. */
uint64_t hil_trace_numbers(const struct hil_trace_config *config);

/* The rows in a chunk of a stream of a trace with so many numbers, a power of two. */
uint64_t hil_trace_chunk_rows(const struct hil_stream_config *stream, uint64_t numbers);

struct hil_trace;

/*
 * Creates the file, with all its datasets still empty, replacing an existing one. The configuration
 * may be freed after the call. Returns 0 or a negative errno. A trace may be used by one thread at
 * a time.
 */
int hil_trace_create(struct hil_trace **trace, const char *path,
                     const struct hil_trace_config *config);

/* Appends `count` rows. A row has the numbers of all columns side by side. Returns 0 or a negative
 * errno; -EIO if HDF5 gave no better reason. After the first error nothing more is recorded. */
int hil_trace_append(struct hil_trace *trace, unsigned stream, const double *rows, size_t count);

struct hil_named_histogram {
    const char *name;
    const struct hil_histogram *histogram;
};

/* Adds histograms. Call it at most once. Returns 0 or a negative errno. */
int hil_trace_add_histograms(struct hil_trace *trace, const struct hil_named_histogram *histograms,
                             unsigned count);

/* Writes the buffered rows, and closes the file. Returns 0 or the first error that the trace met;
 * frees the trace in any case. */
int hil_trace_close(struct hil_trace *trace);

#endif
