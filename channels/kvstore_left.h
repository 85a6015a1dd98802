/*
 * The kvstore's operations whose caller's time was over. They may hold a lock, or stand in its line
 * with a ticket that will be served: so the tracker brings them to their end, on its own thread.
 */
#ifndef LOCO_KVSTORE_LEFT_H
#define LOCO_KVSTORE_LEFT_H

#include "loco/kvstore.h"

/* Moves the node's on, as far as they go without waiting. One thread at a time. */
void kv_calls_move_on(struct loco_kvstore *store);

/* Moves one on, which another thread may have moved before. Whether it is done. */
bool kv_op_move_on(struct loco_kv_op *op);

#endif
