/*
 * The macro with which the library's parts report events to the tracer.
 */
#ifndef LOCO_TRACE_INTERNAL_H
#define LOCO_TRACE_INTERNAL_H

#include <stdatomic.h>

#include "loco/trace.h"

extern const struct loco_tracer *_Atomic loco_tracer;

static inline bool loco_trace_wanted(const int *wanted)
{
    return !wanted || __atomic_load_n(wanted, __ATOMIC_RELAXED);
}

/* Used as LOCO_TRACE(push, node, channel, size). The arguments are evaluated only if the tracer
 * wants the event. */
#define LOCO_TRACE(event, ...)                                                                     \
    do {                                                                                           \
        const struct loco_tracer *listens =                                                        \
            atomic_load_explicit(&loco_tracer, memory_order_acquire);                              \
        if (__builtin_expect(listens && loco_trace_wanted(listens->event##_wanted), 0))            \
            listens->event(__VA_ARGS__);                                                           \
    } while (0)

#endif
