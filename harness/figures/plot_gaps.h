/*
 * Gaps in a record: steps that were left out, or whose rows were dropped. Curves are broken there,
 * and the steps are marked.
 */
#ifndef HIL_PLOT_GAPS_H
#define HIL_PLOT_GAPS_H

#include "../h5/trace_reader.h"

/* The gaps of a stream that is read block by block from its beginning. */
struct plot_gaps {
    const struct hil_trace_reader *trace;
    unsigned stream;
    double *steps;   /* step of each row of the block; NULL: not recorded */
    double *nothing; /* a row of values that are not numbers, to stand for a gap */
    double apart;    /* steps between consecutive rows */
    double apart_s;  /* seconds between consecutive rows */
    double next;     /* the step expected next */
    double last_s;   /* time of the row before */
};

/* For blocks of at most this many rows with `width` numbers each. Returns 0 or -ENOMEM. */
int plot_gaps_open(struct plot_gaps *gaps, const struct hil_trace_reader *trace, unsigned stream,
                   unsigned width, size_t block);
void plot_gaps_close(struct plot_gaps *gaps);

/* Reads the steps of a block. Returns 0 or a negative errno. */
int plot_gaps_read(struct plot_gaps *gaps, uint64_t first, size_t rows);

/* Whether there is a gap before this row of the block, whose time is given: rows are missing, or
 * the row is so late that another would have fitted before it. Call it for each row in order. */
bool plot_gaps_before(struct plot_gaps *gaps, size_t row, double time_s);

/* Calls `each` with the time of each missed step, in order of time, up to the first 16 million. A
 * step is missed if it has no row, or began at least a period late. There are none where the record
 * has no steps, as in virtual time. Returns 0 or a negative errno. */
typedef void plot_missed_fn(void *arg, double time_s);
int plot_gaps_each_missed(const struct hil_trace_reader *trace, unsigned stream,
                          plot_missed_fn *each, void *arg);

#endif
