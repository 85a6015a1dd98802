/*
 * The summary of a run: summary.json, and a dozen lines for a person.
 */
#ifndef HIL_SUMMARY_H
#define HIL_SUMMARY_H

#include <jansson.h>
#include <stdio.h>

#include "../run/machine_clock.h"
#include "../run/state.h"
#include "../scenario/scenario.h"
#include "../tracing/session.h"
#include "judge.h"
#include "validity.h"

struct hil_summary {
    const struct hil_scenario *scenario;
    const struct hil_state *state;
    uint64_t dropped;                /* rows dropped by the recorder */
    const char *cut_off;             /* why the record ends before the run; NULL: it does not */
    const char *out;                 /* the results' directory */
    const struct hil_traced *traced; /* NULL: the run was not traced */
    const struct hil_verdict *verdict;
    const struct hil_judgement *judgement; /* NULL: the run was not judged */
    /* The first node's clock, before the run and after it. HIL_CLOCK_OWN means that this machine is
     * the first node's. */
    struct hil_machine_clock first_clock, first_clock_after;
    const json_t *merged; /* for merged parts: parts, clocks and missing; NULL: a single part */
    json_t *machine;      /* the machine of the run (hil_machine_json); NULL in virtual time */
};

/* Writes `path`. Returns 0 or a negative errno. */
int hil_summary_write(const struct hil_summary *summary, const char *path);

void hil_summary_print(const struct hil_summary *summary, FILE *to);

#endif
