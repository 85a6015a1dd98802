/*
 * The recorder: takes rows of numbers from loops without ever holding one up, and a writer
 * process puts them into a trace.
 *
 *      loop --row--> ring (one for each stream) --> writer process --> trace.h5, and its journal
 *
 * Events come from many threads into one stream, so each of them has a ring of its own.
 *
 * The rings lie in memory that is shared with child processes made after the recorder was
 * opened. So the loops may run in children, and what a killed child recorded is not lost. Nor is it
 * when another dies: the writer goes on when who opened the recorder is killed, and ends the trace;
 * and should the writer be killed, who opened the recorder starts another, which goes on behind the
 * rows that the journal has (continuation.h). Should both be, the journal has all rows but those of
 * the writer's last period, of 50 ms at most where it has a core to run on.
 */
#ifndef HIL_RECORDER_H
#define HIL_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../h5/trace.h"

struct hil_recorder;
struct hil_stream;

/*
 * Creates the trace's journal (see hil_trace_create) and a ring for each of its streams. Where the
 * trace is
 * to be whole, a full ring makes the loop wait for the writer (virtual time); else the row is
 * dropped and counted (real time). Where the last stream is HIL_EVENTS, it has `event_rings` rings,
 * one for each thread that adds to it; else there are 0. Returns 0 or a negative errno.
 */
int hil_recorder_open(struct hil_recorder **recorder, const char *path,
                      const struct hil_trace_config *config, unsigned event_rings);

struct hil_stream *hil_recorder_stream(struct hil_recorder *recorder, unsigned index);

/* A ring of events; NULL: there are not so many. */
struct hil_stream *hil_recorder_events(struct hil_recorder *recorder, unsigned ring);

/* What its owner has a part in. Each may be NULL. */
struct hil_recorder_owner {
    void (*part)(void *arg); /* in the writer, first: it is another process from here on */
    /* At the end of the trace, in the writer's process or in this. */
    int (*add)(void *arg, struct hil_trace *trace); /* before the trace is closed; 0 or an errno */
    /* In the writer alone, when who opened the recorder has died: the trace is whole, or has
     * become what `rc` says. */
    void (*inherit)(void *arg, int rc);
    void *arg;
};

void hil_recorder_own(struct hil_recorder *recorder, const struct hil_recorder_owner *owner);

/*
 * Starts the writer, a child process: it is deaf to what ends the others, has the ordinary
 * scheduling, or in real time what nobody else wants, and the caller's affinity, which should leave
 * out the loops' cores. Returns when the trace is there: 0 or a negative errno.
 */
int hil_recorder_start(struct hil_recorder *recorder);

/* How the writer is: 0; or the first error that it met, -EOWNERDEAD when it was killed once too
 * often: until then another takes its place here. After an error all rows are dropped and counted.
 * The process that started it. */
int hil_recorder_check(struct hil_recorder *recorder);

/* How many writers took another's place. */
unsigned hil_recorder_restarts(const struct hil_recorder *recorder);

/*
 * Writes out what is in the rings, and closes the trace. Returns 0, or what hil_recorder_check
 * would: no row that came later is in the trace. No loop records any more.
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
