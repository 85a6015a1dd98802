/*
 * libloco, the Library of Channel Objects: concurrent objects over network memory.
 *
 * A node opens a manager on a fabric, constructs channels by name, waits until they have
 * found their peers, and from then on only touches memory. docs/man/loco.7 (man 7 loco) is
 * the way in; channels/barrier.c is the shortest channel, docs/examples/ has programs.
 *
 * Structures are the program's own, and a later version of the library may use the `room` that they
 * have. What a program fills in (options) it zeroes first: 0 is the default, also of what is not
 * there yet. docs/abi.md has the rules.
 */
#ifndef LOCO_H
#define LOCO_H

#include "fabric/shm.h"
#include "fabric/sim.h"
#include "fabric/tcp.h"
#include "fabric/verbs.h"

#include "ack.h"
#include "channel.h"
#include "fence.h"
#include "manager.h"
#include "memory.h"
#include "thread.h"
#include "trace.h"

#include "atomic_var.h"
#include "barrier.h"
#include "kvstore.h"
#include "owned_var.h"
#include "ringbuffer.h"
#include "shared_queue.h"
#include "shared_region.h"
#include "sst.h"
#include "ticket_lock.h"

#endif
