#include "kvstore_index.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* The flavour that registers threads by itself: they are the library's users'. */
#include <urcu/urcu-bp.h>

#include <urcu/rculfhash.h>

/* An entry, two of which are a cache line. The table keeps the hash in it, which is the key.
 * A look-up may read an entry while it is removed, so both words are atomic. */
struct entry {
    _Alignas(32) struct cds_lfht_node node;
    uint64_t place; /* host << 32 | slot */
    uint64_t counter;
};

_Static_assert(sizeof(struct entry) == 32, "half a cache line");

/*
 * Entries are taken from one array. One that was removed may still be under a look-up, so it
 * waits in `retired`; when nothing is free, one grace period frees all that wait.
 */

struct stack {
    uint32_t *entry;
    size_t count;
};

struct kv_index {
    struct cds_lfht *table;
    struct cds_lfht_node *buckets;
    uint64_t mask; /* of the hash: the bucket */
    struct entry *entries;
    pthread_mutex_t lock; /* of the two below */
    struct stack free, retired;
};

/* --- setup -------------------------------------------------------------------------------- */

enum { HUGE_PAGE = 2 << 20 };

#ifndef MADV_COLLAPSE /* Linux 6.1; older ones refuse, and do it in the background */
#define MADV_COLLAPSE 25
#endif

/* Asks for huge pages, whole ones: look-ups go everywhere, and on small pages each would begin
 * with a miss in the translation buffer. Without them it is slower, no worse. */
static void ask_for_huge_pages(void *memory, size_t size)
{
    uintptr_t begin = ((uintptr_t)memory + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
    uintptr_t end = ((uintptr_t)memory + size) & ~(uintptr_t)(HUGE_PAGE - 1);

    if (begin >= end)
        return;
    madvise((void *)begin, end - begin, MADV_HUGEPAGE);
    madvise((void *)begin, end - begin, MADV_COLLAPSE); /* what is on small pages already */
}

static int make_table(struct kv_index *x, size_t keys)
{
    unsigned long buckets = 64;

    while (buckets < keys)
        buckets *= 2;
    /* All the buckets there will ever be: nothing is resized, and their memory is one array. */
    x->table = cds_lfht_new_flavor(buckets, buckets, buckets, 0, &urcu_bp_flavor, NULL);
    if (!x->table)
        return -ENOMEM;
    x->buckets = cds_lfht_mm_mmap.bucket_at(x->table, 0);
    x->mask = buckets - 1;
    ask_for_huge_pages(x->buckets, buckets * sizeof *x->buckets);
    return 0;
}

static int make_entries(struct kv_index *x, size_t count)
{
    x->entries = aligned_alloc(64, (count + 1) / 2 * 64);
    x->free.entry = malloc(count * sizeof(uint32_t));
    x->retired.entry = malloc(count * sizeof(uint32_t));
    if (!x->entries || !x->free.entry || !x->retired.entry)
        return -ENOMEM;
    ask_for_huge_pages(x->entries, count * sizeof *x->entries);
    while (x->free.count < count) {
        x->free.entry[x->free.count] = (uint32_t)(count - 1 - x->free.count);
        x->free.count++;
    }
    return 0;
}

int kv_index_open(struct kv_index **index, size_t keys, size_t late)
{
    struct kv_index *x = calloc(1, sizeof *x);

    if (!x)
        return -ENOMEM;
    if (keys + late > UINT32_MAX || pthread_mutex_init(&x->lock, NULL)) {
        free(x);
        return -ENOMEM;
    }
    int rc = make_entries(x, keys + late);
    if (!rc)
        rc = make_table(x, keys);
    if (rc)
        kv_index_close(x);
    else
        *index = x;
    return rc;
}

static void empty(struct kv_index *x)
{
    struct cds_lfht_iter iter;

    urcu_bp_read_lock();
    cds_lfht_first(x->table, &iter);
    for (; iter.node; cds_lfht_next(x->table, &iter))
        cds_lfht_del(x->table, iter.node);
    urcu_bp_read_unlock();
}

void kv_index_close(struct kv_index *x)
{
    if (!x)
        return;
    if (x->table) {
        empty(x);
        cds_lfht_destroy(x->table, NULL);
    }
    free(x->free.entry);
    free(x->retired.entry);
    free(x->entries);
    pthread_mutex_destroy(&x->lock);
    free(x);
}

/* --- entries ------------------------------------------------------------------------------ */

static struct entry *take(struct kv_index *x)
{
    struct entry *e = NULL;

    pthread_mutex_lock(&x->lock);
    if (x->free.count == 0 && x->retired.count > 0) {
        urcu_bp_synchronize_rcu(); /* for look-ups in progress, which wait for nobody */
        struct stack freed = x->retired;
        x->retired = x->free;
        x->free = freed;
    }
    if (x->free.count > 0)
        e = &x->entries[x->free.entry[--x->free.count]];
    pthread_mutex_unlock(&x->lock);
    return e;
}

static void retire(struct kv_index *x, const struct entry *e)
{
    pthread_mutex_lock(&x->lock);
    x->retired.entry[x->retired.count++] = (uint32_t)(e - x->entries);
    pthread_mutex_unlock(&x->lock);
}

/* --- look-ups and changes ----------------------------------------------------------------- */

void kv_index_enter(void)
{
    urcu_bp_read_lock();
}

void kv_index_leave(void)
{
    urcu_bp_read_unlock();
}

/* The table has compared the hashes already. */
static int same_hash(struct cds_lfht_node *node, const void *key)
{
    (void)node;
    (void)key;
    return 1;
}

static struct entry *find(const struct kv_index *x, uint64_t hash)
{
    struct cds_lfht_iter iter;

    cds_lfht_lookup(x->table, hash, same_hash, NULL, &iter);
    return (struct entry *)iter.node;
}

bool kv_index_find(const struct kv_index *x, uint64_t hash, struct kv_place *place)
{
    const struct entry *e = find(x, hash);

    if (!e)
        return false;
    uint64_t at = __atomic_load_n(&e->place, __ATOMIC_RELAXED);
    *place = (struct kv_place){
        .host = (uint32_t)(at >> 32),
        .slot = (uint32_t)at,
        .counter = __atomic_load_n(&e->counter, __ATOMIC_RELAXED),
    };
    return true;
}

int kv_index_add(struct kv_index *x, uint64_t hash, struct kv_place place)
{
    struct entry *e = take(x);

    if (!e)
        return -ENOMEM;
    __atomic_store_n(&e->place, (uint64_t)place.host << 32 | place.slot, __ATOMIC_RELAXED);
    __atomic_store_n(&e->counter, place.counter, __ATOMIC_RELAXED);
    urcu_bp_read_lock();
    cds_lfht_add(x->table, hash, &e->node);
    urcu_bp_read_unlock();
    return 0;
}

bool kv_index_remove(struct kv_index *x, uint64_t hash)
{
    urcu_bp_read_lock();
    struct entry *e = find(x, hash);
    bool removed = e && cds_lfht_del(x->table, &e->node) == 0;
    urcu_bp_read_unlock();
    if (removed)
        retire(x, e);
    return removed;
}

void kv_index_prefetch_bucket(const struct kv_index *x, uint64_t hash)
{
    __builtin_prefetch(&x->buckets[hash & x->mask]);
}

void kv_index_prefetch_entry(const struct kv_index *x, uint64_t hash)
{
    enum { FLAGS = 7 }; /* the table's, in the low bits of its pointers */
    const struct cds_lfht_node *bucket = &x->buckets[hash & x->mask];
    uintptr_t first = (uintptr_t)__atomic_load_n(&bucket->next, __ATOMIC_RELAXED);

    __builtin_prefetch((const void *)(first & ~(uintptr_t)FLAGS));
}
