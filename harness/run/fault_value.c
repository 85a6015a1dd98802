#include "fault_value.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "../base/random.h"

/* --- random numbers --------------------------------------------------------------------------- */

/* A random generator for one signal or link of a fault in one step. */
static uint64_t fault_random_state(const struct hil_fault *f, unsigned number, uint64_t n)
{
    uint64_t state = f->seed;

    state = hil_random(&state) ^ number;
    return hil_random(&state) ^ n;
}

bool hil_fault_happens(const struct hil_fault *f, unsigned number, uint64_t n)
{
    uint64_t state = fault_random_state(f, number, n);

    return hil_random_uniform(&state) < f->numbers[HIL_FAULT_PROBABILITY];
}

static double fault_noise(const struct hil_fault_value *v, uint64_t n)
{
    uint64_t state = fault_random_state(v->fault, v->number, n);

    return hil_random_normal(&state);
}

/* --- opening and closing ---------------------------------------------------------------------- */

int hil_fault_value_open(struct hil_fault_value *v, const struct hil_fault *f, unsigned number,
                         uint64_t period_ns)
{
    *v = (struct hil_fault_value){.fault = f, .number = number};
    if (f->kind != HIL_FAULT_DELAY)
        return 0;
    v->delay = (unsigned)((f->delay_ns + period_ns - 1) / period_ns);
    v->past = calloc(v->delay + 1, sizeof *v->past);
    return v->past ? 0 : -ENOMEM;
}

void hil_fault_value_close(struct hil_fault_value *v)
{
    free(v->past);
}

void hil_fault_value_reset(struct hil_fault_value *v)
{
    v->has_held = false;
    v->filled = v->at = 0;
}

/* --- values ---------------------------------------------------------------------------------- */

/* Returns the first value until the delay has passed. */
static double fault_delayed(struct hil_fault_value *v, double x)
{
    const unsigned places = v->delay + 1;

    v->past[v->at] = x;
    v->at = (v->at + 1) % places;
    v->filled += v->filled < places;
    return v->past[v->filled < places ? 0 : v->at];
}

static double fault_held(struct hil_fault_value *v, bool passes, double x)
{
    if (passes || !v->has_held) {
        v->held = x;
        v->has_held = true;
    }
    return v->held;
}

/* The fault's own value or, if the scenario gives none, the held one. */
static double fault_replaced(const struct hil_fault_value *v, double held)
{
    const double value = v->fault->numbers[HIL_FAULT_VALUE];

    return isnan(value) ? held : value;
}

static double fault_on(struct hil_fault_value *v, uint64_t n, uint64_t since_ns, double x)
{
    const struct hil_fault *f = v->fault;
    const double value = f->numbers[HIL_FAULT_VALUE];

    switch (f->kind) {
    case HIL_FAULT_STUCK:
        return fault_replaced(v, fault_held(v, false, x));
    case HIL_FAULT_BIAS:
        return x + value;
    case HIL_FAULT_GAIN:
        return x * f->numbers[HIL_FAULT_FACTOR];
    case HIL_FAULT_NOISE:
        return x + value * fault_noise(v, n);
    case HIL_FAULT_DRIFT:
        return x + value * ((double)since_ns * 1e-9);
    case HIL_FAULT_SPIKE:
        return hil_fault_happens(f, v->number, n) ? x + value : x;
    case HIL_FAULT_DROPOUT:
        if (hil_fault_happens(f, v->number, n))
            return fault_replaced(v, fault_held(v, false, x));
        return fault_held(v, true, x);
    case HIL_FAULT_QUANTISE:
        return value * rint(x / value);
    default:
        return x;
    }
}

double hil_fault_value_of(struct hil_fault_value *v, bool on, uint64_t n, uint64_t since_ns,
                          double x)
{
    if (v->past) {
        const double delayed = fault_delayed(v, x);
        return on ? delayed : x;
    }
    return on ? fault_on(v, n, since_ns, x) : fault_held(v, true, x);
}
