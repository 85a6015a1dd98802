/*
 * libloco, the Library of Channel Objects: concurrent objects over network memory.
 *
 * A node opens a manager on a fabric, constructs channels by name, waits until they have
 * found their peers, and from then on only touches memory. channels/barrier.c is the
 * shortest channel, tests/bench/barrier_latency.c the shortest program.
 */
#ifndef LOCO_H
#define LOCO_H

#include "fabric/shm.h"
#include "fabric/sim.h"

#include "ack.h"
#include "channel.h"
#include "fence.h"
#include "manager.h"
#include "memory.h"
#include "thread.h"

#include "barrier.h"
#include "owned_var.h"
#include "shared_region.h"
#include "sst.h"

#endif
