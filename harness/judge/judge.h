/*
 * The verdict on what a run tested: whether it kept the limits of its scenario (scenario/limits.h).
 * Whether the run itself can be believed, validity.h says. docs/limits.md defines both together.
 */
#ifndef HIL_JUDGE_H
#define HIL_JUDGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "../run/node_name.h"
#include "../run/state.h"
#include "../scenario/limits.h"
#include "../summary/validity.h"

enum hil_outcome {
    HIL_OUTCOME_PASSED,
    HIL_OUTCOME_FAILED,       /* a limit was passed */
    HIL_OUTCOME_INCONCLUSIVE, /* the run was not valid, or had nothing that could be judged */
    HIL_OUTCOME_ERROR,        /* the run failed, or was ended */
    HIL_OUTCOME_SKIPPED, /* of a limit alone: what it bounds was not here, or is not measured */
};

/* "passed" */
const char *hil_outcome_name(enum hil_outcome outcome);

enum {
    /* The name of a signal, or of a link with that of an input. */
    HIL_FINDING_NAME_BYTES = HIL_LINK_NAME_BYTES + HIL_SIGNAL_NAME_BYTES + 3,
    HIL_FINDING_BYTES = HIL_FINDING_NAME_BYTES + 240,
};

/* What came of one bound: the worst that there was. */
struct hil_finding {
    char name[120]; /* "output.settling_ms": the limit, and its bound */
    enum hil_outcome outcome;
    bool judged;                         /* the rest is known */
    char signal[HIL_FINDING_NAME_BYTES]; /* whose */
    char unit[24];
    double time_s;        /* NAN: of no instant */
    double greatest;      /* of the times that a percentile is of, at time_s; NAN: it is none */
    double value, bound;  /* the value is NAN where it never came, or is no number */
    const char *no_value; /* what is said of it then; NULL: "is no number" */
    bool from_below;      /* the value may not be less */
    unsigned failures;    /* how many signals, or signals and events, failed */
    char figure[80];      /* that shows it: "output.svg"; "": none does */
    const char *measure;  /* by which it is found; or by the record's stream and column */
    int stream, column;
    char words[HIL_FINDING_BYTES];
};

struct hil_judgement {
    enum hil_outcome outcome;
    bool believed; /* the run is valid, or the scenario does not require it */
    struct hil_finding *at;
    unsigned count;
};

/* A run that has ended, and whose record is closed. */
struct hil_judge_run {
    const struct hil_scenario *scenario;
    const struct hil_state *state;
    const struct hil_verdict *validity;
    const char *dir; /* of its record; NULL: there is none */
    bool failed;     /* or was ended: nothing else is judged then */
};

/* Returns 0, or a negative errno with the outcome HIL_OUTCOME_ERROR. hil_judgement_free in any
 * case. */
int hil_judge(struct hil_judgement *judgement, const struct hil_judge_run *run);
void hil_judgement_free(struct hil_judgement *judgement);

/* Adds `verdict` and `limits` to a summary. */
void hil_judgement_add(const struct hil_judgement *judgement, json_t *summary);

/* A line of the verdict, where there are limits, and one for each that did not pass. */
void hil_judgement_print(const struct hil_judgement *judgement, FILE *to);

#endif
