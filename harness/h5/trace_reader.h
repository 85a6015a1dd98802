/*
 * Reads a trace (see trace.h): first the streams and columns as they were given to the writer, then
 * their numbers, a block of rows at a time. The file is not trusted: it is rejected as not a trace
 * if it has sizes that no run writes.
 */
#ifndef HIL_TRACE_READER_H
#define HIL_TRACE_READER_H

#include "trace.h"

struct hil_trace_reader;

/* Returns 0 or a negative errno; -EBADMSG when the file is not a trace. */
int hil_trace_reader_open(struct hil_trace_reader **reader, const char *path);
void hil_trace_reader_close(struct hil_trace_reader *reader);

/* An attribute of the file; "" when there is none of that name. Valid until the next call. */
const char *hil_trace_attribute(struct hil_trace_reader *reader, const char *name);

/* The streams in their original order, without the stream of events. `rows` is the number of rows
 * in each. */
const struct hil_stream_config *hil_trace_streams(const struct hil_trace_reader *reader,
                                                  unsigned *count);

/* The stream of events, and its number for hil_trace_read; NULL when there is none. trace_events.h
 * reads its rows. */
const struct hil_stream_config *hil_trace_events(const struct hil_trace_reader *reader,
                                                 unsigned *stream);

/* The index of the stream, or of the column in its stream; -1 when there is none. */
int hil_trace_stream_find(const struct hil_trace_reader *reader, const char *name);
int hil_trace_column_find(const struct hil_stream_config *stream, const char *name);

/* The number of rows that are stored together. Reading is quickest in blocks of this size that
 * begin at a multiple of it. */
size_t hil_trace_block_rows(const struct hil_trace_reader *reader, unsigned stream);

/* Reads the step numbers of rows first .. first + count - 1. They were recorded, or in a whole
 * trace follow from the row numbers. Returns -ENODATA if neither is the case. */
int hil_trace_read_steps(const struct hil_trace_reader *reader, unsigned stream, uint64_t first,
                         size_t count, double *steps);

/*
 * Reads `count` rows of a column from `first` on, `width` numbers each, to `values`, which has room
 * for `room` numbers. Returns 0 or a negative errno; -EBADMSG when the room is too small for the
 * column.
 */
int hil_trace_read(const struct hil_trace_reader *reader, unsigned stream, unsigned column,
                   uint64_t first, size_t count, double *values, size_t room);

/* The same for one place in the column's rows: one number of each row. */
int hil_trace_read_place(const struct hil_trace_reader *reader, unsigned stream, unsigned column,
                         unsigned place, uint64_t first, size_t count, double *values);

/* The name of histogram `i`; NULL when there are no more. */
const char *hil_trace_histogram_name(const struct hil_trace_reader *reader, unsigned i);

/* Sets *histogram to the histogram of that name. Returns 0 or a negative errno. */
int hil_trace_read_histogram(const struct hil_trace_reader *reader, const char *name,
                             struct hil_histogram *histogram);

#endif
