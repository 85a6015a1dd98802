/*
 * The recorder: takes rows of numbers from loops without ever holding one up, and a writer
 * thread puts them into a trace.
 *
 *      loop --row--> ring (one for each stream) --> writer thread --> trace.h5
 *
 * The rings lie in memory that is shared with child processes made after the recorder was
 * opened. So the loops may run in children, and what a killed child recorded is not lost.
 */
#ifndef HIL_RECORDER_H
#define HIL_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace.h"

struct hil_recorder;
struct hil_stream;

/*
 * Creates the trace (see hil_trace_create) and a ring for each of its streams. Where the trace is
 * to be whole, a full ring makes the loop wait for the writer (virtual time); else the row is
 * dropped and counted (real time). Returns 0 or a negative errno.
 */
int hil_recorder_open(struct hil_recorder **recorder, const char *path,
                      const struct hil_trace_config *config);

struct hil_stream *hil_recorder_stream(struct hil_recorder *recorder, unsigned index);

/*
 * Starts the writer thread. In real time it should not run on a loop's core: the thread
 * inherits the caller's affinity; its scheduling is the ordinary one, and it takes no
 * signals. A child process has no threads of its parent, so the parent forks first. Returns
 * 0 or a negative errno.
 */
int hil_recorder_start(struct hil_recorder *recorder);

/*
 * Writes out what is in the rings, and closes the trace. Returns 0, or the first error that
 * the writer met: from then on it dropped and counted all rows. No loop records any more.
 */
int hil_recorder_finish(struct hil_recorder *recorder);

/* Rows dropped by all streams so far. Any process. */
uint64_t hil_recorder_dropped(const struct hil_recorder *recorder);

/* Frees it; finishes it first, where that was not done. NULL is allowed. */
void hil_recorder_close(struct hil_recorder *recorder);

/* --- the loop's side: one thread for each stream ------------------------------------------ */

/* Touches the stream's memory, so that no row costs a page fault; rows that wait there stay. In the
 * process that records, before its first row; NULL is allowed. */
void hil_stream_prepare(struct hil_stream *stream);

/*
 * Where the next row goes: the columns' numbers side by side. NULL when it is dropped (or
 * `stream` is NULL). Never a system call unless the trace is to be whole; never waits for a writer
 * that is not running.
 */
double *hil_stream_row(struct hil_stream *stream);

/* Gives the row to the writer. */
void hil_stream_commit(struct hil_stream *stream);

#endif
