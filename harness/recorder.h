/*
 * The recorder: takes rows of numbers from loops without ever holding one up, and a writer
 * thread puts them into a file.
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

/* A dataset of a stream: `width` numbers of each row. */
struct hil_column {
    const char *name; /* "voltage_v" */
    const char *unit; /* "V" */
    const char *doc;
    unsigned width; /* 1: a vector of rows; more: a matrix rows x width */
};

struct hil_stream_config {
    const char *name; /* "controller", "converter/007": the HDF5 group */
    const struct hil_column *columns;
    unsigned column_count;
    uint64_t rows; /* how many are expected in all; rings are sized by it */
};

struct hil_recorder;
struct hil_stream;

/*
 * Opens a recorder with these streams (the configurations are copied). `lossless`: a full
 * ring makes the loop wait for the writer (virtual time); else the row is dropped and
 * counted (real time). Returns 0 or -ENOMEM.
 */
int hil_recorder_open(struct hil_recorder **recorder, const struct hil_stream_config *streams,
                      unsigned count, bool lossless);

struct hil_stream *hil_recorder_stream(struct hil_recorder *recorder, unsigned index);

/*
 * Starts the writer thread on a new file. In real time it should not run on a loop's core:
 * the thread inherits the caller's affinity and ordinary scheduling. Returns 0 or a negative
 * errno (the file's).
 */
int hil_recorder_start(struct hil_recorder *recorder, const char *path);

/* Writes out what is in the rings, and closes the file. Returns 0, or the first error that
 * the writer met. No loop records any more. */
int hil_recorder_finish(struct hil_recorder *recorder);

/* Rows dropped by all streams so far. Any process. */
uint64_t hil_recorder_dropped(const struct hil_recorder *recorder);

void hil_recorder_close(struct hil_recorder *recorder);

/* --- the loop's side: one thread for each stream ------------------------------------------ */

/* Where the next row goes: the columns' numbers side by side. NULL when it is dropped (or
 * `stream` is NULL). Never a system call where not lossless. */
double *hil_stream_row(struct hil_stream *stream);

/* Gives the row to the writer. */
void hil_stream_commit(struct hil_stream *stream);

#endif
