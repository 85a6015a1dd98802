/*
 * A thread attaches to a manager before it uses the manager's channels. The thread that opened the
 * manager is attached already. Each attached thread has its own link to each peer and its own pool
 * of mem_refs.
 */
#ifndef LOCO_THREAD_H
#define LOCO_THREAD_H

#include "fabric/language.h"
#include "manager.h"

LOCO_DECLARATIONS

/*
 * Attaches the calling thread. It takes over the links of a thread that has detached; if there is
 * none, it opens links of its own. Over RDMA that waits for an answer of each peer; over tcp it may
 * wait for room in a connection. The timed call waits for at most `timeout_ns`. Returns
 *      0
 *      -EEXIST     it is attached already
 *      -ETIMEDOUT  `timeout_ns` have passed, or over RDMA a peer has not answered for 20 s; the
 *                  thread is not attached, and may try again
 *      -ENOSPC     over tcp, a peer takes no more links: docs/tcp.md
 *      -ENOMEM
 *      or another error of the fabric
 * Any thread.
 */
int loco_thread_attach(struct loco_manager *manager);
int loco_thread_attach_timed(struct loco_manager *manager, uint64_t timeout_ns);

/* Waits until everything that the calling thread posted is done and placed, or lost with its peer;
 * then detaches the thread and takes back its mem_refs. A thread that is not attached is left
 * alone. loco_manager_close detaches all threads. The timed call waits for at most `timeout_ns`;
 * after -ETIMEDOUT the thread is still attached. */
void loco_thread_detach(struct loco_manager *manager);
int loco_thread_detach_timed(struct loco_manager *manager, uint64_t timeout_ns);

/*
 * Between loco_hold and loco_release the fabric may hold back the calling thread's writes, and then
 * send all that go to one process together. On tcp that saves a system call for each write; on the
 * other fabrics these calls do nothing. The ack of a write that is held back says done. Pairs may
 * be nested; the outermost loco_release sends. Held writes are also sent when the thread waits: in
 * loco_relax, for an ack, or in a fence. Any attached thread.
 */
void loco_hold(struct loco_manager *manager);
void loco_release(struct loco_manager *manager);

LOCO_DECLARATIONS_END

#endif
