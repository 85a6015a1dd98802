/*
 * Continues the record of a run whose writer was killed. hil_trace_resume makes the record whole at
 * the end.
 *
 * An HDF5 file that was not closed cannot be opened again. But it will be made whole from the
 * journal, which only says where chunks are. Further chunks can therefore be appended to the file
 * as they are, and added to the journal. If this writer is killed as well, the next one continues.
 */
#ifndef HIL_CONTINUATION_H
#define HIL_CONTINUATION_H

#include <stddef.h>
#include <stdint.h>

struct hil_continuation;

/* For the trace at `path`, which must have no writer. Returns 0 or a negative errno. */
int hil_continuation_open(struct hil_continuation **continuation, const char *path);

/* The number of the stream's rows in the journal. */
uint64_t hil_continuation_rows(const struct hil_continuation *continuation, unsigned stream);

/* Appends rows after those. Returns 0 or a negative errno. */
int hil_continuation_append(struct hil_continuation *continuation, unsigned stream,
                            const double *rows, size_t count);

void hil_continuation_close(struct hil_continuation *continuation); /* NULL is allowed */

#endif
