/*
 * The record of a run whose writer was killed, continued by another: hil_trace_resume makes it
 * whole in the end.
 *
 * An HDF5 file that was not closed cannot be opened again. But it is by the journal that it is made
 * whole, and that only says where chunks lie: so more of them can be put behind what is in the
 * file, as they are, and told to the journal. Should this writer be killed as well, the next one
 * goes on.
 */
#ifndef HIL_CONTINUATION_H
#define HIL_CONTINUATION_H

#include <stddef.h>
#include <stdint.h>

struct hil_continuation;

/* Of the trace at `path`, which nobody writes. Returns 0 or a negative errno. */
int hil_continuation_open(struct hil_continuation **continuation, const char *path);

/* The rows of a stream that the journal knows of. */
uint64_t hil_continuation_rows(const struct hil_continuation *continuation, unsigned stream);

/* Behind those. Returns 0 or a negative errno. */
int hil_continuation_append(struct hil_continuation *continuation, unsigned stream,
                            const double *rows, size_t count);

void hil_continuation_close(struct hil_continuation *continuation); /* NULL is allowed */

#endif
