/*
 * The trace of a run: an HDF5 file with a group for each stream of rows, and in it a
 * dataset for each column. Every dataset has the attributes `unit` and `doc`, and those of struct
 * hil_origin that it was given.
 *
 *      /                           attributes given by the caller: scenario, mode, ...
 *      /hub                        attributes of its loop: phase_ns, period_ns, decimation
 *      /hub/time_s                 rows
 *      /hub/current_a              rows x cells
 *      /cell/007/time_s            rows
 *      /events/time_s              rows: of HIL_EVENTS, a stream that comes when it comes
 *      /histograms/NAME/lower_ns   the least value of each bucket that is not empty,
 *      /histograms/NAME/count      and its count; the group has max_ns and sum_ns
 *
 * Numbers are 64-bit floating point, chunked, shuffled and deflated, in chunks that each
 * hold one number of many rows: values next to one another in time compress several times
 * better and faster than those of different signals, and a reader of one column reads
 * nothing else. docs/record.md says which streams and columns a run has.
 *
 * A chunk is written once all its rows are there. In a whole trace, where every row that is due
 * comes, chunks are written in the order of the time of their last rows. So the same rows give the
 * same file, bit for bit, in whatever order the streams' rows were appended.
 *
 * While the file is written it cannot be read; a journal beside it (journal.h) then has what is
 * needed to make it whole, should the writer die: hil_trace_resume.
 *
 * trace_reader.h reads it.
 */
#ifndef HIL_TRACE_H
#define HIL_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "histogram.h"

/* What a column has its numbers from, or what they stand for. NULL or "": not of that. */
struct hil_origin {
    const char *signals; /* "cell[*].current_a" */
    const char *measure; /* its name */
    const char *role;    /* in the measure: "value", "reference"; "each": it is of each of these */
    const char *names;   /* a line for each whole number from 0 on */
};

/* A dataset of a stream: `width` numbers of each row. */
struct hil_column {
    const char *name; /* "current_a" */
    const char *unit; /* "A" */
    const char *doc;
    unsigned width; /* 1: a vector of rows; more: a matrix rows x width */
    struct hil_origin of;
};

/* The loop that a stream is of: step n is due phase_ns + n * period_ns after the start, and one of
 * every `decimation` steps has a row. All 0: no loop is known. */
struct hil_cadence {
    uint64_t phase_ns, period_ns;
    uint64_t decimation;
};

struct hil_stream_config {
    const char *name; /* "hub", "cell/007": the HDF5 group; or HIL_EVENTS */
    const struct hil_column *columns;
    unsigned column_count;
    uint64_t rows; /* how many are expected in all; buffers are sized by it */
    struct hil_cadence cadence;
};

/* The stream of events, which has no cadence: its first column is when each was, in s, and its rows
 * are appended before other streams' that are due later. At most one, and the last. */
#define HIL_EVENTS "events"

struct hil_attribute {
    const char *name, *value;
};

struct hil_trace_config {
    const struct hil_stream_config *streams;
    unsigned stream_count;
    const struct hil_attribute *attributes; /* of the file */
    unsigned attribute_count;
    bool whole; /* no stream leaves out a row */
};

/* The numbers in a row of a stream: the widths of its columns together. */
unsigned hil_stream_width(const struct hil_stream_config *stream);

struct hil_trace;

/*
 * Creates the file and its journal, replacing those that are there, with all its datasets, empty.
 * What the configuration points at need not outlive the call. Returns 0 or a negative errno. A
 * trace is used by one thread at a time.
 */
int hil_trace_create(struct hil_trace **trace, const char *path,
                     const struct hil_trace_config *config);

/* The same in two steps: the journal alone, and, in this process or a child, the file. The trace
 * takes the journal, on errors too. */
struct hil_journal;
int hil_trace_create_journal(struct hil_journal **journal, const char *path,
                             const struct hil_trace_config *config);
int hil_trace_begin(struct hil_trace **trace, const char *path, struct hil_journal *journal);

/*
 * Makes a trace again whose writer died, from its journal: all rows that had been appended then.
 * More may be appended, in any order. It takes the place of the old one when it is closed. Returns
 * 0 or a negative errno: -ENOENT when there is no journal, so nothing to mend.
 */
int hil_trace_resume(struct hil_trace **trace, const char *path);

/* How many rows the stream has. */
uint64_t hil_trace_rows(const struct hil_trace *trace, unsigned stream);

/* How many rows the stream takes now. In a whole trace 0 means that its chunk is full, and waits
 * for other streams' that come before it. */
size_t hil_trace_room(const struct hil_trace *trace, unsigned stream);

/* Appends `count` rows, at most as many as there is room for, each the columns' numbers side by
 * side. Returns 0 or a negative errno; -EIO where HDF5 gave no better reason. The first error
 * closes the file, with the rows that came before it: nothing more comes. */
int hil_trace_append(struct hil_trace *trace, unsigned stream, const double *rows, size_t count);

/* Rows that have not come will not come: no chunk waits for another any more. */
void hil_trace_end_order(struct hil_trace *trace);

struct hil_named_histogram {
    const char *name;
    const struct hil_histogram *histogram;
};

/* Adds histograms, once. Returns 0 or a negative errno. */
int hil_trace_add_histograms(struct hil_trace *trace, const struct hil_named_histogram *histograms,
                             unsigned count);

/*
 * Writes what is still buffered, and closes. Returns 0 or the first error of all that the trace
 * met; frees it in any case. The journal goes, but where the file could not be closed.
 */
int hil_trace_close(struct hil_trace *trace);

#endif
