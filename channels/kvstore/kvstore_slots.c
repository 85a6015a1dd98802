#include "kvstore_slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "../core.h"
#include "../loco/memory.h"

/* --- one slot ----------------------------------------------------------------------------- */

/* A value of one word is its own digest. */
static inline uint64_t slot_digest(const unsigned char *value, size_t value_size)
{
    uint64_t word;

    if (value_size != sizeof word)
        return XXH3_64bits(value, value_size);
    memcpy(&word, value, sizeof word);
    return word;
}

/* The same value has different checksums for different keys and different uses of the slot. */
static inline uint64_t slot_checksum(const struct kv_slots *s, const unsigned char *copy,
                                     uint64_t hash, uint64_t counter)
{
    return kv_hash(slot_digest(copy + KV_VALUE_AT, s->value_size) ^ kv_hash(hash ^ counter));
}

static bool slot_is_valid(uint64_t state)
{
    return state & 1;
}

static uint64_t slot_counter(uint64_t state)
{
    return state >> 1;
}

void kv_slot_seal(const struct kv_slots *s, void *copy, uint64_t hash, uint64_t counter)
{
    unsigned char *bytes = copy;
    uint64_t state = kv_slot_state(counter, false);
    uint64_t sum = slot_checksum(s, bytes, hash, counter);

    memcpy(bytes, &state, sizeof state);
    memcpy(bytes + KV_VALUE_AT + kv_value_room(s), &sum, sizeof sum);
}

enum kv_seen kv_slot_judge(const struct kv_slots *s, const void *copy, uint64_t hash,
                           uint64_t counter)
{
    const unsigned char *bytes = copy;
    uint64_t state, sum;

    memcpy(&state, bytes, sizeof state);
    memcpy(&sum, bytes + KV_VALUE_AT + kv_value_room(s), sizeof sum);
    if (slot_is_valid(state) && sum == slot_checksum(s, bytes, hash, slot_counter(state)))
        return KV_PRESENT;
    return counter && state != kv_slot_state(counter, true) ? KV_ABSENT : KV_UNCLEAR;
}

/* The distance from slot to slot. Each slot lies in as few cache lines as possible. */
static size_t slot_stride(size_t size)
{
    size_t line = LOCO_CACHE_LINE;

    return size <= line / 2 ? line / 2 : (size + line - 1) / line * line;
}

/* --- all slots ---------------------------------------------------------------------------- */

/* This node's slots at one host, by their groups. */
struct kv_spares {
    uint64_t *free; /* a bit for each slot */
    uint64_t *counters;
};

enum { WORD = 64 };

static bool slot_is_own(const struct kv_slots *s, struct kv_place place)
{
    return s->spares[place.host].counters && place.slot % s->owners == s->owner;
}

static uint32_t spares_words(const struct kv_slots *s)
{
    return (s->own + WORD - 1) / WORD;
}

static void spares_flip(struct kv_spares *at, uint32_t group)
{
    at->free[group / WORD] ^= UINT64_C(1) << group % WORD;
}

/* The first group from `home` on in which this node's slot is free. After the last group comes the
 * first. UINT32_MAX: no slot is free. */
static uint32_t spares_nearest(const struct kv_slots *s, const struct kv_spares *at, uint32_t home)
{
    const uint32_t words = spares_words(s);
    uint32_t w = home / WORD;
    uint64_t free = at->free[w] & UINT64_MAX << home % WORD;

    for (uint32_t i = 0; i < words && !free; i++) {
        w = w + 1 < words ? w + 1 : 0;
        free = at->free[w];
    }
    return free ? w * WORD + (uint32_t)__builtin_ctzll(free) : UINT32_MAX;
}

static bool spares_has(const struct kv_spares *at, uint32_t group)
{
    return at->free[group / WORD] >> group % WORD & 1;
}

/* The group of the slot for a key: the first of its homes in which this node's slot is free, or
 * else the nearest group. */
static uint32_t spares_choose(const struct kv_slots *s, const struct kv_spares *at, uint64_t hash)
{
    for (unsigned i = 0; i < KV_HOMES; i++)
        if (spares_has(at, kv_slots_home(s, hash, i)))
            return kv_slots_home(s, hash, i);
    return spares_nearest(s, at, kv_slots_home(s, hash, 0));
}

static int spares_open(const struct kv_slots *s, struct kv_spares *at)
{
    at->free = calloc(spares_words(s), sizeof(uint64_t));
    at->counters = calloc(s->own, sizeof(uint64_t));
    if (!at->free || !at->counters)
        return -ENOMEM;
    for (uint32_t group = 0; group < s->own; group++)
        spares_flip(at, group);
    return 0;
}

static unsigned slots_home_lines(size_t group_size)
{
    return group_size <= LOCO_CACHE_LINE ? 1 : group_size <= 2 * LOCO_CACHE_LINE ? 2 : 0;
}

static int slots_make(struct kv_slots *s, struct loco_channel *c, enum loco_kv_placement placement)
{
    const struct loco_manager *m = c->mgr;
    const bool everywhere = placement == LOCO_KV_AT_LOCK;

    s->own = everywhere ? (s->capacity + m->count - 1) / m->count : s->capacity;
    s->owners = everywhere ? m->count : 1;
    s->owner = everywhere ? m->id : 0;
    s->hosted = s->own * s->owners;
    s->home_lines = everywhere ? slots_home_lines(s->owners * s->stride) : 0;
    int rc = loco_channel_region(c, "slots", s->hosted * s->stride, &s->region);
    s->spares = calloc(m->count, sizeof *s->spares);
    s->nearby = calloc(m->count, sizeof *s->nearby);
    if (!rc && (!s->spares || !s->nearby))
        rc = -ENOMEM;
    if (!rc)
        s->nearby[m->id] = s->region->memory;
    for (uint32_t host = 0; !rc && host < m->count; host++)
        if (everywhere || host == m->id)
            rc = spares_open(s, &s->spares[host]);
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
    s->stride = slot_stride(kv_slot_size(s));
    int rc = slots_make(s, channel, config->placement);
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

void kv_slots_part(struct kv_slots *s, uint32_t host)
{
    s->nearby[host] = NULL;
}

int kv_slots_take(struct kv_slots *s, uint32_t host, uint64_t hash, struct kv_place *place)
{
    struct kv_spares *at = &s->spares[host];
    uint32_t group = UINT32_MAX;

    pthread_mutex_lock(&s->lock);
    if (at->free && s->used < s->capacity)
        group = spares_choose(s, at, hash);
    if (group != UINT32_MAX) {
        spares_flip(at, group);
        s->used++;
        *place = (struct kv_place){host, group * s->owners + s->owner, ++at->counters[group]};
    }
    pthread_mutex_unlock(&s->lock);
    return group == UINT32_MAX ? -ENOSPC : 0;
}

void kv_slots_put(struct kv_slots *s, struct kv_place place)
{
    if (!slot_is_own(s, place))
        return;
    pthread_mutex_lock(&s->lock);
    spares_flip(&s->spares[place.host], place.slot / s->owners);
    s->used--;
    pthread_mutex_unlock(&s->lock);
}
