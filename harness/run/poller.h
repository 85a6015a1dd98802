/*
 * The polling thread. If completions are polled, it polls for all nodes that an executor serves, so
 * that the loops only read what it found.
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

/* Starts the thread, on a core that no executor of the scenario is pinned to. `nodes` must stay
 * valid until hil_poller_close. Returns 0, or -EBUSY if there is no such core. */
int hil_poller_open(struct hil_poller *poller, const struct hil_scenario *scenario,
                    struct hil_node *const *nodes, unsigned count);
void hil_poller_close(struct hil_poller *poller);

#endif
