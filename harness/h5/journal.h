/*
 * The journal of a trace: a file beside it, to which a run appends its rows. The trace is made from
 * it (trace_maker.h): as the run goes on, when it has ended, or later if everything was killed.
 *
 *      head      magic, and the trace's configuration as JSON
 *      blocks    one after the other: some rows of one stream, or the histograms
 *
 * A block has a checksum, so it is in the journal as a whole or not at all. The kernel has it when
 * a function here returns, so the journal survives any end of the process. (It does not survive a
 * crash of the machine: nothing is synced to the disk.)
 *
 * A journal that another process appends to can be read meanwhile. The file uses the byte order of
 * the machine that wrote it.
 */
#ifndef HIL_JOURNAL_H
#define HIL_JOURNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "trace.h"

struct hil_journal;

/* --- writing ------------------------------------------------------------------------------- */

/* Creates the journal of the trace at `path`, with no rows. Returns 0 or a negative errno. */
int hil_journal_create(struct hil_journal **journal, const char *path,
                       const struct hil_trace_config *config);

/* Opens a journal whose writer died, to append more rows. What the writer did not finish is cut
 * off. Returns 0 or a negative errno, as hil_journal_open. */
int hil_journal_continue(struct hil_journal **journal, const char *path);

/* Appends rows. A row has the numbers of all columns side by side. Returns 0 or a negative errno;
 * the journal then has a part of these rows, which hil_journal_rows tells, and can be read. */
int hil_journal_append(struct hil_journal *journal, unsigned stream, const double *rows,
                       uint64_t count);

/* Appends the histograms, which replace any before them. Returns 0 or a negative errno. */
int hil_journal_add_histograms(struct hil_journal *journal,
                               const struct hil_named_histogram *histograms, unsigned count);

/* --- reading ------------------------------------------------------------------------------- */

/* Opens the journal of the trace at `path`, with the rows that it has by now. Returns 0 or a
 * negative errno: -ENOENT when there is none, -EBADMSG when the file is not a journal. */
int hil_journal_open(struct hil_journal **journal, const char *path);

/* Sees the rows that were appended since the last look. Returns 0 or -ENOMEM. */
int hil_journal_look(struct hil_journal *journal);

/* Whether a block was changed after it was written. What follows it is lost. */
bool hil_journal_is_damaged(const struct hil_journal *journal);

/*
 * Reads the stream's chunk of that number, as far as the journal has it. The values of each number
 * of the rows are side by side: number i of row r is at values[i * chunk_rows + r]. Returns how
 * many rows there are, or a negative errno.
 */
int64_t hil_journal_read_chunk(struct hil_journal *journal, unsigned stream, uint64_t chunk,
                               double *values);

/* Adds the histograms, if there are any, to a trace. Returns 0 or a negative errno. */
int hil_journal_copy_histograms(struct hil_journal *journal, struct hil_trace *trace);

/* --- both ---------------------------------------------------------------------------------- */

/* The trace's configuration, with the rows of each chunk; valid until the journal is closed. */
const struct hil_trace_config *hil_journal_config(const struct hil_journal *journal);

/* The number of the stream's rows in the journal. */
uint64_t hil_journal_rows(const struct hil_journal *journal, unsigned stream);

/* Removes the journal of the trace at `path`, which has been made from it. */
void hil_journal_remove(const char *path);

void hil_journal_close(struct hil_journal *journal); /* the file stays; NULL is allowed */

#endif
