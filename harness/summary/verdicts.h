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

void hil_verdicts_junit(FILE *to, const struct hil_tested *runs, unsigned count);
void hil_verdicts_tap(FILE *to, const struct hil_tested *runs, unsigned count);

/* Whether the file DIR/NAME is one of these. */
bool hil_verdict_made(const char *dir, const char *name);

#endif
