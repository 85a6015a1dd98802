/*
 * Reads a trace (trace.h says what is in it): the streams and columns as they were given to
 * the writer, then their numbers, a block of rows at a time. The file may be anybody's: sizes that
 * no run writes make it no trace.
 */
#ifndef HIL_TRACE_READER_H
#define HIL_TRACE_READER_H

#include "trace.h"

struct hil_trace_reader;

/* Returns 0 or a negative errno; -EBADMSG when the file is no trace. */
int hil_trace_reader_open(struct hil_trace_reader **reader, const char *path);
void hil_trace_reader_close(struct hil_trace_reader *reader);

/* An attribute of the file; "" when there is none of that name. Valid until the next call. */
const char *hil_trace_attribute(struct hil_trace_reader *reader, const char *name);

/* The streams in the order in which they were given, without that of events; `rows` is what each
 * holds. */
const struct hil_stream_config *hil_trace_streams(const struct hil_trace_reader *reader,
                                                  unsigned *count);

/* The stream of events, and its number for hil_trace_read; NULL when there is none. trace_events.h
 * reads it. */
const struct hil_stream_config *hil_trace_events(const struct hil_trace_reader *reader,
                                                 unsigned *stream);

/* The index of the stream, or of the column in its stream; -1 when there is none. */
int hil_trace_stream_find(const struct hil_trace_reader *reader, const char *name);
int hil_trace_column_find(const struct hil_stream_config *stream, const char *name);

/* How many rows lie together in the file: reading so many, from a multiple of it on, is
 * quickest. */
size_t hil_trace_block_rows(const struct hil_trace_reader *reader, unsigned stream);

/* The steps of rows first .. first + count: recorded, or in a whole trace known by the rows'
 * numbers. -ENODATA when neither says. */
int hil_trace_read_steps(const struct hil_trace_reader *reader, unsigned stream, uint64_t first,
                         size_t count, double *steps);

/* Reads a column's rows first .. first + count, `width` numbers each, to `values`, which has room
 * for so many numbers. 0 or a negative errno; -EBADMSG when the room is too small for the column.
 */
int hil_trace_read(const struct hil_trace_reader *reader, unsigned stream, unsigned column,
                   uint64_t first, size_t count, double *values, size_t room);

/* The same of one place in the column's rows: a number of each row. */
int hil_trace_read_place(const struct hil_trace_reader *reader, unsigned stream, unsigned column,
                         unsigned place, uint64_t first, size_t count, double *values);

/* The name of histogram `i`, NULL when there are no more. */
const char *hil_trace_histogram_name(const struct hil_trace_reader *reader, unsigned i);

/* Makes *histogram what was written under that name. 0 or a negative errno. */
int hil_trace_read_histogram(const struct hil_trace_reader *reader, const char *name,
                             struct hil_histogram *histogram);

#endif
