/*
 * Functions that the library's files share and do not export. Those about peers, threads and cuts
 * of memory are called with the manager's lock held.
 */
#ifndef LOCO_CORE_H
#define LOCO_CORE_H

#include "loco/atomic_var.h"
#include "loco/channel.h"
#include "loco/memory.h"
#include "loco/ringbuffer.h"

/* Events of the fabric, which the manager passes on to the channels of the peer. */
void loco_channels_peer_up(struct loco_peer *peer, uint32_t node);
void loco_channels_message(struct loco_manager *manager, uint32_t node, const void *message,
                           size_t size);
/* The first step of a loss: from now on operations to the node fail. */
void loco_channels_mark_lost(struct loco_peer *peer, uint32_t node);
void loco_channels_peer_lost(struct loco_manager *manager, uint32_t node, bool left);

/* Logs which channels still wait, and for which nodes. */
void loco_channels_explain_unready(struct loco_manager *manager);

/* Gives every thread a link to `node`, which has come or come back, unless that was done; then the
 * node is not lost any more. Returns 0 or a negative errno. */
int loco_threads_link(struct loco_manager *manager, uint32_t node);

/* The time that the wait has left, ns; UINT64_MAX: it has no limit. */
uint64_t loco_time_left(const struct loco_manager *manager, const struct loco_wait *wait);

/* The same for a look over the network, with LOCO_LOOK_NS added. So one look is made however short
 * the time is, and only a peer that does not answer is given up. */
enum { LOCO_LOOK_NS = 10000000 };

uint64_t loco_time_for_look(const struct loco_manager *manager, const struct loco_wait *wait);

/* Rests for 100 ns at most, between two looks over the network. Returns 0, or -ETIMEDOUT when the
 * wait's own time is over. */
int loco_accept_backoff_between_looks(const struct loco_manager *manager, struct loco_wait *wait);

/* Takes the manager's lock for a call with a deadline. A thread that opens a link holds the lock,
 * and may wait for a peer. Returns 0, or -ETIMEDOUT at LOCO_LOOK_NS after the wait's end: other
 * holders release it before. */
int loco_manager_lock(struct loco_manager *manager, const struct loco_wait *wait);

/* Frees a context that is on no list. */
void loco_thread_free(struct loco_thread *thread);

/* Cuts `size` zeroed bytes, aligned to a cache line, out of an arena. *where is how a peer names
 * them. Returns 0 or -ENOMEM. */
int loco_memory_cut(struct loco_manager *manager, size_t size, void **memory,
                    struct loco_remote *where);

/* Gives a cut back. */
void loco_memory_return(struct loco_manager *manager, void *memory, size_t size,
                        struct loco_remote where);

void loco_memory_free(struct loco_manager *manager);

/* The member's memory of the region, where this CPU may use it directly on coherent memory; else
 * NULL. The member has connected. Valid until it is lost. */
void *loco_region_direct(const struct loco_region *region, unsigned member);

/* The same, also where the fabric is not coherent, for writes while it is not busy. */
void *loco_region_reach(const struct loco_region *region, unsigned member);

/* Sets options that must be the same at every participant, as lines that printf makes; at most
 * LOCO_OPTIONS_MAX bytes. Called before the channel joins. */
enum { LOCO_OPTIONS_MAX = 160 };
__attribute__((format(printf, 2, 3))) void loco_channel_agree_on(struct loco_channel *channel,
                                                                 const char *format, ...);

/* As loco_atomic_array_init, for a channel that is made of such words and has these options; NULL:
 * none. */
int loco_atomic_words_init(struct loco_atomic_array *array, struct loco_manager *manager,
                           const struct loco_channel *parent, const char *name, size_t count,
                           struct loco_members members, const char *options);

/* As loco_atomic_load_timed and loco_atomic_post_load, but at the cost of a read: the value may be
 * older than that of an atomic that is done. For words that are polled, and for words that no
 * atomic changes. */
int loco_atomic_look(struct loco_atomic_word word, uint64_t *value, uint64_t timeout_ns);
struct loco_ack loco_atomic_post_look(struct loco_atomic_word word, uint64_t *value);

/* Sets a word from what it is to another value, without waiting. This CPU does not reach the word,
 * and nobody else changes it now, though an atomic that is done may not be placed yet. Returns 0 or
 * an error of loco_region_write. */
int loco_atomic_post_replace(struct loco_atomic_word word, uint64_t from, uint64_t to);

/* Whether the node was lost, and nothing that it posted can still be placed at any participant that
 * is alive. Asks each of them, and waits for each answer for at most `timeout_ns`; false when one
 * does not come. */
bool loco_atomic_gone(const struct loco_atomic_array *array, uint32_t node, uint64_t timeout_ns);

/* As loco_ringbuffer_send. If another thread sent last, its messages are waited for at most
 * `timeout_ns`; -ETIMEDOUT after that, and nothing was sent. */
int loco_ringbuffer_send_limited(struct loco_ringbuffer *ring, const void *message, size_t size,
                                 uint64_t *position, uint64_t timeout_ns);

/* As loco_ringbuffer_receive, but takes nothing: 1 where that returns 0, and 0 where it returns
 * -EAGAIN. */
int loco_ringbuffer_look(const struct loco_ringbuffer *ring);

/* A word of the calling thread, in network memory, for results that nobody reads. */
uint64_t *loco_mem_unread(struct loco_manager *manager);

/* Gives back a mem_ref of the calling thread that the ack's operations may still be using. */
void loco_mem_ref_put_after(struct loco_manager *manager, void *block, struct loco_ack ack);

/* A thread's mem_refs. A pool is empty until it is filled. */
int loco_mem_pool_open(struct loco_thread *thread);
void loco_mem_pool_fill(struct loco_thread *thread);
void loco_mem_pool_close(struct loco_thread *thread);

#endif
