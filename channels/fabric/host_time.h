/*
 * Clock and waiting on the fabrics whose nodes are processes of real machines.
 */
#ifndef LOCO_HOST_TIME_H
#define LOCO_HOST_TIME_H

#include "../loco/fabric/fabric.h"

/* CLOCK_MONOTONIC. */
uint64_t loco_host_clock(struct loco_node *node);

void loco_host_relax(struct loco_node *node, struct loco_wait *wait);

#endif
