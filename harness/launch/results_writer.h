/*
 * The results of a run: a folder with its scenario, its record, and finally its summary. If the
 * process that keeps them is killed, the record's writer finishes the record and writes the
 * summary.
 */
#ifndef HIL_RESULTS_WRITER_H
#define HIL_RESULTS_WRITER_H

#include <stdio.h>

#include "../run/node.h"
#include "../summary/summary.h"
#include "progress.h"

struct hil_results_writer {
    struct hil_run *run;             /* the run whose recorder this opens */
    const struct hil_traced *traced; /* as in struct hil_summary */
    const char *killed;              /* the words for a record that ends before its run for this
                                      * reason */
    void (*inherited)(void *arg);    /* called last in a writer that wrote the summary; may be
                                      * NULL */
    void *arg;
    char out[4096];  /* "": no results are kept */
    int folder;      /* descriptor that holds the folder; -1: none */
    json_t *machine; /* as in struct hil_summary */
    /* For a record merged from parts: the rows that the parts lost, and members as in struct
     * hil_summary. */
    uint64_t dropped;
    const char *cut_off;
    const json_t *merged;
    int record_rc;               /* the error that ended the record; 0: none */
    bool shows_progress;         /* of the record, while it is made */
    struct hil_progress_bar bar; /* of it */
    unsigned signals;            /* that came before it was made */
};

/* Opens the folder `wanted`, or results/NAME-TIMESTAMP if that is NULL, and removes the results of
 * an earlier run in it. Returns 0, or an error of hil_results_open. */
int hil_results_writer_open(struct hil_results_writer *kept, const char *wanted, FILE *messages);

/* Opens the recorder of the run, whose state exists already, writes the scenario, and examines the
 * machine. Does nothing if no results are kept. Returns 0 or a negative errno. */
int hil_results_writer_record(struct hil_results_writer *kept);

/* The reason why a record ended, in words. */
const char *hil_results_writer_words(int record_rc);

/* Reports on `messages` that the record ended with `rc`, and the consequence, `then`. */
void hil_results_writer_tell(struct hil_results_writer *kept, int rc, const char *then,
                             FILE *messages);

/* The validity and the judgement of a run. */
struct hil_conclusion {
    struct hil_verdict verdict;
    struct hil_judgement judgement; /* the caller frees it */
};

/* At the end of the run: closes the record, judges the run, which may have failed, and writes the
 * summary. *summary gets what is needed to print the summary; *conclusion is part of it. Returns 0,
 * or a negative errno after a message. */
int hil_results_writer_finish(struct hil_results_writer *kept, bool failed,
                              struct hil_summary *summary, struct hil_conclusion *conclusion,
                              FILE *messages);

/* The exit status of a run that ended normally. If it is not HIL_EXIT_OK and nothing else is
 * printed, the reason goes to stderr. */
int hil_results_writer_status(const struct hil_conclusion *conclusion, bool quiet);

/* Closes everything that is still open. */
void hil_results_writer_close(struct hil_results_writer *kept);

#endif
