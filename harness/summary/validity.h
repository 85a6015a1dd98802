/*
 * The verdict of a run on itself: whether it was what the scenario asks for, so that its result
 * can be believed. It says nothing of what the output did. docs/validity.md has the bounds.
 */
#ifndef HIL_VALIDITY_H
#define HIL_VALIDITY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../run/state.h"
#include "../scenario/scenario.h"

enum { HIL_CHECKS_MAX = 9, HIL_REASON_BYTES = 600 };

struct hil_check {
    const char *name; /* as the bound is called below `validity` in the scenario */
    double value;     /* of the worst loop, in the bound's unit */
    double bound;
    bool passed;
    char reason[HIL_REASON_BYTES]; /* why it did not pass */
};

struct hil_verdict {
    bool valid;
    unsigned count;
    struct hil_check checks[HIL_CHECKS_MAX];
};

/* Judges a run that has ended, of whose record `dropped` rows were lost. */
void hil_validity_judge(struct hil_verdict *verdict, const struct hil_scenario *scenario,
                        const struct hil_state *state, uint64_t dropped);

/* Steps that a node which ran here missed, of those that were due. */
double hil_missed_percent(const struct hil_node_state *node);

/* For summary.json: {valid, reasons, checks}. */
json_t *hil_validity_json(const struct hil_verdict *verdict);

/* A line, or one for each reason. */
void hil_validity_print(const struct hil_verdict *verdict, FILE *to);

#endif
