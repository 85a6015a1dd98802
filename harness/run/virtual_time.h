/*
 * The executor of virtual time, over the sim fabric: the nodes with continuous components run on
 * one fiber, all others on another. Each fiber sleeps until the next step of its loops. At the same
 * instant deliveries come first, then the nodes with continuous components, then the others.
 */
#ifndef HIL_VIRTUAL_TIME_H
#define HIL_VIRTUAL_TIME_H

#include "group.h"

/* Calls call() before the first instant from `at_ns` on, by the run's time, when all earlier steps
 * have been made. It may read and change what the steps work on, set another at_ns, or end the
 * process. `groups` are the nodes with continuous components and the others, once the run has
 * begun; NULL: there are no such nodes. */
struct hil_between {
    uint64_t at_ns;
    void (*call)(struct hil_between *between, uint64_t now_ns);
    struct hil_group *groups[2];
};

/* Runs the whole scenario, or until state->stop. Returns 0 or a negative errno. The first executor
 * in the state then has the message. */
int hil_virtual_run(const struct hil_run *run);

#endif
