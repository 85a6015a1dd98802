#include "note.h"

#include "tracer.h"

__attribute__((cold)) void hil_note(const struct hil_node *node, uint64_t n, uint64_t now_ns,
                                    enum hil_event_kind kind, struct hil_event_of of, double value)
{
    const struct hil_event_row event = {
        .time_s = (double)now_ns * 1e-9,
        .step = n,
        .node = node->id,
        .kind = kind,
        .of = of,
        .value = value,
    };

    if (node->rehearsed)
        return;
    hil_event_add(node->events, &event);
    node->run->state->executors[node->run->executor].events[kind]++;
    HIL_TRACE(event, &event);
}
