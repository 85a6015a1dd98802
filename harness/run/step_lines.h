/*
 * The cache lines that the steps of a thread's nodes touch, so that they are asked for before the
 * step that needs them.
 *
 *      step of     | node 0 | node 1 | node 2 | ...
 *      asked for   | node 2 | node 3 | node 4 | ...
 *
 * A thousand nodes touch more lines than a core's second cache has. A step finds out only as it
 * goes where its next line is, and would wait for one after the other; the list has them all.
 */
#ifndef HIL_STEP_LINES_H
#define HIL_STEP_LINES_H

#include "node.h"

struct hil_step_lines {
    const void **at; /* all nodes'; NULL: the caches hold them anyway, and none is asked for */
    unsigned *end;   /* of each node's, after a first 0 */
    unsigned count;  /* of nodes */
};

/* Lists the lines of nodes that have met their peers. Returns 0 or -ENOMEM; to be closed in either
 * case. A node that is opened anew has others: then what is listed of it is of no use, but no harm.
 */
int hil_step_lines_open(struct hil_step_lines *lines, struct hil_node *const *nodes,
                        unsigned count);
void hil_step_lines_close(struct hil_step_lines *lines);

/* Asks for the lines of node `i` of the list. */
static inline void hil_step_lines_fetch(const struct hil_step_lines *lines, unsigned i)
{
    const void *const *end = lines->at + lines->end[i + 1];

    for (const void *const *line = lines->at + lines->end[i]; line < end; line++)
        __builtin_prefetch(*line, 1);
}

#endif
