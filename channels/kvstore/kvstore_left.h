/*
 * The kvstore's operations that ran out of time. Such an operation may hold a lock, or a ticket
 * whose turn will come. So the tracker's thread finishes it.
 */
#ifndef LOCO_KVSTORE_LEFT_H
#define LOCO_KVSTORE_LEFT_H

#include "../loco/kvstore.h"

/* Moves this node's operations that ran out of time on, as far as possible without waiting. One
 * thread at a time. */
void kv_calls_move_on(struct loco_kvstore *store);

/* The same for one of them, which another thread started. Returns whether it is done. */
bool kv_op_move_on(struct loco_kv_op *op);

#endif
