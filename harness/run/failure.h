/*
 * Components that fail: a step or an apply that returns an error, or a step that gives an output
 * which is no number; or code of others that ends its process, or does not return. Such a component
 * is not stepped again. The scenario says what then (on_error): the run ends; or it goes on, with
 * the safe values of a sampled component in place of its outputs, and with no number for those of a
 * continuous one, which makes safe what takes them.
 */
#ifndef HIL_FAILURE_H
#define HIL_FAILURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../scenario/system.h"

enum { HIL_COMPONENT_BYTES = 80, HIL_SIGNAL_BYTES = 48, HIL_FAILURE_WORDS_BYTES = 320 };

struct hil_failure {
    char component[HIL_COMPONENT_BYTES]; /* "control[3]" */
    char model[HIL_SIGNAL_BYTES];
    char signal[HIL_SIGNAL_BYTES]; /* the output that is no number; "": a call failed */
    double value;                  /* of that output */
    char ended[HIL_SIGNAL_BYTES];  /* what became of its process: "it crashed (SIGSEGV)"; or "" */
    char call[8];                  /* of the model: "step", "apply" */
    int error;                     /* that it returned, else 0 */
    uint64_t step, time_ns;        /* of its node, by the run's time */
    bool ends;                     /* the run, as the scenario says */
};

enum { HIL_FAILURES_LISTED = 16 };

/* Those that an executor found, the first ones in full. One writer. */
struct hil_failure_log {
    _Atomic uint64_t count; /* shown to programs that watch */
    struct hil_failure at[HIL_FAILURES_LISTED];
};

/* Whether all of them are numbers: no NaN and no infinity. */
static inline bool hil_all_numbers(const double *values, unsigned count)
{
    double zero = 0;

    for (unsigned i = 0; i < count; i++)
        zero += values[i] * 0;
    return zero == 0;
}

/* Who failed, when, and what follows. */
struct hil_failing {
    const struct hil_component *component;
    const char *call; /* "step", "apply" */
    uint64_t step, time_ns;
    bool ends;
};

/* Writes down that the call returned `rc`, or, if that is 0, gave out[]. Returns what the node's
 * step is to return: -ENOTRECOVERABLE if the run ends, or 0. */
int hil_failure_add(struct hil_failure_log *log, const struct hil_failing *failing, int rc,
                    const double *out);

/* Writes down what became of the process of a component, in words. */
void hil_failure_add_ended(struct hil_failure_log *log, const struct hil_failing *failing,
                           const char *ended);

/* What failed and how, in words: "control[3] (pid): its output torque_nm is nan, at 0.001 s (step
 * 50)".
 */
void hil_failure_say(const struct hil_failure *failure, char text[HIL_FAILURE_WORDS_BYTES]);

/* The same of the one that ended the run; leaves the text as it is where none did. */
void hil_failure_describe(const struct hil_failure_log *log, char *text, size_t size);

/* How many of a log's failures are listed. */
static inline unsigned hil_failures_listed(const struct hil_failure_log *log)
{
    const uint64_t count = atomic_load_explicit(&log->count, memory_order_acquire);

    return count < HIL_FAILURES_LISTED ? (unsigned)count : HIL_FAILURES_LISTED;
}

#endif
