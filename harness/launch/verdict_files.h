/* The files of verdicts, which may lie in the folder of results. */
#ifndef HIL_VERDICT_FILES_H
#define HIL_VERDICT_FILES_H

#include "../summary/verdicts.h"

/* Output files. They are opened before anything runs, so that no run is wasted if that fails. Those
 * in the folder of results are only created at the end, because the run empties this folder. */
struct hil_verdict_files {
    FILE *junit, *tap;                 /* NULL: not wanted, or not created yet */
    const char *late_junit, *late_tap; /* paths in the folder of results */
    int rc;                            /* of writing them; the streams know its address */
};

/* `out` is the folder of results, or NULL. A path is NULL if it is not wanted; "-" is standard
 * output. Returns 0, or a negative errno after a message. */
int hil_verdict_files_open(struct hil_verdict_files *files, const char *out, const char *junit,
                           const char *tap);

/* Writes both, and closes them. Returns 0, or a negative errno after a message. */
int hil_verdict_files_end(struct hil_verdict_files *files, const struct hil_tested *runs,
                          unsigned count);

#endif
