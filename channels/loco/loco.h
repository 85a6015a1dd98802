/*
 * libloco, the Library of Channel Objects: concurrent objects over network memory.
 *
 * A node opens a manager on a fabric, constructs channels by name, waits until they have
 * found their peers, and from then on only touches memory. Start with docs/man/loco.7
 * (man 7 loco). channels/barrier.c is the shortest channel; docs/examples/ has programs.
 *
 * The program allocates the structures. Later versions of the library may use the `room` in them.
 * A program zeroes a structure of options before it fills it in: 0 is the default of every
 * option, also of those that later versions add. docs/abi.md has the rules.
 */
#ifndef LOCO_H
#define LOCO_H

#include "fabric/atomic_copy.h"
#include "fabric/fiber.h"
#include "fabric/shm.h"
#include "fabric/sim.h"
#include "fabric/sim_choices.h"
#include "fabric/tcp.h"
#include "fabric/timeline.h"
#include "fabric/verbs.h"

#include "ack.h"
#include "agreement.h"
#include "channel.h"
#include "control.h"
#include "fence.h"
#include "manager.h"
#include "memory.h"
#include "thread.h"
#include "trace.h"

#include "atomic_var.h"
#include "barrier.h"
#include "kvstore.h"
#include "owned_var.h"
#include "owned_var_quick.h"
#include "queue_lock.h"
#include "ringbuffer.h"
#include "rw_lock.h"
#include "shared_queue.h"
#include "shared_region.h"
#include "sst.h"
#include "ticket_lock.h"
#include "watch.h"

#endif
