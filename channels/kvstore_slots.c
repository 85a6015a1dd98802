#include "kvstore_slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core.h"
#include "loco/memory.h"

/* --- one slot ----------------------------------------------------------------------------- */

/* Of the same value, each counter has another checksum. */
static uint64_t checksum(const struct kv_slots *s, const unsigned char *copy, uint64_t counter)
{
    const unsigned char *value = copy + KV_VALUE_AT;

    if (s->value_size == sizeof(uint64_t)) /* a size that the compiler knows is hashed in 2 ns */
        return XXH3_64bits(value, sizeof(uint64_t)) ^ kv_hash(counter);
    return XXH3_64bits(value, s->value_size) ^ kv_hash(counter);
}

void kv_slot_seal(const struct kv_slots *s, void *copy, uint64_t counter)
{
    unsigned char *bytes = copy;
    uint64_t state = kv_slot_state(counter, false);
    uint64_t sum = checksum(s, bytes, counter);

    memcpy(bytes, &state, sizeof state);
    memcpy(bytes + KV_VALUE_AT + kv_value_room(s), &sum, sizeof sum);
}

enum kv_seen kv_slot_judge(const struct kv_slots *s, const void *copy, uint64_t counter)
{
    const unsigned char *bytes = copy;
    uint64_t state, sum;

    memcpy(&state, bytes, sizeof state);
    if (state != kv_slot_state(counter, true))
        return KV_ABSENT;
    memcpy(&sum, bytes + KV_VALUE_AT + kv_value_room(s), sizeof sum);
    return sum == checksum(s, bytes, counter) ? KV_PRESENT : KV_TORN;
}

/* A slot lies in as few cache lines as it can. */
static size_t stride_of(size_t size)
{
    size_t line = LOCO_CACHE_LINE;

    return size <= line / 2 ? line / 2 : (size + line - 1) / line * line;
}

/* --- all slots ---------------------------------------------------------------------------- */

/* This node's slots at one host. */
struct kv_spares {
    uint32_t first;     /* their lowest number */
    uint32_t count;     /* of those that are free */
    uint32_t *free;     /* a stack of them, from `first` */
    uint64_t *counters; /* of all of them */
};

static bool is_own(const struct kv_slots *s, struct kv_place place)
{
    const struct kv_spares *at = &s->spares[place.host];

    return at->counters && place.slot >= at->first && place.slot - at->first < s->own;
}

static int make_spares(struct kv_slots *s, struct kv_spares *at, uint32_t first)
{
    at->free = malloc(s->own * sizeof(uint32_t));
    at->counters = calloc(s->own, sizeof(uint64_t));
    if (!at->free || !at->counters)
        return -ENOMEM;
    at->first = first;
    while (at->count < s->own) {
        at->free[at->count] = s->own - 1 - at->count;
        at->count++;
    }
    return 0;
}

static int make_all(struct kv_slots *s, struct loco_channel *c, enum loco_kv_placement placement)
{
    const struct loco_manager *m = c->mgr;
    const bool everywhere = placement == LOCO_KV_AT_LOCK;

    s->own = everywhere ? (s->capacity + m->count - 1) / m->count : s->capacity;
    size_t hosted = (size_t)s->own * (everywhere ? m->count : 1);
    int rc = loco_channel_region(c, "slots", hosted * s->stride, &s->region);
    s->spares = calloc(m->count, sizeof *s->spares);
    s->nearby = calloc(m->count, sizeof *s->nearby);
    if (!rc && (!s->spares || !s->nearby))
        rc = -ENOMEM;
    if (!rc)
        s->nearby[m->id] = s->region->memory;
    for (uint32_t host = 0; !rc && host < m->count; host++)
        if (everywhere || host == m->id)
            rc = make_spares(s, &s->spares[host], everywhere ? m->id * s->own : 0);
    return rc;
}

int kv_slots_open(struct kv_slots **slots, struct loco_channel *channel,
                  const struct loco_kvstore_config *config)
{
    struct kv_slots *s = calloc(1, sizeof *s);

    if (!s)
        return -ENOMEM;
    if (pthread_mutex_init(&s->lock, NULL)) {
        free(s);
        return -ENOMEM;
    }
    s->node_count = channel->mgr->count;
    s->value_size = config->value_size;
    s->capacity = config->capacity;
    s->stride = stride_of(kv_slot_size(s));
    int rc = make_all(s, channel, config->placement);
    if (rc)
        kv_slots_close(s);
    else
        *slots = s;
    return rc;
}

void kv_slots_close(struct kv_slots *s)
{
    if (!s)
        return;
    for (uint32_t host = 0; s->spares && host < s->node_count; host++) {
        free(s->spares[host].free);
        free(s->spares[host].counters);
    }
    free(s->spares);
    free(s->nearby);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void kv_slots_meet(struct kv_slots *s, uint32_t host)
{
    const int member = loco_channel_member(s->region->channel, host);

    s->nearby[host] = loco_region_direct(s->region, (unsigned)member);
}

int kv_slots_take(struct kv_slots *s, uint32_t host, struct kv_place *place)
{
    struct kv_spares *at = &s->spares[host];
    int rc = -ENOSPC;

    pthread_mutex_lock(&s->lock);
    if (at->count > 0 && s->used < s->capacity) {
        uint32_t i = at->free[--at->count];
        s->used++;
        *place = (struct kv_place){host, at->first + i, ++at->counters[i]};
        rc = 0;
    }
    pthread_mutex_unlock(&s->lock);
    return rc;
}

void kv_slots_put(struct kv_slots *s, struct kv_place place)
{
    if (!is_own(s, place))
        return;
    pthread_mutex_lock(&s->lock);
    struct kv_spares *at = &s->spares[place.host];
    at->free[at->count++] = place.slot - at->first;
    s->used--;
    pthread_mutex_unlock(&s->lock);
}
