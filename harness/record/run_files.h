/*
 * What lies in the directory of a run, for those who read it afterwards.
 */
#ifndef HIL_RUN_FILES_H
#define HIL_RUN_FILES_H

#include <stdio.h>

#include "trace_reader.h"

/* Longest name of a file in a run's directory, with the directory's. */
enum { HIL_PATH_BYTES = 4096 };

/* Opens DIR/trace.h5. Returns 0, or a negative errno after a line to `messages`. */
int hil_run_open_trace(struct hil_trace_reader **trace, const char *dir, FILE *messages);

/* Writes "DIR/NAME" to path. Returns 0 or -ENAMETOOLONG. */
__attribute__((format(printf, 3, 4))) int hil_run_path(char path[HIL_PATH_BYTES], const char *dir,
                                                       const char *name, ...);

#endif
