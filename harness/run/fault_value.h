/*
 * What a fault makes of a number, step by step. What is random depends on the fault's seed, on
 * which of its things it is, and on the step's number alone: so it is the same whatever happened in
 * the steps before, and in virtual time as against the clock.
 */
#ifndef HIL_FAULT_VALUE_H
#define HIL_FAULT_VALUE_H

#include "../scenario/faults.h"

/* A fault on one signal. */
struct hil_fault_value {
    const struct hil_fault *fault;
    unsigned number; /* among the fault's */
    double held;     /* the newest value from before, or since it last came through */
    bool has_held;
    double *past; /* of a delay: its input in the newest steps, in a ring; NULL: of other kinds */
    unsigned delay, filled, at;
};

/* A fault begins on a signal of a node with this period. Returns 0 or -ENOMEM. */
int hil_fault_value_open(struct hil_fault_value *value, const struct hil_fault *fault,
                         unsigned number, uint64_t period_ns);
void hil_fault_value_close(struct hil_fault_value *value);

/* Forgets what was before. */
void hil_fault_value_reset(struct hil_fault_value *value);

/* What becomes of x in step n. It is to be called in each step, whether the fault is `on` or not;
 * if it is, it began `since_ns` ago. */
double hil_fault_value_of(struct hil_fault_value *value, bool on, uint64_t n, uint64_t since_ns,
                          double x);

/* Whether what is as likely as the fault's probability happens in step n. */
bool hil_fault_happens(const struct hil_fault *fault, unsigned number, uint64_t n);

#endif
