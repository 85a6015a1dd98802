/*
 * The kvstore's operations whose callers' time ran out. Such an operation may hold a lock, or have
 * a ticket that will be served. So the tracker's thread brings it to its end.
 */
#ifndef LOCO_KVSTORE_LEFT_H
#define LOCO_KVSTORE_LEFT_H

#include "../loco/kvstore.h"

/* Takes the steps of this node's such operations that need no waiting. One thread at a time. */
void kv_calls_move_on(struct loco_kvstore *store);

/* The same for one of them, which another thread started. Returns whether it is done. */
bool kv_op_move_on(struct loco_kv_op *op);

#endif
