/*
 * The clock, and how to wait, on the fabrics that run in real time.
 */
#ifndef LOCO_HOST_TIME_H
#define LOCO_HOST_TIME_H

#include "../loco/fabric/fabric.h"

/* CLOCK_MONOTONIC. */
uint64_t loco_host_clock(struct loco_node *node);

/* One turn of a wait: spins at first, later yields the core, and after LOCO_NAP_TURNS sleeps for
 * LOCO_NAP_NS. */
enum { LOCO_NAP_TURNS = 100000, LOCO_NAP_NS = 100000 };

void loco_host_relax(struct loco_node *node, struct loco_wait *wait);

/* How long to poll() for something, ms: at most `most`, and until `until` at most. */
int loco_host_poll_ms(uint64_t until, int most);

#endif
