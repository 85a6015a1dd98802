/*
 * No operation waits for another one for ever
 *
 * An insert or a delete holds its key's lock until all nodes have acknowledged its change. So
 * locks, room in the rings, index entries and slots would make a circle of waits if applying a
 * change could wait for any of them. It waits for nothing:
 *
 *   - A change finds a free entry in the index. What a node's index holds is of two kinds. Of the
 *     first is a use of a slot whose owner has not heard of its end: each owner has `capacity` at
 *     most. Of the second is one whose owner has heard, and may have announced the slot's next use,
 *     while this node has still to apply the removal. Each of these removals was sent, is not
 *     acknowledged by this node, and lies in the ring of the node that sent it; so there are no
 *     more than the rings hold. (Of the own ring it is one: no other is sent before it is applied.)
 *     The index has room for both kinds. A sender that dies leaves removals that never come, but
 *     sends no more either.
 *   - A slot is given back, and never waited for: an insert that finds none fails.
 *   - A node takes all that is in a ring, in its order, before it acknowledges; the sender has no
 *     room for more than a ring's size until then, so that ends.
 *
 * So every change that was sent is acknowledged, as long as each node serves its trackers. With
 * that, room comes back to a full ring; then the changes that wait for room are sent, and are
 * acknowledged too; then whoever holds a lock releases it, provided that its window is polled. What
 * waits for a lock waits for others to be polled, and for nothing else.
 */
#include "kvstore_tracker.h"
#include "loco/thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric/words.h"
#include "kvstore_left.h"
#include "kvstore_slots.h"

/* --- setup -------------------------------------------------------------------------------- */

int kv_trackers_open(struct loco_kvstore *s)
{
    struct loco_manager *m = s->channel.mgr;
    char name[24];

    s->trackers = calloc(m->count, sizeof *s->trackers);
    if (!s->trackers)
        return -ENOMEM;
    for (uint32_t sender = 0; sender < m->count; sender++) {
        snprintf(name, sizeof name, "tracker%u", sender);
        int rc = loco_ringbuffer_init(&s->trackers[sender], m, &s->channel, name, sender, LOCO_ALL,
                                      KV_RING_SIZE, sizeof(struct kv_change));
        if (rc)
            return rc;
    }
    return 0;
}

void kv_trackers_close(struct loco_kvstore *s)
{
    for (uint32_t sender = 0; s->trackers && sender < s->channel.mgr->count; sender++)
        if (s->trackers[sender].channel.mgr)
            loco_ringbuffer_fini(&s->trackers[sender]);
    free(s->trackers);
}

/* --- changes ------------------------------------------------------------------------------ */

static struct loco_ringbuffer *own_ring(const struct loco_kvstore *s)
{
    return &s->trackers[s->channel.mgr->id];
}

/* There is room for what is added, if the nodes agree about the store's capacity. */
static void apply_added(struct loco_kvstore *s, uint64_t hash, struct kv_place place)
{
    if (kv_index_add(s->index, hash, place))
        loco_log(
            s->channel.mgr, LOCO_ERROR,
            "channel %s: the index is full, so a key is missing here: does every node give the "
            "store the same capacity?",
            s->channel.name);
}

static void apply(struct loco_kvstore *s, const struct kv_change *c)
{
    const struct kv_place place = {.host = c->host, .slot = c->slot, .counter = c->counter};

    /* A slot may be used again before all have heard of its last use's end: who still looks for
     * that use sees another counter. */
    if (c->kind == KV_ADDED)
        apply_added(s, c->hash, place);
    else if (kv_index_remove(s->index, c->hash, place))
        kv_slots_put(s->slots, place);
}

int kv_change_make(struct loco_kvstore *s, const struct kv_change *c, uint64_t *position)
{
    if (atomic_exchange_explicit(&s->sending, true, memory_order_acquire))
        return -EAGAIN;
    int rc = loco_ringbuffer_send(own_ring(s), c, sizeof *c, position);
    if (!rc)
        apply(s, c);
    atomic_store_explicit(&s->sending, false, memory_order_release);
    return rc;
}

bool kv_change_known(const struct loco_kvstore *s, uint64_t position)
{
    return loco_ringbuffer_acknowledged(own_ring(s), position);
}

/* --- the tracker thread ------------------------------------------------------------------- */

static unsigned follow(struct loco_kvstore *s, struct loco_ringbuffer *ring)
{
    struct loco_message message;
    struct kv_change change;
    unsigned count = 0;

    for (; loco_ringbuffer_receive(ring, &message) == 0; count++) {
        loco_copy(&change, message.data, sizeof change);
        apply(s, &change);
    }
    if (count > 0) /* one acknowledgement for all */
        loco_ringbuffer_acknowledge(ring, message.position);
    return count;
}

unsigned loco_kvstore_serve(struct loco_kvstore *s)
{
    unsigned count = 0;

    if (atomic_exchange_explicit(&s->serving, true, memory_order_acquire))
        return 0;
    for (uint32_t sender = 0; sender < s->channel.mgr->count; sender++)
        if (sender != s->channel.mgr->id)
            count += follow(s, &s->trackers[sender]);
    kv_calls_move_on(s);
    atomic_store_explicit(&s->serving, false, memory_order_release);
    return count;
}

void loco_kvstore_track(struct loco_kvstore *s)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    atomic_fetch_add(&s->tracking, 1);
    while (!atomic_load_explicit(&s->stopping, memory_order_acquire)) {
        if (loco_kvstore_serve(s) > 0)
            wait.turns = 0;
        else
            loco_relax(s->channel.mgr, &wait);
    }
    atomic_fetch_sub(&s->tracking, 1);
}

static void *tracker_thread(void *arg)
{
    struct loco_kvstore *s = arg;
    struct loco_manager *m = s->channel.mgr;
    int rc = loco_thread_attach(m);

    if (rc) {
        loco_log(m, LOCO_ERROR, "channel %s: no tracker: error %d", s->channel.name, rc);
        return NULL;
    }
    loco_kvstore_track(s);
    loco_thread_detach(m);
    return NULL;
}

int loco_kvstore_start_tracker(struct loco_kvstore *s)
{
    int rc = -pthread_create(&s->thread, NULL, tracker_thread, s);

    s->started = rc == 0;
    return rc;
}

void loco_kvstore_stop(struct loco_kvstore *s)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    atomic_store_explicit(&s->stopping, true, memory_order_release);
    while (atomic_load(&s->tracking) > 0)
        loco_relax(s->channel.mgr, &wait);
    if (s->started)
        pthread_join(s->thread, NULL);
    s->started = false;
}
