/*
 * What the workloads of the kvstore share: a thread's operations, with values that tell by whom
 * they were written, and their records.
 */
#ifndef TESTS_SIM_WORKLOAD_KVSTORE_H
#define TESTS_SIM_WORKLOAD_KVSTORE_H

#include "channels/loco/kvstore.h"
#include "tests/sim/workloads.h"

enum { KV_WORK_WORDS_MAX = 12 }; /* of a value */

int kv_work_open(struct loco_manager *m, struct loco_kvstore *kv,
                 struct loco_kvstore_config config);
void kv_work_close(void *object);

/* Whether the thread is its node's tracker: the first of its `threads` threads. */
bool kv_work_is_tracker(const struct loco_sim_actor *a, uint32_t threads);

/* What a tracker does: serves until the other threads have ended, or its node has crashed. */
void kv_work_track(struct loco_sim_actor *a);

/* Returns a value that nobody else writes. */
uint64_t kv_work_fresh_value(const struct loco_sim_actor *a, uint64_t i);

/* A value: all its words are the same. */
void kv_work_set_value(const struct loco_sim_actor *a, uint64_t *words, uint64_t value);
uint64_t kv_work_get_value(struct loco_sim_actor *a, const uint64_t *words);

/* Returns the first key of this lock from `key` on. */
uint64_t kv_work_key_of_lock(const struct loco_sim_actor *a, uint32_t host, uint32_t index,
                             uint64_t key);

enum loco_kv_kind kv_work_draw_kind(struct loco_sim_actor *a);

/* Whether the result is definite: the operation was done, or found the key there or missing. */
bool kv_work_is_definite(enum loco_kv_kind kind, int rc);

/* Records the beginning of an operation. Returns its place in the history. */
int kv_work_invoke(struct loco_sim_actor *a, enum loco_kv_kind kind, uint64_t key, uint64_t value);

/* Records the end of an operation, if its result is definite. *words is what a read has read. */
void kv_work_record(struct loco_sim_actor *a, int at, enum loco_kv_kind kind, int rc,
                    const uint64_t *words);

/* Starts an operation of a window, one of any kind on one of the first `keys` keys; and records the
 * end of one that is done. *at is its place in the history, and stays until then. */
void kv_work_start(struct loco_sim_actor *a, struct loco_kv_op *op, int *at, uint64_t keys,
                   uint64_t value);
void kv_work_report(struct loco_sim_actor *a, const struct loco_kv_op *op);

int kv_work_operate(struct loco_sim_actor *a, enum loco_kv_kind kind, uint64_t key, uint64_t *words,
                    uint64_t timeout_ns);

#endif
