/*
 * The recorder takes rows of numbers from loops without ever delaying them. A writer process
 * appends the rows to the journal of a trace. The trace is made from the journal: in virtual time
 * as the run goes on, in real time when it has ended, when the loops need their cores no more.
 *
 *      loop --row--> ring (one for each stream) --> writer process --> journal --> trace.h5
 *
 * The stream of events comes from many threads, each of which has its own ring.
 *
 * The rings are in memory that is shared with child processes made after the recorder was opened.
 * Loops may thus run in children, and the rows of a killed child are not lost. If the process that
 * opened the recorder is killed, the writer continues and finishes the trace. If the writer is
 * killed, the process that opened the recorder starts another one, which continues after the rows
 * in the journal. If both are killed, the journal has all rows except those of the
 * writer's last period, which is at most 50 ms if the writer has a core to run on.
 */
#ifndef HIL_RECORDER_H
#define HIL_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../h5/trace.h"

struct hil_journal;
struct hil_recorder;
struct hil_stream;

/*
 * Creates the trace's journal and a ring for each of its streams. If the
 * trace must be whole (virtual time), a full ring makes the loop wait for the writer. Otherwise
 * (real time) the row is dropped and counted. If the last stream is HIL_EVENTS, it has
 * `event_rings` rings, one for each thread that adds events; otherwise event_rings is 0. Returns 0
 * or a negative errno.
 */
int hil_recorder_open(struct hil_recorder **recorder, const char *path,
                      const struct hil_trace_config *config, unsigned event_rings);

struct hil_stream *hil_recorder_stream(struct hil_recorder *recorder, unsigned index);

/* Ring number `ring` of the events; NULL: there are fewer. */
struct hil_stream *hil_recorder_events(struct hil_recorder *recorder, unsigned ring);

/* Callbacks of the recorder's owner. Each may be NULL. */
struct hil_recorder_owner {
    void (*part)(void *arg); /* called first in the writer, which is a separate process from then
                              * on */
    /* Called when all rows are in the journal, in the writer's process or in this one; returns 0 or
     * an errno. */
    int (*add)(void *arg, struct hil_journal *journal);
    /* Called in hil_recorder_finish every HIL_LOOK_NS or more often while the trace is made;
     * `share` of it is made, 0..1. Returns false to give it up: the journal stays. */
    bool (*making)(void *arg, double share);
    /* Called only in the writer, when the process that opened the recorder has died; `rc` is 0 if
     * the trace is whole, or its error. */
    void (*inherit)(void *arg, int rc);
    void *arg;
};

void hil_recorder_own(struct hil_recorder *recorder, const struct hil_recorder_owner *owner);

/*
 * Starts the writer, a child process. It ignores the signals that end the others. It has ordinary
 * scheduling, or in real time the lowest one, and the caller's affinity, which should exclude the
 * loops' cores. Returns when it takes rows: 0 or a negative errno.
 */
int hil_recorder_start(struct hil_recorder *recorder);

/* How long the writer may make no progress, as it is stopped or its disk does not answer, before it
 * is killed. 0, unless this is called: for ever. */
void hil_recorder_limit(struct hil_recorder *recorder, uint64_t hang_limit_ns);

/* The state of the writer: 0, or the first error that it met; -EOWNERDEAD when it was killed too
 * often; -ETIMEDOUT when it made no progress and could not be killed. Until then, this call starts
 * a replacement for a killed writer. After an error all rows are dropped and counted. Call it every
 * HIL_LOOK_NS in the process that started the writer. */
int hil_recorder_check(struct hil_recorder *recorder);

/* How many times a killed writer was replaced. */
unsigned hil_recorder_restarts(const struct hil_recorder *recorder);

/* How many writers were killed because they made no progress. */
unsigned hil_recorder_hung(const struct hil_recorder *recorder);

/* Counts up while loops wait for the writer. */
uint64_t hil_recorder_waits(const struct hil_recorder *recorder);

/*
 * Writes the rows that are left in the rings, and makes the trace. Returns 0, or the error of
 * hil_recorder_check, after which no row was recorded, or why the trace could not be made from its
 * journal, which then stays: -ECANCELED if the owner gave it up. Loops must not record any more. A
 * writer that is killed at this time loses nothing: this process does the rest.
 */
int hil_recorder_finish(struct hil_recorder *recorder);

/* Number of rows dropped by all streams so far. Any process may call it. */
uint64_t hil_recorder_dropped(const struct hil_recorder *recorder);

/* Frees the recorder, and finishes it first if necessary. NULL is allowed. */
void hil_recorder_close(struct hil_recorder *recorder);

/* --- the loop's side: one thread for each stream ------------------------------------------ */

/* Touches the stream's memory so that no row causes a page fault; rows already in the ring are
 * kept. Call it in the recording process before its first row; NULL is allowed. */
void hil_stream_prepare(struct hil_stream *stream);

/*
 * Where to write the next row: the columns' numbers side by side. NULL when the row is dropped, or
 * `stream` is NULL. Makes no system call unless the trace must be whole; never waits for a writer
 * that is not running.
 */
double *hil_stream_row(struct hil_stream *stream);

/* Hands the row over to the writer. */
void hil_stream_commit(struct hil_stream *stream);

#endif
