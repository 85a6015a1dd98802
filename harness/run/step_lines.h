/*
 * Prefetches the cache lines that the steps of a thread's nodes touch, before the step that needs
 * them.
 *
 *      step of     | node 0 | node 1 | node 2 | ...
 *      prefetched  | node 2 | node 3 | node 4 | ...
 *
 * A thousand nodes touch more lines than a core's second-level cache has. A step finds each next
 * line only as it goes, and would wait for one after another; the list has them all.
 */
#ifndef HIL_STEP_LINES_H
#define HIL_STEP_LINES_H

#include "node.h"

struct hil_step_lines {
    const void **at; /* of all nodes; NULL: not needed, the caches hold all lines */
    unsigned *end;   /* of each node's lines, after a first 0 */
    unsigned count;  /* number of nodes */
};

/* Lists the lines of nodes that have met their peers. Returns 0 or -ENOMEM; close it in both cases.
 * A node that is opened anew has other lines; the old ones in the list are then useless, but
 * harmless. */
int hil_step_lines_open(struct hil_step_lines *lines, struct hil_node *const *nodes,
                        unsigned count);
void hil_step_lines_close(struct hil_step_lines *lines);

/* Prefetches the lines of node `i` of the list. */
static inline void hil_step_lines_fetch(const struct hil_step_lines *lines, unsigned i)
{
    const void *const *end = lines->at + lines->end[i + 1];

    for (const void *const *line = lines->at + lines->end[i]; line < end; line++)
        __builtin_prefetch(*line, 1);
}

#endif
