/*
 * Where a record has no samples: steps that were left out, or whose rows were dropped. Curves are
 * broken there, and the steps marked.
 */
#ifndef HIL_PLOT_GAPS_H
#define HIL_PLOT_GAPS_H

#include "../h5/trace_reader.h"

/* The gaps of a stream that is read block by block, from its beginning on. */
struct plot_gaps {
    const struct hil_trace_reader *trace;
    unsigned stream;
    double *steps;   /* of the block's rows; NULL: the record does not say */
    double *nothing; /* what stands for a row in a gap: numbers that are none */
    double apart;    /* from the step of a row to that of the next */
    double apart_s;  /* and from its time */
    double next;     /* the step that should come next */
    double last_s;   /* the time of the row before */
};

/* For blocks of at most so many rows, `width` numbers each. Returns 0 or -ENOMEM. */
int plot_gaps_open(struct plot_gaps *gaps, const struct hil_trace_reader *trace, unsigned stream,
                   unsigned width, size_t block);
void plot_gaps_close(struct plot_gaps *gaps);

/* Reads the steps of a block. Returns 0 or a negative errno. */
int plot_gaps_read(struct plot_gaps *gaps, uint64_t first, size_t rows);

/* Whether there is a gap before this row of the block, which has that time: rows are missing, or it
 * is so late that one more would have had its place. For each row, in their order. */
bool plot_gaps_before(struct plot_gaps *gaps, size_t row, double time_s);

/* Calls `each` with the time of each step that was missed, in the order of time: it has no row, or
 * began a period late or more; the first 16 million of them. None where the record has no steps, as
 * in virtual time. Returns 0 or a negative errno. */
typedef void plot_missed_fn(void *arg, double time_s);
int plot_gaps_each_missed(const struct hil_trace_reader *trace, unsigned stream,
                          plot_missed_fn *each, void *arg);

#endif
