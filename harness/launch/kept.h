/*
 * What is kept of a run: a folder with its scenario, its record, and at the end its summary. If the
 * process that keeps it is killed, the record's writer ends the record, and sums up.
 */
#ifndef HIL_KEPT_H
#define HIL_KEPT_H

#include <stdio.h>

#include "../run/node.h"
#include "../summary/summary.h"

struct hil_kept {
    struct hil_run *run;             /* whose recorder this opens */
    const struct hil_traced *traced; /* as in struct hil_summary */
    const char *killed;              /* what to say where the record ends before the run for it */
    void (*inherited)(void *arg);    /* last in the writer that summed up; NULL: nothing to do */
    void *arg;
    char out[4096];  /* "": nothing is kept */
    int folder;      /* the same, held; -1: none */
    json_t *machine; /* as in struct hil_summary */
    /* Of a record that was brought together from parts: what they lost, and as in struct
     * hil_summary. */
    uint64_t dropped;
    const char *cut_off;
    const json_t *merged;
    int record_rc; /* why there is no record any more; 0: there is */
};

/* Opens the folder `wanted`, or results/NAME-TIMESTAMP where that is NULL; what an earlier run left
 * there is gone then. Returns 0, or what hil_results_open does. */
int hil_kept_open(struct hil_kept *kept, const char *wanted, FILE *messages);

/* Opens the recorder of the run, whose state is there, and writes the scenario; looks at the
 * machine. Nothing where nothing is kept. Returns 0 or a negative errno. */
int hil_kept_record(struct hil_kept *kept);

/* Why a record ended. */
const char *hil_kept_words(int record_rc);

/* The record became `rc`, which is said to `messages`, and what comes of it: `then`. */
void hil_kept_tell(struct hil_kept *kept, int rc, const char *then, FILE *messages);

/* What the run was worth, and what it showed. */
struct hil_conclusion {
    struct hil_verdict verdict;
    struct hil_judgement judgement; /* to be freed */
};

/* At the end: closes the record, judges the run, which may have failed, and writes the summary, of
 * which *summary has what it needs to be printed, and *conclusion is a part. Returns 0 or a
 * negative errno, having said why. */
int hil_kept_finish(struct hil_kept *kept, bool failed, struct hil_summary *summary,
                    struct hil_conclusion *conclusion, FILE *messages);

/* The exit status of what came to its end, and was not worth HIL_EXIT_OK; said to stderr where
 * nothing else is. */
int hil_kept_status(const struct hil_conclusion *conclusion, bool quiet);

/* Closes what is still open. */
void hil_kept_close(struct hil_kept *kept);

#endif
