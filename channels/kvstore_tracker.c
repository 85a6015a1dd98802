#include "kvstore_tracker.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric/words.h"
#include "kvstore_slots.h"

/* Room for the changes that are in flight, not for a history: 40 bytes each. */
enum { RING_SIZE = 64 << 10 };

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
        int rc = loco_ringbuffer_init(&s->trackers[sender].ring, m, &s->channel, name, sender,
                                      LOCO_ALL, RING_SIZE, sizeof(struct kv_change));
        if (rc)
            return rc;
    }
    return 0;
}

void kv_trackers_close(struct loco_kvstore *s)
{
    for (uint32_t sender = 0; s->trackers && sender < s->channel.mgr->count; sender++)
        if (s->trackers[sender].ring.channel.mgr)
            loco_ringbuffer_fini(&s->trackers[sender].ring);
    free(s->trackers);
}

/* --- changes ------------------------------------------------------------------------------ */

int kv_change_apply(struct loco_kvstore *s, const struct kv_change *c)
{
    const struct kv_place place = {.host = c->host, .slot = c->slot, .counter = c->counter};

    if (c->kind == KV_ADDED)
        return kv_index_add(s->index, c->hash, place);
    /* A slot may be used again before all have heard: who still looks for this use of it sees
     * another counter. */
    if (kv_index_remove(s->index, c->hash))
        kv_slots_put(s->slots, place);
    return 0;
}

int kv_change_send(struct loco_kvstore *s, const struct kv_change *c, uint64_t *position)
{
    struct loco_ringbuffer *ring = &s->trackers[s->channel.mgr->id].ring;

    if (atomic_exchange_explicit(&s->sending, true, memory_order_acquire))
        return -EAGAIN;
    int rc = loco_ringbuffer_send(ring, c, sizeof *c, position);
    atomic_store_explicit(&s->sending, false, memory_order_release);
    return rc;
}

bool kv_change_known(const struct loco_kvstore *s, uint64_t position)
{
    return loco_ringbuffer_acknowledged(&s->trackers[s->channel.mgr->id].ring, position);
}

/* --- the tracker thread ------------------------------------------------------------------- */

/* The oldest change that was not applied yet, if there is one. */
static bool next_change(struct kv_tracker *t, struct kv_change *change)
{
    if (!t->message.data && loco_ringbuffer_receive(&t->ring, &t->message))
        t->message.data = NULL;
    if (!t->message.data)
        return false;
    loco_copy(change, t->message.data, sizeof *change);
    return true;
}

static unsigned follow(struct loco_kvstore *s, struct kv_tracker *t)
{
    struct kv_change change;
    uint64_t applied = 0;
    unsigned count = 0;

    while (next_change(t, &change) && kv_change_apply(s, &change) == 0) {
        t->message.data = NULL;
        applied = t->message.position;
        count++;
    }
    if (count > 0) /* one acknowledgement for all */
        loco_ringbuffer_acknowledge(&t->ring, applied);
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
