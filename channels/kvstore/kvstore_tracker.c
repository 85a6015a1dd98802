/*
 * Why no operation waits for ever
 *
 * An insert or a delete holds its key's lock until all nodes have acknowledged its change. If
 * applying a change could wait for a lock, for room in a ring, for an index entry or for a slot,
 * nodes could wait for each other in a circle. But it waits for nothing:
 *
 *   - A change always finds a free entry in the index. A node's index holds two kinds of entries.
 *     The first are uses of slots whose owners do not know of their end: at most `capacity` for
 *     each owner. The second are uses whose owner knows of the end, and may have announced the
 *     slot's next use, while this node has still to apply the removal. Each of these removals was
 *     sent, is not yet acknowledged by this node, and lies in its sender's ring; so there are no
 *     more of them than the rings hold. (In this node's own ring there is one at most: the next is
 *     sent after it is applied.) The index has room for both kinds. A sender that dies leaves
 *     removals that never come, but sends nothing more either.
 *   - A slot is given back, and never waited for: an insert that finds none fails.
 *   - A node takes all that is in a ring, in order, before it acknowledges. That ends, as the
 *     sender has room for no more than the ring's size until then.
 *
 * So every change that was sent is acknowledged, as long as each node serves its trackers. That
 * frees room in a full ring; the changes that wait for room are sent, and acknowledged too; the
 * operations that made them release their locks when their windows are polled. So an operation that
 * waits for a lock waits for other windows to be polled, and for nothing else.
 */
#include "kvstore_tracker.h"
#include "../loco/thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../core.h"
#include "../loco/fabric/atomic_copy.h"
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

static struct loco_ringbuffer *tracker_own_ring(const struct loco_kvstore *s)
{
    return &s->trackers[s->channel.mgr->id];
}

/* The index has room, if all nodes have given the store the same capacity. */
static void tracker_apply_added(struct loco_kvstore *s, uint64_t hash, struct kv_place place)
{
    if (kv_index_add(s->index, hash, place))
        loco_log(
            s->channel.mgr, LOCO_ERROR,
            "channel %s: the index is full, so a key is missing here: does every node give the "
            "store the same capacity?",
            s->channel.name);
}

static void tracker_apply(struct loco_kvstore *s, const struct kv_change *c)
{
    const struct kv_place place = {.host = c->host, .slot = c->slot, .counter = c->counter};

    /* A slot may be used again before every node has heard of the end of its last use. A node that
     * still looks for that use sees another counter. */
    if (c->kind == KV_ADDED)
        tracker_apply_added(s, c->hash, place);
    else if (kv_index_remove(s->index, c->hash, place))
        kv_slots_put(s->slots, place);
}

int kv_change_make(struct loco_kv_op *op, enum kv_change_kind kind)
{
    const struct kv_change change = {
        .kind = kind, .host = op->host, .slot = op->slot, .hash = op->hash, .counter = op->counter};
    struct loco_kvstore *s = kv_op_store(op);

    if (atomic_exchange_explicit(&s->sending, true, memory_order_acquire))
        return -EAGAIN;
    int rc = loco_ringbuffer_send_limited(tracker_own_ring(s), &change, sizeof change,
                                          &op->position, LOCO_LOOK_NS);
    if (!rc)
        tracker_apply(s, &change);
    atomic_store_explicit(&s->sending, false, memory_order_release);
    return rc == -ETIMEDOUT ? -EAGAIN : rc;
}

bool kv_change_known(const struct loco_kv_op *op)
{
    return loco_ringbuffer_acknowledged(tracker_own_ring(kv_op_store(op)), op->position);
}

/* --- the tracker thread ------------------------------------------------------------------- */

static unsigned tracker_follow(struct loco_kvstore *s, struct loco_ringbuffer *ring)
{
    struct loco_message message;
    struct kv_change change;
    unsigned count = 0;

    for (; loco_ringbuffer_receive(ring, &message) == 0; count++) {
        loco_copy(&change, message.data, sizeof change);
        tracker_apply(s, &change);
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
            count += tracker_follow(s, &s->trackers[sender]);
    kv_calls_move_on(s);
    kv_windows_move_on(s);
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

    if (!rc) {
        loco_kvstore_track(s);
        loco_thread_detach(m);
    } else {
        loco_log(m, LOCO_ERROR, "channel %s: no tracker: error %d", s->channel.name, rc);
    }
    atomic_fetch_sub(&s->tracking, 1);
    return NULL;
}

int loco_kvstore_start_tracker(struct loco_kvstore *s)
{
    atomic_fetch_add(&s->tracking, 1);
    int rc = -pthread_create(&s->thread, NULL, tracker_thread, s);

    s->started = rc == 0;
    if (rc)
        atomic_fetch_sub(&s->tracking, 1);
    return rc;
}

void loco_kvstore_stop(struct loco_kvstore *s)
{
    loco_kvstore_stop_timed(s, UINT64_MAX);
}

int loco_kvstore_stop_timed(struct loco_kvstore *s, uint64_t timeout_ns)
{
    struct loco_wait wait = loco_wait_for(s->channel.mgr, timeout_ns);

    atomic_store_explicit(&s->stopping, true, memory_order_release);
    while (atomic_load(&s->tracking) > 0)
        if (loco_relax(s->channel.mgr, &wait))
            return -ETIMEDOUT;
    if (s->started)
        pthread_join(s->thread, NULL);
    s->started = false;
    return 0;
}
