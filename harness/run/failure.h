/*
 * Components that fail: a step or an apply returns an error, a step gives an output that is not a
 * number, or a provider's code ends its process or does not return. A failed component is not
 * stepped again. The scenario decides what follows (on_error). The run may end; or it goes on with
 * the safe values of a sampled component as its outputs, or with NaN as the outputs of a continuous
 * one, which makes components that take them safe.
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
    char signal[HIL_SIGNAL_BYTES]; /* the output that is not a number; "": a call failed */
    double value;                  /* of that output */
    char ended[HIL_SIGNAL_BYTES];  /* how its process ended: "it crashed (SIGSEGV)"; or "" */
    char call[8];                  /* function of the model: "step", "apply" */
    int error;                     /* that the function returned, else 0 */
    uint64_t step, time_ns;        /* step of its node; the run's time */
    bool ends;                     /* it ends the run, by the scenario */
};

enum { HIL_FAILURES_LISTED = 16 };

/* The failures that an executor found: all are counted, and the first ones are listed. One
 * writer. */
struct hil_failure_log {
    _Atomic uint64_t count; /* shown to programs that watch */
    struct hil_failure at[HIL_FAILURES_LISTED];
};

/* Whether all values are numbers: no NaN and no infinity. */
static inline bool hil_all_numbers(const double *values, unsigned count)
{
    double zero = 0;

    for (unsigned i = 0; i < count; i++)
        zero += values[i] * 0;
    return zero == 0;
}

/* The component that failed, when, and whether that ends the run. */
struct hil_failing {
    const struct hil_component *component;
    const char *call; /* "step", "apply" */
    uint64_t step, time_ns;
    bool ends;
};

/* Logs that the call returned `rc` or, if that is 0, that it gave the bad outputs out[]. Returns
 * the result for the node's step: -ENOTRECOVERABLE if the run ends, else 0. */
int hil_failure_add(struct hil_failure_log *log, const struct hil_failing *failing, int rc,
                    const double *out);

/* Logs in words how the process of a component ended. */
void hil_failure_add_ended(struct hil_failure_log *log, const struct hil_failing *failing,
                           const char *ended);

/* Describes a failure in words: "control[3] (pid): its output torque_nm is NaN, at 0.001 s (step
 * 50)". */
void hil_failure_say(const struct hil_failure *failure, char text[HIL_FAILURE_WORDS_BYTES]);

/* Describes the failure that ended the run, or leaves the text unchanged if there was none. */
void hil_failure_describe(const struct hil_failure_log *log, char *text, size_t size);

/* How many failures of the log are listed. */
static inline unsigned hil_failures_listed(const struct hil_failure_log *log)
{
    const uint64_t count = atomic_load_explicit(&log->count, memory_order_acquire);

    return count < HIL_FAILURES_LISTED ? (unsigned)count : HIL_FAILURES_LISTED;
}

#endif
