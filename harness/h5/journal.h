/*
 * The journal of a trace: a file beside it, by which the trace is made whole when its writer died.
 *
 * An HDF5 file that was not closed cannot be read, though its chunks lie in it. The journal has
 * what is needed beside them: what the trace was to hold, where each chunk lies, and the rows that
 * have no chunk yet. All of it is in the kernel's hands when a function here returns, so it
 * outlives the process, however that ends. (It does not outlive the machine: nothing is synced to
 * the disk.)
 *
 *      head      magic, and the trace's configuration as JSON
 *      tails     of each stream: how many rows came in all, and the rows that are in no chunk
 *      index     a record for each chunk that is in the trace, in the order of writing
 *
 * The file is made for the machine at hand: its numbers have that one's order of bytes.
 */
#ifndef HIL_JOURNAL_H
#define HIL_JOURNAL_H

#include <stdint.h>

#include "trace.h"

struct hil_journal;

/* Where one number's values of a chunk lie in the trace. */
struct hil_extent {
    uint64_t at;
    uint32_t bytes;
    uint32_t filters; /* those that were left out: HDF5's mask */
};

/* --- writing ------------------------------------------------------------------------------- */

/* Creates the journal of the trace at `path`, empty. The trace's chunks will have chunk_rows[i]
 * rows in stream i. Keeps some room on the disk for the end, where it can. Returns 0 or a negative
 * errno.
 */
int hil_journal_create(struct hil_journal **journal, const char *path,
                       const struct hil_trace_config *config, const uint64_t *chunk_rows);

/* Rows of the stream's next chunk: `count` from the `first` of the chunk on. */
int hil_journal_add_rows(struct hil_journal *journal, unsigned stream, uint64_t first,
                         const double *rows, uint64_t count);

/* The stream's chunk is in the trace; one extent for each number of a row. */
int hil_journal_add_chunk(struct hil_journal *journal, unsigned stream,
                          const struct hil_extent *extents);

/* Gives room back, for what a full disk would not take otherwise: what was kept, and the rows of no
 * chunk, which are forgotten. */
void hil_journal_make_room(struct hil_journal *journal);

/* The trace is whole: the journal goes, at once also where other processes have it open. */
void hil_journal_remove(struct hil_journal *journal, const char *path);

/* Writes all of it at this place of a file; 0 or a negative errno. */
int hil_journal_write_all(int file, const void *from, uint64_t bytes, uint64_t at);

/* --- reading ------------------------------------------------------------------------------- */

/* Opens the journal of the trace at `path`. Returns 0 or a negative errno: -EBADMSG when it is
 * none. */
int hil_journal_open(struct hil_journal **journal, const char *path);

/* The same, to be written on: once all chunks and rows have been read. */
int hil_journal_continue(struct hil_journal **journal, const char *path);

/* Calls `each` with the chunks, until one call returns other than 0: then that is returned. */
typedef int hil_journal_chunk_fn(void *arg, unsigned stream, const struct hil_extent *extents);
int hil_journal_each_chunk(struct hil_journal *journal, hil_journal_chunk_fn *each, void *arg);

/* Reads the rows that are in no chunk, at most a chunk's; after all chunks have been read. Returns
 * how many there are, or a negative errno. */
int64_t hil_journal_read_rows(struct hil_journal *journal, unsigned stream, double *rows);

/* --- either -------------------------------------------------------------------------------- */

/* What the trace was to hold; valid until the journal is closed. */
const struct hil_trace_config *hil_journal_config(const struct hil_journal *journal);
uint64_t hil_journal_chunk_rows(const struct hil_journal *journal, unsigned stream);

void hil_journal_close(struct hil_journal *journal); /* the file stays; NULL is allowed */

#endif
