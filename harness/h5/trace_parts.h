/* The data structures of a trace that is being written, for the files that write it. */
#ifndef HIL_TRACE_PARTS_H
#define HIL_TRACE_PARTS_H

#include "trace.h"
#include "trace_hdf5.h"

struct hil_extent;
struct hil_journal;

struct trace_dataset {
    hid_t id;
    unsigned first, width; /* its range in the numbers of a row */
    int dimensions;
};

struct trace_stream {
    struct trace_dataset *datasets;
    unsigned dataset_count, width;
    hsize_t chunk_rows;
    hsize_t written;            /* rows in the file */
    hsize_t buffered;           /* rows in the buffer */
    double *buffer;             /* width x chunk_rows: the values of each column element side by
                                 * side */
    double first_ns, apart_ns;  /* due time of its first row, and interval of rows; interval 0: not
                                 * known */
    bool events;                /* its first number is the time of the row */
    struct hil_extent *extents; /* extents of the last written chunk, for the journal */
};

struct hil_trace {
    hid_t file;
    struct trace_stream *streams;
    unsigned stream_count;
    bool in_order;             /* chunks are written in order of time, as far as their times are
                                * known */
    struct trace_stream *next; /* the stream whose chunk comes next in this order */
    int error;                 /* the first error */
    bool ended;                /* the file is closed */
    char *path;
    char *part;                  /* name of a resumed trace until it is closed */
    struct hil_journal *journal; /* journal from which a resumed trace is made */
};

/* Takes ownership of the journal. Returns NULL when memory runs out. */
struct hil_trace *trace_new(const char *path, struct hil_journal *journal);
void trace_free(struct hil_trace *trace);

/* Creates the file with its groups and datasets. */
int trace_open_file(struct hil_trace *trace, const char *path);

/* Removes a partly written chunk completely. Returns `rc`. */
int trace_cut_off(const struct trace_stream *stream, int rc);

#endif
