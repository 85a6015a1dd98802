/* What a trace is while it is written: for the files that write it. */
#ifndef HIL_TRACE_PARTS_H
#define HIL_TRACE_PARTS_H

#include "trace.h"
#include "trace_hdf5.h"

struct hil_extent;
struct hil_journal;

struct trace_dataset {
    hid_t id;
    unsigned first, width; /* the numbers of a row that it takes */
};

struct trace_stream {
    struct trace_dataset *datasets;
    unsigned dataset_count, width;
    hsize_t chunk_rows;
    hsize_t written;            /* rows in the file */
    hsize_t buffered;           /* rows in the buffer */
    double *buffer;             /* width x chunk_rows: each number's values side by side */
    double first_ns, apart_ns;  /* when its rows are due; apart 0: not known */
    bool events;                /* its first numbers say when its rows were */
    struct hil_extent *extents; /* of the chunk that was written last, for the journal */
};

struct hil_trace {
    hid_t file;
    struct trace_stream *streams;
    unsigned stream_count;
    bool in_order;             /* of the time of chunks, where that is known */
    struct trace_stream *next; /* the one whose chunk is the next in this order */
    int error;                 /* the first that was met */
    bool ended;                /* the file is closed */
    char *path;
    char *part;                  /* of a resumed one: its name until it is closed */
    struct hil_journal *journal; /* of a resumed one: the journal that it is made from */
};

/* Takes over the journal. NULL: there is no memory. */
struct hil_trace *trace_new(const char *path, struct hil_journal *journal);
void trace_free(struct hil_trace *trace);

/* Makes the file, with its groups and datasets. */
int trace_open_file(struct hil_trace *trace, const char *path);

/* Of a chunk that was written in part, nothing stays. Returns `rc`. */
int trace_cut_off(const struct trace_stream *stream, int rc);

#endif
