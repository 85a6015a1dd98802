#include "trace_internal.h"

const struct loco_tracer *_Atomic loco_tracer;

const struct loco_tracer *loco_trace_set(const struct loco_tracer *tracer)
{
    return atomic_exchange_explicit(&loco_tracer, tracer, memory_order_acq_rel);
}
