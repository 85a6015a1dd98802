#include "awaited.h"

static void awaited_open(struct hil_awaited_state *a, const struct hil_system *s,
                         const struct hil_awaited *awaited)
{
    static const enum hil_event_kind kinds[] = {
        [HIL_AWAITED_OLD] = HIL_EVENT_OLD,       [HIL_AWAITED_NEW] = HIL_EVENT_NEW,
        [HIL_AWAITED_SAFE] = HIL_EVENT_SAFE,     [HIL_AWAITED_RUN] = HIL_EVENT_RUN,
        [HIL_AWAITED_FAILED] = HIL_EVENT_FAILED, [HIL_AWAITED_END] = HIL_EVENT_FAULT_ENDS,
    };

    *a = (struct hil_awaited_state){
        .is = true, .kind = kinds[awaited->event], .node = awaited->node};
    switch (awaited->event) {
    case HIL_AWAITED_OLD:
    case HIL_AWAITED_NEW:
        a->of = hil_event_of_signal(s, awaited->component, false, awaited->number);
        break;
    case HIL_AWAITED_FAILED:
        a->of = hil_event_of_component(s, awaited->component);
        break;
    case HIL_AWAITED_END:
        a->of = hil_event_of_fault(s, awaited->fault);
        a->node = UINT32_MAX;
        break;
    default:
        break; /* these concern the node alone */
    }
}

void hil_awaited_init(struct hil_state *state, const struct hil_system *s)
{
    for (unsigned i = 0; i < s->fault_count; i++)
        if (s->faults[i].waits == HIL_WAITS_EVENT)
            awaited_open(&state->awaited[i], s, &s->faults[i].awaited);
}

static bool awaited_is(const struct hil_awaited_state *a, const struct hil_event_row *event)
{
    return a->is && a->kind == event->kind && a->of.name == event->of.name &&
           a->of.index == event->of.index && a->of.place == event->of.place &&
           (a->node == event->node || a->node == UINT32_MAX);
}

/* Nodes that begin to run at the start are not events that a fault waits for. */
void hil_awaited_note(const struct hil_state *state, const struct hil_event_row *event,
                      uint64_t now_ns)
{
    const bool starts = event->kind == HIL_EVENT_RUN && now_ns == 0;

    for (unsigned i = 0; !starts && i < state->fault_count; i++) {
        struct hil_awaited_state *a = &state->awaited[i];
        uint64_t never = 0;
        if (awaited_is(a, event))
            atomic_compare_exchange_strong(&a->was_ns, &never, now_ns + 1);
    }
}

bool hil_awaited_was(const struct hil_state *state, unsigned fault, uint64_t *at_ns)
{
    const uint64_t was_ns =
        atomic_load_explicit(&state->awaited[fault].was_ns, memory_order_acquire);

    *at_ns = was_ns - 1;
    return was_ns != 0;
}
