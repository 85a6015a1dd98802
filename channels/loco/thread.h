/*
 * A thread attaches to a manager before it uses the manager's channels; the thread that opened the
 * manager is attached already. It has a link of its own to each peer, and a pool of mem_refs.
 */
#ifndef LOCO_THREAD_H
#define LOCO_THREAD_H

#include "language.h"
#include "manager.h"

LOCO_DECLARATIONS

/* Attaches the calling thread. Returns 0, -EEXIST when it is attached, -ENOMEM, or what the fabric
 * says to its links. */
int loco_thread_attach(struct loco_manager *manager);

/* Detaches the calling thread, once all that it posted is done and placed, or lost with its peer.
 * Its mem_refs are taken back. manager_close detaches the rest. The timed one waits for at most
 * `timeout_ns`; after -ETIMEDOUT the thread is attached. */
void loco_thread_detach(struct loco_manager *manager);
int loco_thread_detach_timed(struct loco_manager *manager, uint64_t timeout_ns);

/*
 * Between these two, what the calling thread writes may wait, to whomever it goes, so that one
 * system call sends all that goes to one process: on the fabric tcp, where that costs as much as a
 * write. The acks of such writes say done. They may be nested; the outermost release sends. Nothing
 * waits longer than until the thread waits itself, by loco_relax, an ack or a fence. The thread is
 * attached. Elsewhere they do nothing.
 */
void loco_hold(struct loco_manager *manager);
void loco_release(struct loco_manager *manager);

LOCO_DECLARATIONS_END

#endif
