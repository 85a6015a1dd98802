#include "trace_internal.h"

const struct loco_tracer *_Atomic loco_tracer;

void loco_trace_set(const struct loco_tracer *tracer)
{
    atomic_store_explicit(&loco_tracer, tracer, memory_order_release);
}
