/* Iterates over the rows of a stream of a trace, in blocks. */
#ifndef HIL_TRACE_ROWS_H
#define HIL_TRACE_ROWS_H

#include "trace_reader.h"

struct hil_trace_rows {
    const struct hil_trace_reader *trace;
    const struct hil_stream_config *stream;
    unsigned index; /* number of the stream */
    size_t block;   /* rows at a time */
    uint64_t next;  /* the first unread row */
    /* The block that was read last. */
    size_t count;     /* rows; 0: there are no more */
    double **columns; /* the rows' numbers, by column */
    double *steps;    /* steps of the same rows; NULL: not known */
};

/* Reads at most `most` rows at a time. Returns 0 or -ENOMEM. Close it after a return of 0. */
int hil_trace_rows_open(struct hil_trace_rows *rows, const struct hil_trace_reader *trace,
                        unsigned stream, size_t most);
void hil_trace_rows_close(struct hil_trace_rows *rows);

/* Reads the next block. Returns 0 or a negative errno. */
int hil_trace_rows_next(struct hil_trace_rows *rows);

#endif
