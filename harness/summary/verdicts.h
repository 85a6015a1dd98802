/*
 * Writes the verdicts of runs in the formats for test results, JUnit's XML and TAP. A run is a
 * suite; its validity and each of its limits are tests.
 */
#ifndef HIL_VERDICTS_H
#define HIL_VERDICTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct hil_tested {
    const char *name;
    int status;      /* exit status; -1: it was not run */
    double seconds;  /* duration */
    json_t *summary; /* NULL: it left none */
};

/* "passed", "failed", "inconclusive" or "error". */
const char *hil_tested_verdict(const struct hil_tested *run);

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

/* Whether the file DIR/NAME is one that this wrote. */
bool hil_verdict_made(const char *dir, const char *name);

#endif
