/*
 * Bookkeeping for calls into models that a provider made, from a shared library to a program: what
 * their steps cost, and, if the code may hang or crash, which component an executor is in. So the
 * launcher can name the component when the process hangs or dies.
 */
#ifndef HIL_CALLS_H
#define HIL_CALLS_H

#include <stdatomic.h>
#include <stdint.h>

#include "../../plants/model.h"

/* Costs of a component's steps: step(), and apply() before it; and what it counts. One writer. */
struct hil_cost {
    uint64_t steps, sum_ns, max_ns;
    uint64_t over;     /* steps that took longer than the period */
    uint64_t apply_ns; /* time of apply() since the last step */
    struct hil_counts counts;
};

static inline void hil_cost_add(struct hil_cost *cost, uint64_t ns, uint64_t period_ns)
{
    ns += cost->apply_ns;
    cost->apply_ns = 0;
    cost->steps++;
    cost->sum_ns += ns;
    cost->max_ns = ns > cost->max_ns ? ns : cost->max_ns;
    cost->over += ns > period_ns;
}

/* The component, of those whose code may hang or crash, that an executor's thread is in. */
struct hil_inside {
    _Atomic uint32_t component; /* 1 + its number in the system; 0: none */
    uint64_t step, time_ns;     /* its node's step, and the run's time; 0 before the run */
};

static inline void hil_inside_enter(struct hil_inside *inside, uint32_t component, uint64_t step,
                                    uint64_t time_ns)
{
    inside->step = step;
    inside->time_ns = time_ns;
    atomic_store_explicit(&inside->component, component + 1, memory_order_release);
}

static inline void hil_inside_leave(struct hil_inside *inside)
{
    atomic_store_explicit(&inside->component, 0, memory_order_release);
}

#endif
