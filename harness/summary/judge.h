/*
 * The verdict of a run's test: whether the run kept the limits of its scenario (scenario/limits.h).
 * validity.h decides whether the run itself can be believed. docs/limits.md defines both together.
 */
#ifndef HIL_JUDGE_H
#define HIL_JUDGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "../run/node_name.h"
#include "../run/state.h"
#include "../scenario/events.h"
#include "../scenario/limits.h"
#include "validity.h"

enum hil_outcome {
    HIL_OUTCOME_PASSED,
    HIL_OUTCOME_FAILED,       /* a limit was exceeded */
    HIL_OUTCOME_INCONCLUSIVE, /* the run was not valid, or left nothing to judge */
    HIL_OUTCOME_ERROR,        /* the run failed, or was ended by a signal */
    HIL_OUTCOME_SKIPPED, /* only for a limit: its subject did not run here, or is not measured */
};

enum {
    /* The name of a signal, or of a link together with the name of an input. */
    HIL_FINDING_NAME_BYTES = HIL_LINK_NAME_BYTES + HIL_SIGNAL_NAME_BYTES + 3,
    HIL_FINDING_BYTES = HIL_FINDING_NAME_BYTES + HIL_EVENT_BYTES + 240,
};

/* The result for one bound: the worst value. */
struct hil_finding {
    char name[120]; /* "output.settling_ms": the limit and its bound */
    enum hil_outcome outcome;
    bool judged;                         /* the members below are known */
    char signal[HIL_FINDING_NAME_BYTES]; /* the signal with the worst value */
    char unit[24];
    double time_s;               /* NAN: does not belong to an instant */
    char event[HIL_EVENT_BYTES]; /* "start-up": the event after which a measure was judged; or "" */
    double greatest;      /* for a percentile: the greatest of the times, at time_s; else NAN */
    double value, bound;  /* the value is NAN if it never came or is not a number */
    const char *no_value; /* the words for that case; NULL: "is no number" */
    bool from_below;      /* the value may not be below the bound */
    unsigned failures;    /* number of signals, or of signals and events, that failed */
    char figure[80];      /* the figure that shows it: "output.svg"; "": none */
    const char *measure;  /* the measure, or stream and column of the record, by which the figure is
                           * found */
    int stream, column;
    char words[HIL_FINDING_BYTES];
};

struct hil_judgement {
    enum hil_outcome outcome;
    bool believed; /* the run is valid, or its scenario does not require it to be */
    struct hil_finding *at;
    unsigned count;
};

/* A run that has ended, with its record closed. */
struct hil_judge_run {
    const struct hil_scenario *scenario;
    const struct hil_state *state;
    const struct hil_verdict *validity;
    const char *dir; /* folder of its record; NULL: there is none */
    bool failed;     /* the run failed or was ended by a signal: nothing else is judged */
};

/* Returns 0, or a negative errno with the outcome HIL_OUTCOME_ERROR. Call hil_judgement_free in any
 * case. */
int hil_judge(struct hil_judgement *judgement, const struct hil_judge_run *run);
void hil_judgement_free(struct hil_judgement *judgement);

/* Adds `verdict` and `limits` to a summary. */
void hil_judgement_add(const struct hil_judgement *judgement, json_t *summary);

/* If there are limits, prints a line with the verdict, and one for each limit that did not pass. */
void hil_judgement_print(const struct hil_judgement *judgement, FILE *to);

#endif
