/*
 * What lies in the directory of a run, for those who read it afterwards.
 */
#ifndef HIL_RUN_FILES_H
#define HIL_RUN_FILES_H

#include <stdio.h>

#include "trace_reader.h"

/* Longest name of a file in a run's directory, with the directory's. */
enum { HIL_PATH_BYTES = 4096 };

/* Takes the folder, as a run does, for as long as the descriptor is open that it returns; or a
 * negative errno: -EBUSY when a run has it. */
int hil_run_take(const char *dir);

/* Opens DIR/trace.h5. Returns 0, or a negative errno after a line to `messages`: -EOWNERDEAD where
 * the record has yet to be made whole (hil_recover), -EBUSY where it is being written. */
int hil_run_open_trace(struct hil_trace_reader **trace, const char *dir, FILE *messages);

/* Writes "DIR/NAME" to path. Returns 0 or -ENAMETOOLONG. */
__attribute__((format(printf, 3, 4))) int hil_run_path(char path[HIL_PATH_BYTES], const char *dir,
                                                       const char *name, ...);

#endif
