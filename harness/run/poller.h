/*
 * The polling thread: where completions are polled, it looks for those of all the nodes that
 * an executor serves, so that the loop only reads what was found.
 */
#ifndef HIL_POLLER_H
#define HIL_POLLER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "node.h"

struct hil_poller {
    pthread_t thread;
    bool runs;
    _Atomic bool stop;
    struct hil_node *const *nodes;
    unsigned count;
};

/* Starts the thread, on a core that no executor of the scenario is pinned to. The nodes stay as
 * they are until the close. Returns 0, or -EBUSY when there is no such core. */
int hil_poller_open(struct hil_poller *poller, const struct hil_scenario *scenario,
                    struct hil_node *const *nodes, unsigned count);
void hil_poller_close(struct hil_poller *poller);

#endif
