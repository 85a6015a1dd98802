/*
 * The journal of a trace: a file beside the trace from which the trace can be made whole if its
 * writer died.
 *
 * An HDF5 file that was not closed cannot be read, although its chunks are in it. The journal has
 * what else is needed: the trace's configuration, the place of each chunk, and the rows that are in
 * no chunk yet. The kernel has all of it when a function here returns, so the journal survives any
 * end of the process. (It does not survive a crash of the machine: nothing is synced to the disk.)
 *
 *      head      magic, and the trace's configuration as JSON
 *      tails     of each stream: its total number of rows, and the rows that are in no chunk
 *      index     a record for each chunk in the trace, in the order of writing
 *
 * The file uses the byte order of the machine that wrote it.
 */
#ifndef HIL_JOURNAL_H
#define HIL_JOURNAL_H

#include <stdint.h>

#include "trace.h"

struct hil_journal;

/* The place in the trace of one column element's values in a chunk. */
struct hil_extent {
    uint64_t at;
    uint32_t bytes;
    uint32_t filters; /* the filters that were not applied, as HDF5's mask */
};

/* --- writing ------------------------------------------------------------------------------- */

/*
 * Creates the journal of the trace at `path`, empty. The trace's chunks will have chunk_rows[i]
 * rows in stream i. Reserves some disk space for the end, if possible. Returns 0 or a negative
 * errno.
 */
int hil_journal_create(struct hil_journal **journal, const char *path,
                       const struct hil_trace_config *config, const uint64_t *chunk_rows);

/* Adds rows to the stream's next chunk: `count` rows, from row `first` of the chunk on. */
int hil_journal_add_rows(struct hil_journal *journal, unsigned stream, uint64_t first,
                         const double *rows, uint64_t count);

/* Records that the stream's chunk is now in the trace, with one extent for each number of a row. */
int hil_journal_add_chunk(struct hil_journal *journal, unsigned stream,
                          const struct hil_extent *extents);

/* Frees disk space when the disk is full: the reserved space, and the rows that are in no chunk,
 * which are lost. */
void hil_journal_make_room(struct hil_journal *journal);

/* Removes the journal when the trace is whole; this takes effect immediately even if other
 * processes have it open. */
void hil_journal_remove(struct hil_journal *journal, const char *path);

/* Writes all bytes at this offset of a file. Returns 0 or a negative errno. */
int hil_journal_write_all(int file, const void *from, uint64_t bytes, uint64_t at);

/* --- reading ------------------------------------------------------------------------------- */

/* Opens the journal of the trace at `path`. Returns 0 or a negative errno: -EBADMSG when the file
 * is not a journal. */
int hil_journal_open(struct hil_journal **journal, const char *path);

/* The same for a journal that is to be continued. Read all chunks and rows before writing to it. */
int hil_journal_continue(struct hil_journal **journal, const char *path);

/* Calls `each` with each chunk. Stops when a call does not return 0, and returns that value. */
typedef int hil_journal_chunk_fn(void *arg, unsigned stream, const struct hil_extent *extents);
int hil_journal_each_chunk(struct hil_journal *journal, hil_journal_chunk_fn *each, void *arg);

/* Reads the rows that are in no chunk, at most one chunk's worth. Call it after reading all chunks.
 * Returns the number of rows, or a negative errno. */
int64_t hil_journal_read_rows(struct hil_journal *journal, unsigned stream, double *rows);

/* --- both ---------------------------------------------------------------------------------- */

/* The trace's configuration; valid until the journal is closed. */
const struct hil_trace_config *hil_journal_config(const struct hil_journal *journal);
uint64_t hil_journal_chunk_rows(const struct hil_journal *journal, unsigned stream);

void hil_journal_close(struct hil_journal *journal); /* the file stays; NULL is allowed */

#endif
