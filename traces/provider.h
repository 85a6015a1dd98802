/*
 * The events of the LTTng provider `hiloco`. docs/tracing.md says what each one means.
 *
 * LTTng includes this file several times, so it has no ordinary include guard.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER hiloco

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "traces/provider.h"

#if !defined(HILOCO_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define HILOCO_PROVIDER_H

#include <lttng/tracepoint.h>

#include "channels/loco/trace.h"
#include "harness/run/tracer.h"

/* The run of this process (harness/tracing/session.h). */
#ifndef HILOCO_RUN
#define HILOCO_RUN
extern uint32_t hiloco_run;
#endif

/* clang-format does not recognise these macros as declarations. */
/* clang-format off */

/* Sessions select the run by it; it is not written. */
#define RUN_FIELD lttng_ust_field_integer_nowrite(uint32_t, run, hiloco_run)

/* The members of struct hil_traced_newer. */
#define NEWER_FIELDS 3

/* --- loops ------------------------------------------------------------------------------------ */

LTTNG_UST_TRACEPOINT_ENUM(
    hiloco, stage,
    LTTNG_UST_TP_ENUM_VALUES(
        lttng_ust_field_enum_value("init", HIL_STARTING)
        lttng_ust_field_enum_value("ready", HIL_READY)
        lttng_ust_field_enum_value("run", HIL_RUNNING)
        lttng_ust_field_enum_value("safe", HIL_SAFE)
        lttng_ust_field_enum_value("stopped", HIL_DONE)
        lttng_ust_field_enum_value("failed", HIL_FAILED)
    )
)

LTTNG_UST_TRACEPOINT_EVENT(
    hiloco, node,
    LTTNG_UST_TP_ARGS(const struct hil_traced_node *, n),
    LTTNG_UST_TP_FIELDS(
        RUN_FIELD
        lttng_ust_field_integer(uint32_t, node, n->node)
        lttng_ust_field_string(name, n->name)
        lttng_ust_field_string(array, n->array)
        lttng_ust_field_integer(uint64_t, period_ns, n->period_ns)
    )
)

LTTNG_UST_TRACEPOINT_EVENT(
    hiloco, link,
    LTTNG_UST_TP_ARGS(const struct hil_traced_link *, l),
    LTTNG_UST_TP_FIELDS(
        RUN_FIELD
        lttng_ust_field_integer(uint32_t, link, l->link)
        lttng_ust_field_integer(uint32_t, from, l->from)
        lttng_ust_field_integer(uint32_t, to, l->to)
        lttng_ust_field_integer(int32_t, back, l->back)
        lttng_ust_field_integer(uint8_t, late, l->late)
        lttng_ust_field_string(channel, l->channel)
    )
)

LTTNG_UST_TRACEPOINT_EVENT(
    hiloco, loop_step,
    LTTNG_UST_TP_ARGS(const struct hil_traced_step *, s),
    LTTNG_UST_TP_FIELDS(
        RUN_FIELD
        lttng_ust_field_integer(uint32_t, node, s->node)
        lttng_ust_field_integer(uint64_t, step, s->step)
        lttng_ust_field_integer(uint64_t, late_ns, s->late_ns)
        lttng_ust_field_integer(uint64_t, duration_ns, s->duration_ns)
        lttng_ust_field_sequence(uint32_t, ages_ns, s->ages_ns, uint8_t, s->nodes)
        lttng_ust_field_sequence(uint32_t, newer, (const uint32_t *)s->newer, uint8_t,
                                 NEWER_FIELDS * s->newer_count)
    )
)

LTTNG_UST_TRACEPOINT_EVENT(
    hiloco, loop_links,
    LTTNG_UST_TP_ARGS(const struct hil_traced_step *, s),
    LTTNG_UST_TP_FIELDS(
        RUN_FIELD
        lttng_ust_field_integer(uint32_t, node, s->node)
        lttng_ust_field_integer(uint64_t, step, s->step)
        lttng_ust_field_sequence(uint32_t, newer, (const uint32_t *)s->newer, uint8_t,
                                 NEWER_FIELDS * s->newer_count)
    )
)

LTTNG_UST_TRACEPOINT_EVENT(
    hiloco, loop_miss,
    LTTNG_UST_TP_ARGS(const struct hil_traced_miss *, m),
    LTTNG_UST_TP_FIELDS(
        RUN_FIELD
        lttng_ust_field_integer(uint32_t, node, m->node)
        lttng_ust_field_integer(uint32_t, nodes, m->nodes)
        lttng_ust_field_integer(uint64_t, step, m->step)
        lttng_ust_field_integer(uint64_t, over_ns, m->over_ns)
    )
)

LTTNG_UST_TRACEPOINT_EVENT(
    hiloco, loop_left_out,
    LTTNG_UST_TP_ARGS(const struct hil_traced_left_out *, l),
    LTTNG_UST_TP_FIELDS(
        RUN_FIELD
        lttng_ust_field_integer(uint32_t, node, l->node)
        lttng_ust_field_integer(uint32_t, nodes, l->nodes)
        lttng_ust_field_integer(uint64_t, step, l->step)
        lttng_ust_field_integer(uint64_t, count, l->count)
        lttng_ust_field_integer(uint64_t, late_ns, l->late_ns)
        lttng_ust_field_integer(uint64_t, period_ns, l->period_ns)
    )
)

LTTNG_UST_TRACEPOINT_EVENT(
    hiloco, state,
    LTTNG_UST_TP_ARGS(uint32_t, number, enum hil_stage, stage_now, int32_t, id),
    LTTNG_UST_TP_FIELDS(
        RUN_FIELD
        lttng_ust_field_integer(uint32_t, node, number)
        lttng_ust_field_integer(int32_t, thread, id)
        lttng_ust_field_enum(hiloco, stage, uint8_t, stage, (uint8_t)stage_now)
    )
)

LTTNG_UST_TRACEPOINT_ENUM(
    hiloco, kind,
    LTTNG_UST_TP_ENUM_VALUES(
#define HILOCO_KIND(name, text, value) lttng_ust_field_enum_value(text, HIL_EVENT_##name)
        HIL_EVENT_KINDS(HILOCO_KIND)
    )
)

LTTNG_UST_TRACEPOINT_EVENT(
    hiloco, event,
    LTTNG_UST_TP_ARGS(const struct hil_event_row *, e),
    LTTNG_UST_TP_FIELDS(
        RUN_FIELD
        lttng_ust_field_integer(uint32_t, node, e->node)
        lttng_ust_field_enum(hiloco, kind, uint8_t, kind, (uint8_t)e->kind)
        lttng_ust_field_integer(uint64_t, step, e->step + 1)
        lttng_ust_field_integer(uint32_t, of, e->of.name)
        lttng_ust_field_integer(uint32_t, index, e->of.index)
        lttng_ust_field_integer(uint32_t, place, e->of.place)
        lttng_ust_field_float(double, value, e->value)
    )
)

/* --- channels --------------------------------------------------------------------------------- */

LTTNG_UST_TRACEPOINT_ENUM(
    hiloco, scope,
    LTTNG_UST_TP_ENUM_VALUES(
        lttng_ust_field_enum_value("pair", LOCO_FENCE_PAIR)
        lttng_ust_field_enum_value("thread", LOCO_FENCE_THREAD)
        lttng_ust_field_enum_value("global", LOCO_FENCE_GLOBAL)
    )
)

LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    hiloco, copy,
    LTTNG_UST_TP_ARGS(uint32_t, number, const char *, name, size_t, bytes),
    LTTNG_UST_TP_FIELDS(
        RUN_FIELD
        lttng_ust_field_integer(uint32_t, node, number)
        lttng_ust_field_string(channel, name)
        lttng_ust_field_integer(uint32_t, size, (uint32_t)bytes)
    )
)
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(hiloco, copy, hiloco, push,
    LTTNG_UST_TP_ARGS(uint32_t, number, const char *, name, size_t, bytes))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(hiloco, copy, hiloco, pull,
    LTTNG_UST_TP_ARGS(uint32_t, number, const char *, name, size_t, bytes))

LTTNG_UST_TRACEPOINT_EVENT(
    hiloco, fence,
    LTTNG_UST_TP_ARGS(uint32_t, number, enum loco_fence, kind),
    LTTNG_UST_TP_FIELDS(
        RUN_FIELD
        lttng_ust_field_integer(uint32_t, node, number)
        lttng_ust_field_enum(hiloco, scope, uint8_t, scope, (uint8_t)kind)
    )
)

LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    hiloco, lock,
    LTTNG_UST_TP_ARGS(uint32_t, number, const char *, name, uint32_t, hosts, size_t, which),
    LTTNG_UST_TP_FIELDS(
        RUN_FIELD
        lttng_ust_field_integer(uint32_t, node, number)
        lttng_ust_field_string(channel, name)
        lttng_ust_field_integer(uint32_t, host, hosts)
        lttng_ust_field_integer(uint64_t, index, which)
    )
)
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(hiloco, lock, hiloco, lock_acquire,
    LTTNG_UST_TP_ARGS(uint32_t, number, const char *, name, uint32_t, hosts, size_t, which))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(hiloco, lock, hiloco, lock_release,
    LTTNG_UST_TP_ARGS(uint32_t, number, const char *, name, uint32_t, hosts, size_t, which))

LTTNG_UST_TRACEPOINT_EVENT_CLASS(
    hiloco, barrier,
    LTTNG_UST_TP_ARGS(uint32_t, number, const char *, name, uint32_t, rounds),
    LTTNG_UST_TP_FIELDS(
        RUN_FIELD
        lttng_ust_field_integer(uint32_t, node, number)
        lttng_ust_field_string(channel, name)
        lttng_ust_field_integer(uint32_t, round, rounds)
    )
)
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(hiloco, barrier, hiloco, barrier_enter,
    LTTNG_UST_TP_ARGS(uint32_t, number, const char *, name, uint32_t, rounds))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(hiloco, barrier, hiloco, barrier_leave,
    LTTNG_UST_TP_ARGS(uint32_t, number, const char *, name, uint32_t, rounds))

LTTNG_UST_TRACEPOINT_EVENT(
    hiloco, peer_join,
    LTTNG_UST_TP_ARGS(uint32_t, number, uint32_t, other),
    LTTNG_UST_TP_FIELDS(
        RUN_FIELD
        lttng_ust_field_integer(uint32_t, node, number)
        lttng_ust_field_integer(uint32_t, peer, other)
    )
)

LTTNG_UST_TRACEPOINT_EVENT(
    hiloco, peer_lost,
    LTTNG_UST_TP_ARGS(uint32_t, number, uint32_t, other, bool, in_order),
    LTTNG_UST_TP_FIELDS(
        RUN_FIELD
        lttng_ust_field_integer(uint32_t, node, number)
        lttng_ust_field_integer(uint32_t, peer, other)
        lttng_ust_field_integer(uint8_t, left, in_order)
    )
)

/* clang-format on */

#endif

#include <lttng/tracepoint-event.h>
