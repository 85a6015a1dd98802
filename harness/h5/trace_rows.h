/* The rows of a stream of a trace, in order, some at a time. */
#ifndef HIL_TRACE_ROWS_H
#define HIL_TRACE_ROWS_H

#include "trace_reader.h"

struct hil_trace_rows {
    const struct hil_trace_reader *trace;
    const struct hil_stream_config *stream;
    unsigned index; /* of the stream */
    size_t block;   /* rows at a time */
    uint64_t next;  /* the first row that has not been read */
    /* What was read last. */
    size_t count;     /* rows; 0: there are no more */
    double **columns; /* of each, the rows' numbers */
    double *steps;    /* of the same rows; NULL: they are not known */
};

/* At most `most` rows at a time. Returns 0 or -ENOMEM; what it returned 0 for is closed. */
int hil_trace_rows_open(struct hil_trace_rows *rows, const struct hil_trace_reader *trace,
                        unsigned stream, size_t most);
void hil_trace_rows_close(struct hil_trace_rows *rows);

/* Reads the next ones. Returns 0 or a negative errno. */
int hil_trace_rows_next(struct hil_trace_rows *rows);

#endif
