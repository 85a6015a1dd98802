/*
 * What the library's parts ask of one another, and nobody else does. What is about peers, threads
 * and memory to cut: with the manager's lock held.
 */
#ifndef LOCO_CORE_H
#define LOCO_CORE_H

#include "loco/atomic_var.h"
#include "loco/channel.h"
#include "loco/memory.h"

/* What the fabric told the manager, to the channels of the peer. */
void loco_channels_peer_up(struct loco_peer *peer, uint32_t node);
void loco_channels_message(struct loco_manager *manager, uint32_t node, const void *message,
                           size_t size);
/* First of a loss: from here on operations to the node fail. */
void loco_channels_mark_lost(struct loco_peer *peer, uint32_t node);
void loco_channels_peer_lost(struct loco_manager *manager, uint32_t node, bool left);

/* Logs which channel still waits for whom. */
void loco_channels_explain_unready(struct loco_manager *manager);

/* Gives every thread a link to `node`, where they have none since it came (or came
 * back); then it is not lost. Returns 0 or a negative errno. */
int loco_threads_link(struct loco_manager *manager, uint32_t node);

/* What is left of the wait's time, ns; UINT64_MAX: it is for ever. */
uint64_t loco_time_left(const struct loco_manager *manager, const struct loco_wait *wait);

/* The same for a look over the network. One is made however short the time is, and given up only
 * where the peer cannot be about to answer. */
enum { LOCO_LOOK_NS = 10000000 };

uint64_t loco_time_for_look(const struct loco_manager *manager, const struct loco_wait *wait);

/* Frees a context that is on no list. */
void loco_thread_free(struct loco_thread *thread);

/* Cuts `size` zeroed bytes, aligned to a cache line. *where says how a peer names them.
 * Returns 0 or -ENOMEM. */
int loco_memory_cut(struct loco_manager *manager, size_t size, void **memory,
                    struct loco_remote *where);

/* Gives a cut back. */
void loco_memory_return(struct loco_manager *manager, void *memory, size_t size,
                        struct loco_remote where);

void loco_memory_free(struct loco_manager *manager);

/* Where this CPU may itself use the member's memory of the region, which has connected; NULL:
 * nowhere. Until the member is lost. */
void *loco_region_direct(const struct loco_region *region, unsigned member);

/* The same; also on a fabric that is not coherent, for writes while it is not busy. */
void *loco_region_reach(const struct loco_region *region, unsigned member);

/* Whether the participant was lost, and nothing that it posted is placed any more, at any other
 * participant that is not lost too. Asks them; waits for them. */
bool loco_atomic_gone(const struct loco_atomic_array *array, uint32_t node);

/* Gives a mem_ref of the calling thread back that the ack's operations may still use. */
void loco_mem_ref_put_after(struct loco_manager *manager, void *block, struct loco_ack ack);

/* A thread's mem_refs: none are there until the pool is filled. */
int loco_mem_pool_open(struct loco_thread *thread);
void loco_mem_pool_fill(struct loco_thread *thread);
void loco_mem_pool_close(struct loco_thread *thread);

#endif
