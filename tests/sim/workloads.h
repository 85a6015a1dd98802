/* The workloads of the library's own channels. tests/rdma runs them with real threads and
 * processes. */
#ifndef TESTS_SIM_WORKLOADS_H
#define TESTS_SIM_WORKLOADS_H

#include "channels/loco-sim/workload.h"

extern const struct loco_sim_workload workload_atomic_var, workload_lock_strict,
    workload_lock_handover;
extern const struct loco_sim_workload workload_lock_mortal, workload_lock_mortal_strict;
extern const struct loco_sim_workload workload_lock_mortal_tries, workload_lock_parted;
extern const struct loco_sim_workload queue_lock_strict, queue_lock_handover;
extern const struct loco_sim_workload queue_lock_mortal, queue_lock_parted;
extern const struct loco_sim_workload rw_lock, rw_lock_mortal, rw_lock_parted;
extern const struct loco_sim_workload workload_ringbuffer, workload_queue, workload_queue_tries;
extern const struct loco_sim_workload workload_queue_short;
extern const struct loco_sim_workload restarted_reader, restarted_owner, restarted_client;
extern const struct loco_sim_workload workload_fences, workload_fences_beside, workload_lock_fences;
extern const struct loco_sim_workload workload_ring_full, workload_ring_mortal, workload_again,
    workload_index;
extern const struct loco_sim_workload kvstore_at_lock, kvstore_at_inserter, kvstore_window,
    kvstore_reuse;
extern const struct loco_sim_workload kvstore_lines, kvstore_reuse_far;
extern const struct loco_sim_workload kvstore_timed, kvstore_timed_at_inserter;
extern const struct loco_sim_workload kvstore_mortal;
extern const struct loco_sim_workload kvstore_swap, kvstore_swap_window, kvstore_iterate;
extern const struct loco_sim_workload kvstore_closed;
extern const struct loco_sim_workload kvstore_lent;
extern const struct loco_sim_workload kvstore_full, kvstore_full_at_inserter;
extern const struct loco_sim_workload owned_var_mixed, owned_var_mixed_word;
extern const struct loco_sim_workload small_put, small_owned_var, small_barrier, small_lock;
extern const struct loco_sim_workload small_ring, small_queue, small_kvstore;
extern const struct loco_sim_workload small_owned_var_claims;
extern const struct loco_sim_workload kvstore_killed; /* on shm only */

/* All workloads, ended by NULL. */
extern const struct loco_sim_workload *const workloads[];

#endif
