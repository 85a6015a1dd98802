/*
 * The kvstore's operations on slots with several copies.
 */
#ifndef LOCO_KVSTORE_REPLICAS_H
#define LOCO_KVSTORE_REPLICAS_H

#include "kvstore_chain.h"

/* The first step of a read; and the steps of writes once they have the key's lock. */
bool kv_replicas_read(struct loco_kv_op *op, int error);
bool kv_replicas_update(struct loco_kv_op *op, int error);
bool kv_replicas_insert(struct loco_kv_op *op, int error);
bool kv_replicas_delete(struct loco_kv_op *op, int error);

#endif
