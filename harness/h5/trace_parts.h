/* The data structures of a trace that is being written, for the files that write it. */
#ifndef HIL_TRACE_PARTS_H
#define HIL_TRACE_PARTS_H

#include "trace.h"
#include "trace_hdf5.h"

struct trace_dataset {
    hid_t id;
    unsigned first, width; /* its range in the numbers of a row */
};

struct trace_stream {
    struct trace_dataset *datasets;
    unsigned dataset_count, width;
    hsize_t chunk_rows;
    hsize_t written; /* rows in the file */
    /* The rows of the next chunk, by hil_trace_append: the values of each number side by side, as
     * trace_write_chunk takes them. NULL: none was appended. */
    double *buffer;
    hsize_t buffered;
};

struct hil_trace {
    hid_t file;
    struct trace_stream *streams;
    unsigned stream_count;
    int error; /* the first error */
};

/* Writes the stream's next chunk, its first `rows` rows: the value of number i in row r is values[i
 * * chunk_rows + r]. Numbers are packed by so many threads. Only the last chunk may have fewer rows
 * than chunk_rows. Returns 0 or the trace's first error. */
int trace_write_chunk(struct hil_trace *trace, unsigned stream, double *values, hsize_t rows,
                      unsigned threads);

#endif
