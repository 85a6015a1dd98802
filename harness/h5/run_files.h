/*
 * Access to a run's directory after the run.
 */
#ifndef HIL_RUN_FILES_H
#define HIL_RUN_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include <sys/types.h>

#include "../base/file_save.h"
#include "trace_reader.h"

/* Longest path of a file in a run's directory. */
enum { HIL_PATH_BYTES = 4096 };

/* Locks an open folder of results until the descriptor is closed. Returns 0, or -EBUSY if a process
 * that may write there has locked it: *holder, or 0 if that is unknown. File systems without locks
 * do not have this protection. */
int hil_run_lock(int folder, pid_t *holder);

/* Locks the folder as a run does. Returns a descriptor that holds the lock until it is closed, or a
 * negative errno: -EBUSY when a run holds the lock. */
int hil_run_take(const char *dir);

/* Whether the run's record is still a journal: it is being written, or could not be made of it. */
bool hil_run_has_journal(const char *dir);

/* Opens DIR/trace.h5. Returns 0, or a negative errno after a line to `messages`: -EOWNERDEAD if the
 * record must be made whole first (hil_recover), -EBUSY if it is still being written. */
int hil_run_open_trace(struct hil_trace_reader **trace, const char *dir, FILE *messages);

/* Writes "DIR/NAME" to path. Returns 0 or -ENAMETOOLONG. */
__attribute__((format(printf, 3, 4))) int hil_run_path(char path[HIL_PATH_BYTES], const char *dir,
                                                       const char *name, ...);

/* Saves DIR/NAME as hil_file_save does. Returns 0, or a negative errno after a line to `messages`.
 */
int hil_run_save(const char *dir, const char *name, hil_file_put_fn *put, const void *arg,
                 FILE *messages);

#endif
