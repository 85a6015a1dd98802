/* An entry of `faults`, as it is read: by general_faults.c, and general_after.c. */
#ifndef SCENARIO_FAULT_ENTRY_H
#define SCENARIO_FAULT_ENTRY_H

#include "../faults.h"
#include "general.h"

/* One thing that a fault acts on, and where. */
struct fault_found {
    unsigned fault, node;
    struct hil_act act;
};

struct fault_entry {
    const struct general *g;
    const struct scenario_entry *entry;
    const struct scenario_node *block;
    struct hil_fault *fault;
    struct general_element level; /* of a fault that waits for one: as general_signals has it */
    struct fault_found *found;    /* of all entries so far */
    unsigned found_count, before; /* and of those before this one */
    struct general_elements elements;
};

static inline bool fault_has(const struct fault_entry *e, const char *key)
{
    return scenario_node_get(e->block, key) != NULL;
}

/* At the value of the key; without it at the fault itself. Returns -EINVAL. */
__attribute__((format(printf, 3, 4))) int fault_mistake(const struct fault_entry *e,
                                                        const char *key, const char *format, ...);

/* When it begins and how long it lasts; and, once it is known where it acts, whether that can be
 * known there. 0, or -EINVAL after a report. */
int fault_times(struct fault_entry *e);
int fault_check_wait(const struct fault_entry *e);

#endif
