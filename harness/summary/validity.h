/*
 * Judges the validity of a run: whether it ran as the scenario requires, so that its result can be
 * believed. Validity does not judge the outputs. docs/validity.md defines the bounds.
 */
#ifndef HIL_VALIDITY_H
#define HIL_VALIDITY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../run/state.h"
#include "../scenario/scenario.h"

enum { HIL_CHECKS_MAX = 11, HIL_REASON_BYTES = 600 };

struct hil_check {
    const char *name; /* name of the bound under `validity` in the scenario */
    double value;     /* for the worst loop, in the bound's unit */
    double bound;
    bool passed;
    char reason[HIL_REASON_BYTES]; /* why it did not pass */
};

struct hil_verdict {
    bool valid;
    unsigned count;
    struct hil_check checks[HIL_CHECKS_MAX];
    char stalls[HIL_REASON_BYTES]; /* how long the worst executor stood still, and why; "": none did
                                    */
};

/* Judges a run that has ended; `dropped` rows of its record were lost. */
void hil_validity_judge(struct hil_verdict *verdict, const struct hil_scenario *scenario,
                        const struct hil_state *state, uint64_t dropped);

/* The percentage of a node's due steps that it missed. The node must have run here. */
double hil_missed_percent(const struct hil_node_state *node);

/* For summary.json: {valid, reasons, checks}. */
json_t *hil_validity_json(const struct hil_verdict *verdict);

/* Prints one line, or one for each reason. */
void hil_validity_print(const struct hil_verdict *verdict, FILE *to);

#endif
