/*
 * What a fault makes of a number, step by step. Random effects depend only on the fault's seed, on
 * the number of the signal or link among the fault's, and on the step's number. So they do not
 * depend on what happened in earlier steps, and are the same in virtual time and against the clock.
 */
#ifndef HIL_FAULT_VALUE_H
#define HIL_FAULT_VALUE_H

#include "../scenario/faults.h"

/* A fault on one signal. */
struct hil_fault_value {
    const struct hil_fault *fault;
    unsigned number; /* among the signals of the fault */
    double held;     /* the newest value before the fault, or since it last came through */
    bool has_held;
    double *past; /* of a delay: newest inputs, in a ring; else NULL */
    unsigned delay, filled, at;
};

/* Prepares the fault for a signal of a node with this period. Returns 0 or -ENOMEM. */
int hil_fault_value_open(struct hil_fault_value *value, const struct hil_fault *fault,
                         unsigned number, uint64_t period_ns);
void hil_fault_value_close(struct hil_fault_value *value);

/* Forgets all earlier values. */
void hil_fault_value_reset(struct hil_fault_value *value);

/* What x becomes in step n. Call it in each step, whether the fault is `on` or not; if it is on, it
 * began `since_ns` ago. */
double hil_fault_value_of(struct hil_fault_value *value, bool on, uint64_t n, uint64_t since_ns,
                          double x);

/* Whether a random event with the fault's probability happens in step n. */
bool hil_fault_happens(const struct hil_fault *fault, unsigned number, uint64_t n);

#endif
