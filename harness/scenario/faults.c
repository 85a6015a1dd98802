#include "faults.h"

#define HIL_KIND(id, name_, of_, needs_, may_)                                                     \
    [HIL_FAULT_##id] = {.name = name_, .of = of_, .needs = needs_, .may = may_},

const char *const hil_fault_numbers[HIL_FAULT_NUMBERS] = {
    [HIL_FAULT_VALUE] = "value",
    [HIL_FAULT_FACTOR] = "factor",
    [HIL_FAULT_PROBABILITY] = "probability",
    [HIL_FAULT_SEED] = "seed",
    [HIL_FAULT_DELAY_US] = "delay_us",
};

/* Abbreviations for the list. */
enum {
    SIGNAL = 1 << HIL_FAULT_OF_SIGNAL,
    LINK = 1 << HIL_FAULT_OF_LINK,
    NODES = 1 << HIL_FAULT_OF_NODES,
    COMPONENT = 1 << HIL_FAULT_OF_COMPONENT,
    VALUE = 1 << HIL_FAULT_VALUE,
    FACTOR = 1 << HIL_FAULT_FACTOR,
    PROBABILITY = 1 << HIL_FAULT_PROBABILITY,
    SEED = 1 << HIL_FAULT_SEED,
    DELAY_US = 1 << HIL_FAULT_DELAY_US,
};

const struct hil_fault_kind_row hil_fault_kinds[HIL_FAULT_KIND_COUNT] = {HIL_FAULT_KINDS(HIL_KIND)};

const char *const hil_awaited_words[HIL_AWAITED_END] = {
    [HIL_AWAITED_OLD] = "old", [HIL_AWAITED_NEW] = "new",       [HIL_AWAITED_SAFE] = "safe",
    [HIL_AWAITED_RUN] = "run", [HIL_AWAITED_FAILED] = "failed",
};

bool hil_awaited_is_of(const struct hil_system *s, const struct hil_awaited *awaited, unsigned node)
{
    const struct hil_node_config *n = &s->nodes[node];

    if (awaited->event != HIL_AWAITED_END)
        return awaited->node == node;
    for (unsigned i = n->first_fault; i < n->first_fault + n->fault_count; i++)
        if (s->faults_here[i].fault == awaited->fault)
            return true;
    return false;
}
