/*
 * The sum of a run: summary.json, and a dozen lines for a person.
 */
#ifndef HIL_SUMMARY_H
#define HIL_SUMMARY_H

#include <jansson.h>
#include <stdio.h>

#include "../judge/judge.h"
#include "../run/machine_clock.h"
#include "../run/state.h"
#include "../scenario/scenario.h"
#include "../tracing/session.h"
#include "validity.h"

struct hil_summary {
    const struct hil_scenario *scenario;
    const struct hil_state *state;
    uint64_t dropped;                /* by the recorder */
    const char *cut_off;             /* why the record ends before the run; NULL: it does not */
    const char *out;                 /* the results' directory */
    const struct hil_traced *traced; /* NULL: it was not */
    const struct hil_verdict *verdict;
    const struct hil_judgement *judgement; /* NULL: it was not judged */
    /* The first node's machine's, before the run and after it; by HIL_CLOCK_OWN: it is this one. */
    struct hil_machine_clock first_clock, first_clock_after;
    const json_t *merged; /* parts, clocks and missing, of parts that became one; NULL: one part */
    json_t *machine;      /* that it ran on (hil_machine_json); NULL: in virtual time on any */
};

/* Writes `path`. Returns 0 or a negative errno. */
int hil_summary_write(const struct hil_summary *summary, const char *path);

void hil_summary_print(const struct hil_summary *summary, FILE *to);

/* Each reason once, a line each with `prefix` before it. */
void hil_summary_print_degraded(const struct hil_summary *summary, const char *prefix, FILE *to);

#endif
