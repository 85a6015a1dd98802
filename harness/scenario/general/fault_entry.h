/* An entry of `faults` while it is read by general_faults.c and general_after.c. */
#ifndef SCENARIO_FAULT_ENTRY_H
#define SCENARIO_FAULT_ENTRY_H

#include "../faults.h"
#include "general.h"

/* One thing on which a fault acts, and its node. */
struct fault_found {
    unsigned fault, node;
    struct hil_act act;
};

struct fault_entry {
    const struct general *g;
    const struct scenario_entry *entry;
    const struct scenario_node *block;
    struct hil_fault *fault;
    struct general_element level; /* for a fault that waits for a level, as from general_signals */
    struct fault_found *found;    /* those of all entries so far */
    unsigned found_count, before; /* their number, and the number before this entry */
    struct general_elements elements;
};

static inline bool fault_has(const struct fault_entry *e, const char *key)
{
    return scenario_node_get(e->block, key) != NULL;
}

/* Reports a mistake at the value of the key, or at the fault itself without a key. Returns
 * -EINVAL. */
__attribute__((format(printf, 3, 4))) int fault_mistake(const struct fault_entry *e,
                                                        const char *key, const char *format, ...);

/* Reads when the fault begins and how long it lasts. Once its nodes are known, checks that these
 * can be known there. Returns 0, or -EINVAL after a report. */
int fault_times(struct fault_entry *e);
int fault_check_wait(const struct fault_entry *e);

#endif
