/*
 * The kvstore's operations that ran out of time, and those of windows that were closed. Such an
 * operation may hold a lock, or a ticket whose turn will come. So the tracker's thread finishes it.
 */
#ifndef LOCO_KVSTORE_LEFT_H
#define LOCO_KVSTORE_LEFT_H

#include "../loco/kvstore.h"

/* Moves this node's operations that ran out of time on, as far as possible without waiting. One
 * thread at a time. */
void kv_calls_move_on(struct loco_kvstore *store);

/* The same for one of them, which another thread started. Returns whether it is done. */
bool kv_op_move_on(struct loco_kv_op *op);

/* The same as kv_calls_move_on for windows that were closed. Ends those whose operations are done.
 */
void kv_windows_move_on(struct loco_kvstore *store);

/* Ends these windows all the same. Their operations can write no more. */
void kv_windows_drop(struct loco_kvstore *store);

/* Ends a window that has no operation in flight. */
void kv_window_end(struct loco_kv_window *window);

#endif
