#include "note.h"

#include "awaited.h"
#include "step_parts.h"
#include "tracer.h"

__attribute__((cold)) void hil_note(struct hil_node *node, uint64_t n, uint64_t now_ns,
                                    enum hil_event_kind kind, struct hil_event_of of, double value)
{
    const struct hil_event_row event = {
        .time_s = (double)(int64_t)now_ns * 1e-9,
        .step = n,
        .node = node->id,
        .kind = kind,
        .of = of,
        .value = value,
    };

    if (node->rehearsed)
        return;
    hil_event_add(node->events, &event);
    if (node->step->tap)
        hil_tap_note(node->step->tap, n, kind);
    node->run->state->executors[node->run->executor].events[kind]++;
    hil_awaited_note(node->run->state, &event, now_ns);
    HIL_TRACE(event, &event);
}

void hil_note_stage(struct hil_node *node, uint64_t n, uint64_t now_ns, enum hil_stage stage)
{
    static const enum hil_event_kind kinds[] = {
        [HIL_STARTING] = HIL_EVENT_INIT, [HIL_READY] = HIL_EVENT_READY,
        [HIL_RUNNING] = HIL_EVENT_RUN,   [HIL_SAFE] = HIL_EVENT_SAFE,
        [HIL_DONE] = HIL_EVENT_STOPPED,  [HIL_FAILED] = HIL_EVENT_STOPPED};

    hil_note(node, n, now_ns, kinds[stage], (struct hil_event_of){0}, 0);
}
