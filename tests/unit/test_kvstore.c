/* Tests of the key-value store on every fabric. tests/sim tests linearizability under chaos. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "channels/kvstore/kvstore_locks.h"
#include "channels/kvstore/kvstore_slots.h"
#include "channels/loco/fabric/atomic_copy.h"
#include "channels/loco/kvstore.h"
#include "tests/unit/tracker.h"

#define ON_EACH_FABRIC(test_name, count, body, arg)                                                \
    Test(kvstore, test_name##_sim)                                                                 \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_SIM, count, body, arg), 0);                                      \
    }                                                                                              \
    Test(kvstore, test_name##_threads)                                                             \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_THREADS, count, body, arg), 0);                                  \
    }                                                                                              \
    Test(kvstore, test_name##_processes)                                                           \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_PROCESSES, count, body, arg), 0);                                \
    }

/* --- helpers -------------------------------------------------------------------------------- */

/* A store with its tracker, and further channels of the test. */
struct site {
    struct node *n;
    struct loco_kvstore kv;
    struct loco_barrier bar;
    struct loco_atomic_array words; /* for tallies */
    struct tracker tracker;
    bool fibers;
};

static void site_open(struct site *s, struct node *n, const struct loco_kvstore_config *config)
{
    *s = (struct site){.n = n, .fibers = on_fibers(n)};
    CHECK(n, loco_kvstore_init(&s->kv, n->mgr, NULL, "kv", config) == 0);
    CHECK(n, loco_barrier_init(&s->bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_atomic_array_init(&s->words, n->mgr, NULL, "words", 8, LOCO_ALL, 0) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    tracker_begin(&s->tracker, n, &s->kv);
    CHECK(n, loco_barrier_wait(&s->bar) == 0);
}

static void meet(struct site *s)
{
    CHECK(s->n, loco_barrier_wait(&s->bar) == 0);
}

static void site_leave(struct site *s)
{
    tracker_end(&s->tracker);
    loco_kvstore_fini(&s->kv);
    loco_atomic_array_fini(&s->words);
    loco_barrier_fini(&s->bar);
}

static void site_close(struct site *s)
{
    meet(s);
    site_leave(s);
}

/* Runs further threads of a node beside the calling one: fibers or pthreads. */
struct crew {
    struct site *site;
    void (*body)(struct site *site, uint32_t index);
    uint32_t index;
    bool over;
    pthread_t thread;
};

static void crew_body(void *arg)
{
    struct crew *c = arg;

    CHECK(c->site->n, loco_thread_attach(c->site->n->mgr) == 0);
    c->body(c->site, c->index);
    loco_thread_detach(c->site->n->mgr);
    c->over = true;
}

static void *crew_thread(void *arg)
{
    crew_body(arg);
    return NULL;
}

static void run_crew(struct site *s, uint32_t count, void (*body)(struct site *, uint32_t))
{
    struct crew crew[count];

    for (uint32_t i = 0; i < count; i++) {
        crew[i] = (struct crew){.site = s, .body = body, .index = i};
        if (s->fibers)
            CHECK(s->n, loco_sim_spawn(s->n->fabric, crew_body, &crew[i]) == 0);
        else
            pthread_create(&crew[i].thread, NULL, crew_thread, &crew[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        struct loco_wait wait = {.until = UINT64_MAX};
        while (s->fibers && !crew[i].over)
            loco_relax(s->n->mgr, &wait);
        if (!s->fibers)
            pthread_join(crew[i].thread, NULL);
    }
}

static uint64_t tally_at(struct site *s, uint32_t node, size_t word)
{
    uint64_t value = 0;

    CHECK(s->n, loco_atomic_load(loco_atomic_at(&s->words, node, word), &value) == 0);
    return value;
}

static void tally(struct site *s, size_t word, uint64_t add)
{
    uint64_t old;

    CHECK(s->n, loco_atomic_fetch_add(loco_atomic_at(&s->words, 0, word), add, &old) == 0);
}

static int insert8(struct site *s, uint64_t key, uint64_t value)
{
    return loco_kvstore_insert(&s->kv, key, &value);
}

static int update8(struct site *s, uint64_t key, uint64_t value)
{
    return loco_kvstore_update(&s->kv, key, &value);
}

/* Swaps from `expected` to `desired`. *expected gets what is there, if that is something else. */
static int swap8(struct site *s, uint64_t key, uint64_t *expected, uint64_t desired)
{
    return loco_kvstore_compare_swap(&s->kv, key, expected, &desired);
}

/* Whether the key has this value. */
static bool reads(struct site *s, uint64_t key, uint64_t value)
{
    uint64_t got = ~value;

    return loco_kvstore_read(&s->kv, key, &got) == 0 && got == value;
}

static bool misses(struct site *s, uint64_t key)
{
    uint64_t got = 17;

    return loco_kvstore_read(&s->kv, key, &got) == -ENOENT && got == 17;
}

static struct loco_kvstore_config words_at_lock = {.value_size = 8, .capacity = 64};
static struct loco_kvstore_config words_at_inserter = {
    .value_size = 8, .capacity = 64, .placement = LOCO_KV_AT_INSERTER};

/* --- all operations, all their errors --------------------------------------------------------- */

/* "capacity exhausted, missing and duplicate keys are distinct errors" */
static void operations_body(struct node *n)
{
    struct site s;
    static const uint64_t keys[] = {0, 1, UINT64_MAX, 0x8000000000000000u, 42};
    enum { KEYS = sizeof keys / sizeof keys[0] };

    site_open(&s, n, n->arg);
    for (unsigned i = 0; i < KEYS; i++) {
        uint32_t inserter = i % n->count, other = (i + 1) % n->count;
        CHECK(n, misses(&s, keys[i]));
        CHECK(n, update8(&s, keys[i], 1) == -ENOENT);
        CHECK(n, loco_kvstore_delete(&s.kv, keys[i]) == -ENOENT);
        meet(&s);
        if (n->id == inserter)
            CHECK(n, insert8(&s, keys[i], 100 + i) == 0);
        meet(&s);
        CHECK(n, reads(&s, keys[i], 100 + i));
        CHECK(n, insert8(&s, keys[i], 200) == -EEXIST);
        meet(&s);
        if (n->id == other)
            CHECK(n, update8(&s, keys[i], 300 + i) == 0 && reads(&s, keys[i], 300 + i));
        meet(&s);
        CHECK(n, reads(&s, keys[i], 300 + i));
        meet(&s);
        if (n->id == other)
            CHECK(n, loco_kvstore_delete(&s.kv, keys[i]) == 0 && misses(&s, keys[i]));
        meet(&s);
    }
    site_close(&s);
}

ON_EACH_FABRIC(operations_at_lock, 3, operations_body, &words_at_lock)
ON_EACH_FABRIC(operations_at_inserter, 3, operations_body, &words_at_inserter)
ON_EACH_FABRIC(operations_alone, 1, operations_body, &words_at_lock)

static void swap_body(struct node *n)
{
    struct site s;
    struct loco_kv_window *w;
    uint64_t expected = 5;

    site_open(&s, n, n->arg);
    CHECK(n, swap8(&s, 7, &expected, 6) == -ENOENT && expected == 5);
    meet(&s);
    if (n->id == 0)
        CHECK(n, insert8(&s, 7, 5) == 0 && swap8(&s, 7, &expected, 6) == 0 && expected == 5);
    meet(&s);
    CHECK(n, swap8(&s, 7, &expected, 9) == -ECANCELED && expected == 6 && reads(&s, 7, 6));
    meet(&s);
    CHECK(n, loco_kv_window_open(&w, &s.kv, 1) == 0);
    struct loco_kv_op *op = loco_kv_window_op(w, 0);
    CHECK(n, !loco_kv_window_next(w));
    for (uint64_t i = 0; i < 10;) { /* each node adds 10 */
        struct loco_wait wait = {.until = UINT64_MAX};
        *(uint64_t *)op->value = expected + 1;
        loco_kv_start_compare_swap(op, 7, &expected, NULL);
        while (loco_kv_window_next(w) != op)
            loco_relax(n->mgr, &wait);
        CHECK(n, !loco_kv_window_next(w) && loco_kv_poll(op));
        CHECK(n, op->result == 0 || op->result == -ECANCELED);
        i += op->result == 0;
        expected = *(uint64_t *)op->value;
    }
    loco_kv_window_close(w);
    meet(&s);
    CHECK(n, reads(&s, 7, 6 + 10 * n->count));
    site_close(&s);
}

ON_EACH_FABRIC(swaps_at_lock, 3, swap_body, &words_at_lock)
ON_EACH_FABRIC(swaps_at_inserter, 3, swap_body, &words_at_inserter)

/* Every key is given once, at each node, with its value. */
static void iterate_body(struct node *n)
{
    struct site s;
    enum { EACH = 20 };
    uint64_t cursor = 0, key = 3, value = 4;
    bool seen[3 * EACH] = {0};
    unsigned given = 0;

    site_open(&s, n, &words_at_lock);
    CHECK(n, loco_kvstore_next(&s.kv, &cursor, &key, &value) == -ENOENT && value == 4);
    meet(&s);
    for (uint64_t i = n->id * EACH; i < (n->id + 1) * EACH; i++)
        CHECK(n, insert8(&s, i, i + 1) == 0);
    meet(&s);
    for (cursor = 0; loco_kvstore_next(&s.kv, &cursor, &key, &value) == 0; given++) {
        CHECK(n, key < 3 * EACH && value == key + 1 && !seen[key]);
        seen[key % (3 * EACH)] = true;
    }
    CHECK(n, given == 3 * EACH);
    cursor = 0;
    CHECK(n, loco_kvstore_next(&s.kv, &cursor, &key, NULL) == 0);
    site_close(&s);
}

ON_EACH_FABRIC(iteration, 3, iterate_body, NULL)

static void config_body(struct node *n)
{
    static const struct loco_kvstore_config wrong[] = {
        {.value_size = 7, .capacity = 1},
        {.value_size = 4097, .capacity = 1},
        {.value_size = 8, .capacity = 0},
        {.value_size = 8, .capacity = UINT32_MAX},
        {.value_size = 8, .capacity = 1, .placement = 2},
    };
    struct loco_kvstore kv;

    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        CHECK(n, loco_kvstore_init(&kv, n->mgr, NULL, "kv", &wrong[i]) == -EINVAL);
    CHECK(n, loco_kvstore_init(&kv, n->mgr, NULL, "a/b", &words_at_lock) == -EINVAL);
    CHECK(n, loco_kvstore_init(&kv, n->mgr, NULL, "kv", &words_at_lock) == 0);
    struct loco_kvstore again;
    CHECK(n, loco_kvstore_init(&again, n->mgr, NULL, "kv", &words_at_lock) == -EEXIST);
    loco_kvstore_fini(&kv);
}

ON_EACH_FABRIC(configuration, 1, config_body, NULL)

static void *stranger(void *arg)
{
    struct site *s = arg;
    uint64_t value;

    CHECK(s->n, loco_kvstore_read(&s->kv, 1, &value) == -EPERM);
    return NULL;
}

static void stranger_body(struct node *n)
{
    struct site s;
    pthread_t thread;

    site_open(&s, n, &words_at_lock);
    pthread_create(&thread, NULL, stranger, &s);
    pthread_join(thread, NULL);
    site_close(&s);
}

Test(kvstore, unattached_threads_are_refused)
{
    cr_assert_eq(run_nodes(ON_THREADS, 1, stranger_body, NULL), 0);
}

/* --- slots: capacity, reuse, counters --------------------------------------------------------- */

static void capacity_body(struct node *n)
{
    struct site s;
    const struct loco_kvstore_config *config = n->arg;
    uint32_t capacity = config->capacity;

    site_open(&s, n, config);
    for (uint64_t round = 0; round < effort(3, 2); round++) {
        uint64_t base = 1000 * n->id;
        for (uint64_t i = 0; i < capacity; i++)
            CHECK(n, insert8(&s, base + i, i) == 0);
        CHECK(n, insert8(&s, base + capacity, 0) == -ENOSPC);
        CHECK(n, misses(&s, base + capacity));
        CHECK(n, insert8(&s, base, 0) == -EEXIST);
        meet(&s);
        /* Whichever node deletes the key, the slot belongs to the node that inserted it. */
        uint64_t others = 1000 * ((n->id + 1) % n->count);
        CHECK(n, loco_kvstore_delete(&s.kv, others + 3) == 0);
        meet(&s);
        CHECK(n, insert8(&s, base + capacity, 7) == 0);
        CHECK(n, insert8(&s, base + capacity + 1, 7) == -ENOSPC);
        CHECK(n, reads(&s, base + capacity, 7) && misses(&s, base + 3) && reads(&s, base + 4, 4));
        meet(&s);
        for (uint64_t i = 0; i <= capacity; i++)
            CHECK(n, loco_kvstore_delete(&s.kv, others + i) == (i == 3 ? -ENOENT : 0));
        meet(&s);
    }
    site_close(&s);
}

static struct loco_kvstore_config ten_at_lock = {.value_size = 8, .capacity = 10, .locks = 5};
static struct loco_kvstore_config ten_at_inserter = {
    .value_size = 8, .capacity = 10, .locks = 5, .placement = LOCO_KV_AT_INSERTER};

ON_EACH_FABRIC(capacity_at_lock, 3, capacity_body, &ten_at_lock)
ON_EACH_FABRIC(capacity_at_inserter, 3, capacity_body, &ten_at_inserter)

/* What a read finds step by step if it is stalled after its look-up. */
static enum kv_seen look_again(struct site *s, uint64_t key, struct kv_place place)
{
    const struct kv_slots *slots = s->kv.slots;
    uint64_t *copy = loco_mem_ref_take(s->n->mgr);
    int member = loco_channel_member(&s->kv.channel, place.host);
    unsigned m = place.host == s->n->id ? LOCO_SELF : (unsigned)member;
    struct loco_ack ack = loco_region_read(slots->region, m, kv_slot_at(slots, place.slot), copy,
                                           kv_slot_size(slots));

    CHECK(s->n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
    enum kv_seen seen = kv_slot_judge(slots, copy, kv_hash(key), place.counter);
    loco_mem_ref_put(s->n->mgr, copy);
    return seen;
}

static bool find(struct site *s, uint64_t key, struct kv_place *place)
{
    *place = kv_index_find(s->kv.index, kv_hash(key));
    return place->host != KV_NOWHERE;
}

/* "slots are reclaimed and reused safely": with room for one key, each insert reuses the last key's
 * slot with a new counter, and a look-up of an earlier use finds nothing. */
static void reuse_body(struct node *n)
{
    struct site s;
    struct kv_place place, stale = {0};

    site_open(&s, n, n->arg);
    for (uint64_t i = 1; i <= 20; i++) {
        if (n->id == 0)
            CHECK(n, insert8(&s, i, i) == 0);
        meet(&s);
        CHECK(n, find(&s, i, &place) && place.counter == i);
        CHECK(n, i == 1 || (place.slot == stale.slot && place.host == stale.host));
        CHECK(n, look_again(&s, i, place) == KV_PRESENT);
        CHECK(n, i == 1 || look_again(&s, i - 1, stale) == KV_ABSENT);
        meet(&s);
        if (n->id == 1)
            CHECK(n, loco_kvstore_delete(&s.kv, i) == 0);
        meet(&s);
        CHECK(n, look_again(&s, i, place) == KV_ABSENT); /* the valid bit */
        CHECK(n, !find(&s, i, &stale));
        stale = place;
        meet(&s);
    }
    site_close(&s);
}

static struct loco_kvstore_config one_slot = {
    .value_size = 8, .capacity = 1, .placement = LOCO_KV_AT_INSERTER};

ON_EACH_FABRIC(reuse_of_a_slot, 2, reuse_body, &one_slot)

/* Makes more deletes than the index has spare entries. */
static void churn_body(struct node *n)
{
    struct site s;
    const uint64_t deletes = effort(700, 300);

    site_open(&s, n, &ten_at_lock);
    for (uint64_t i = 0; n->id == 0 && i < deletes && !n->failures; i++) {
        CHECK(n, insert8(&s, i, i) == 0);
        CHECK(n, loco_kvstore_delete(&s.kv, i) == 0);
    }
    site_close(&s);
}

ON_EACH_FABRIC(churn, 2, churn_body, NULL)

/* --- sizes, and readers beside a writer ------------------------------------------------------- */

static void fill(unsigned char *value, size_t size, uint64_t number)
{
    for (size_t i = 0; i + 8 <= size; i += 8)
        memcpy(value + i, &number, 8);
    memset(value + size / 8 * 8, (int)(number & 0xff), size % 8);
}

static bool is_whole(const unsigned char *value, size_t size, uint64_t *number)
{
    unsigned char whole[LOCO_KV_VALUE_MAX];

    memcpy(number, value, 8);
    fill(whole, size, *number);
    return memcmp(whole, value, size) == 0;
}

/* Node 0 updates, and announces each update when it is complete. The others' reads are never torn,
 * never older than updates that were complete before they began, and never go back. */
static void readers_body(struct node *n)
{
    struct site s;
    const struct loco_kvstore_config *config = n->arg;
    unsigned char value[LOCO_KV_VALUE_MAX];
    const uint64_t rounds = effort(100, 30);
    uint64_t last = 0, number = 0, old;

    site_open(&s, n, config);
    fill(value, config->value_size, 0);
    if (n->id == 0)
        CHECK(n, loco_kvstore_insert(&s.kv, 5, value) == 0);
    meet(&s);
    for (uint64_t i = 1; n->id == 0 && i <= rounds; i++) {
        fill(value, config->value_size, i);
        CHECK(n, loco_kvstore_update(&s.kv, 5, value) == 0);
        CHECK(n, loco_atomic_fetch_add(loco_atomic_at(&s.words, 0, 0), 1, &old) == 0);
    }
    while (n->id != 0 && last < rounds && n->failures < 5) {
        uint64_t over = tally_at(&s, 0, 0);
        CHECK(n, loco_kvstore_read(&s.kv, 5, value) == 0);
        CHECK(n, is_whole(value, config->value_size, &number));
        CHECK(n, number >= over && number >= last);
        last = number;
    }
    site_close(&s);
}

/* On a busy machine a writer may stand still in the middle of a value. */
#define PATIENCE_NS 60000000000u

#define READERS(size)                                                                              \
    static struct loco_kvstore_config of_##size = {                                                \
        .value_size = size, .capacity = 4, .torn_ns = PATIENCE_NS};                                \
    static struct loco_kvstore_config of_##size##_here = {.value_size = size,                      \
                                                          .capacity = 4,                           \
                                                          .torn_ns = PATIENCE_NS,                  \
                                                          .placement = LOCO_KV_AT_INSERTER};       \
    ON_EACH_FABRIC(readers_of_##size, 3, readers_body, &of_##size)                                 \
    ON_EACH_FABRIC(readers_of_##size##_at_inserter, 2, readers_body, &of_##size##_here)

READERS(8)
READERS(16)
READERS(100)
READERS(4096)

static struct loco_kvstore_config impatient = {
    .value_size = 8, .capacity = 64, .owner_ns = 500000, .torn_ns = 500000};

/* A value that stays half-written is never returned. */
static void torn_body(struct node *n)
{
    struct site s;
    struct kv_place place;
    uint64_t value = 0;

    site_open(&s, n, &impatient);
    if (n->id == 0)
        CHECK(n, insert8(&s, 1, 5) == 0);
    meet(&s);
    if (find(&s, 1, &place) && place.host == n->id) {
        unsigned char *slot = s.kv.slots->region->memory;
        uint64_t six = 6;
        loco_copy(slot + kv_slot_at(s.kv.slots, place.slot) + KV_VALUE_AT, &six, sizeof six);
    }
    meet(&s);
    CHECK(n, loco_kvstore_read(&s.kv, 1, &value) == -EAGAIN && value == 0);
    CHECK(n, swap8(&s, 1, &value, 9) == -EAGAIN && value == 0);
    meet(&s);
    if (n->id == 1)
        CHECK(n, update8(&s, 1, 7) == 0);
    meet(&s);
    CHECK(n, reads(&s, 1, 7));
    site_close(&s);
}

ON_EACH_FABRIC(torn_value, 2, torn_body, NULL)

/* --- races ------------------------------------------------------------------------------------ */

enum { CREW = 3, TALLY_IN = 1, TALLY_OUT, TALLY_UPDATES };

/* All nodes insert, delete and read the same few keys. Each successful insert makes room for one
 * successful delete. A value names its key. */
static void race(struct site *s, uint32_t index)
{
    struct node *n = s->n;
    uint64_t random = 77 + n->id * CREW + index, got;
    const uint64_t attempts = effort(40, 10);

    for (uint64_t i = 0; i < attempts; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t key = random >> 62;
        int rc = insert8(s, key, key * 1000 + i);
        CHECK(n, rc == 0 || rc == -EEXIST);
        if (!rc)
            tally(s, TALLY_IN, 1);
        rc = loco_kvstore_read(&s->kv, key, &got);
        CHECK(n, rc == -ENOENT || (rc == 0 && got / 1000 == key));
        rc = loco_kvstore_delete(&s->kv, (random >> 60) % 4);
        CHECK(n, rc == 0 || rc == -ENOENT);
        if (!rc)
            tally(s, TALLY_OUT, 1);
    }
}

static void race_body(struct node *n)
{
    struct site s;
    uint64_t left = 0;

    site_open(&s, n, n->arg);
    run_crew(&s, CREW, race);
    meet(&s);
    for (uint64_t key = 0; key < 4; key++)
        left += misses(&s, key) ? 0 : 1;
    CHECK(n, tally_at(&s, 0, TALLY_IN) == tally_at(&s, 0, TALLY_OUT) + left);
    CHECK(n, tally_at(&s, 0, TALLY_OUT) > 0);
    site_close(&s);
}

ON_EACH_FABRIC(races_at_lock, 2, race_body, &words_at_lock)
ON_EACH_FABRIC(races_at_inserter, 2, race_body, &words_at_inserter)

static uint64_t increments(void)
{
    return effort(8, 3);
}

/* Tests the locks across the overflow of their tickets. Only one thread at a time has inserted key
 * 10, so increments of key 9 by read and update are lost only if two inserts of key 10 succeed. */
static void increment(struct site *s, uint32_t index)
{
    uint64_t value;

    for (uint64_t i = 0; i < increments(); i++) {
        struct loco_wait wait = {.until = UINT64_MAX};
        while (insert8(s, 10, index) != 0)
            loco_relax(s->n->mgr, &wait);
        CHECK(s->n, loco_kvstore_read(&s->kv, 9, &value) == 0);
        value++;
        CHECK(s->n, loco_kvstore_update(&s->kv, 9, &value) == 0);
        CHECK(s->n, loco_kvstore_delete(&s->kv, 10) == 0);
    }
}

static void wrap_body(struct node *n)
{
    struct site s;
    const uint64_t near_end = UINT64_C(0x7ffffff8) << 32 | 0x7ffffff8;

    site_open(&s, n, &words_at_lock);
    uint64_t *words = s.kv.locks.region->memory;
    for (size_t i = 0; i < s.kv.locks_each; i++)
        __atomic_store_n(&words[i], near_end, __ATOMIC_RELEASE);
    meet(&s);
    if (n->id == 0)
        CHECK(n, insert8(&s, 9, 0) == 0);
    meet(&s);
    run_crew(&s, CREW, increment);
    meet(&s);
    CHECK(n, reads(&s, 9, n->count * CREW * increments()));
    site_close(&s);
}

ON_EACH_FABRIC(tickets_wrap, 2, wrap_body, NULL)

/* --- windows ---------------------------------------------------------------------------------- */

enum { WINDOW = 128, KEYS = 300 };

static uint64_t key_of(const struct node *n, uint64_t i)
{
    return n->id * 1000000 + i;
}

static void wait_all(struct site *s, struct loco_kv_window *w, unsigned count, int expected)
{
    for (unsigned i = 0; i < count; i++) {
        struct loco_wait wait = {.until = UINT64_MAX};
        struct loco_kv_op *op = loco_kv_window_op(w, i);
        while (!loco_kv_poll(op))
            loco_relax(s->n->mgr, &wait);
        CHECK(s->n, op->result == expected);
    }
}

/* Works on all keys of this node, a window at a time and each operation separately. */
static void sweep(struct site *s, struct loco_kv_window *w, enum loco_kv_kind kind, uint64_t add,
                  int expected)
{
    struct node *n = s->n;
    uint64_t started = 0, over = 0;

    while (over < KEYS && n->failures < 5) {
        struct loco_kv_op *op = loco_kv_window_op(w, (unsigned)(over % WINDOW));
        uint64_t value = started + add;
        if (started < KEYS && started - over < WINDOW) {
            op = loco_kv_window_op(w, (unsigned)(started % WINDOW));
            if (kind == LOCO_KV_READ)
                loco_kv_start_read(op, key_of(n, started));
            else if (kind == LOCO_KV_INSERT)
                loco_kv_start_insert(op, key_of(n, started), &value);
            else if (kind == LOCO_KV_UPDATE)
                loco_kv_start_update(op, key_of(n, started), &value);
            else
                loco_kv_start_delete(op, key_of(n, started));
            started++;
            continue;
        }
        struct loco_wait wait = {.until = UINT64_MAX};
        while (!loco_kv_poll(op))
            loco_relax(n->mgr, &wait);
        CHECK(n, op->result == expected);
        if (kind == LOCO_KV_READ && !expected)
            CHECK(n, *(uint64_t *)op->value == over + add);
        over++;
    }
}

static void window_body(struct node *n)
{
    struct site s;
    struct loco_kv_window *w;

    site_open(&s, n, n->arg);
    CHECK(n, loco_kv_window_open(&w, &s.kv, WINDOW) == 0);
    sweep(&s, w, LOCO_KV_READ, 0, -ENOENT);
    sweep(&s, w, LOCO_KV_INSERT, 10, 0);
    sweep(&s, w, LOCO_KV_INSERT, 0, -EEXIST);
    sweep(&s, w, LOCO_KV_READ, 10, 0);
    sweep(&s, w, LOCO_KV_UPDATE, 20, 0);
    sweep(&s, w, LOCO_KV_READ, 20, 0);
    sweep(&s, w, LOCO_KV_DELETE, 0, 0);
    sweep(&s, w, LOCO_KV_DELETE, 0, -ENOENT);
    sweep(&s, w, LOCO_KV_READ, 0, -ENOENT);
    loco_kv_window_close(w);
    site_close(&s);
}

static struct loco_kvstore_config wide_at_lock = {.value_size = 8, .capacity = KEYS, .locks = 40};
static struct loco_kvstore_config wide_at_inserter = {
    .value_size = 8, .capacity = KEYS, .locks = 40, .placement = LOCO_KV_AT_INSERTER};

ON_EACH_FABRIC(window_at_lock, 2, window_body, &wide_at_lock)
ON_EACH_FABRIC(window_at_inserter, 2, window_body, &wide_at_inserter)

/* Operations that are polled from the last to the first: reads, and every fourth an update. */
static void few_backwards_body(struct node *n)
{
    enum { FEW = 7 };
    struct loco_kv_window *w;
    struct site s;

    site_open(&s, n, &words_at_lock);
    CHECK(n, loco_kv_window_open(&w, &s.kv, FEW) == 0);
    for (uint64_t i = 0; i < FEW; i++)
        CHECK(n, loco_kvstore_insert(&s.kv, key_of(n, i), &i) == 0);
    for (uint64_t round = 0; round < 20; round++) {
        for (unsigned i = 0; i < FEW; i++) {
            uint64_t value = i;
            if ((i + round) % 4 == 0)
                loco_kv_start_update(loco_kv_window_op(w, i), key_of(n, i), &value);
            else
                loco_kv_start_read(loco_kv_window_op(w, i), key_of(n, i));
        }
        for (unsigned i = FEW; i-- > 0;) {
            struct loco_kv_op *op = loco_kv_window_op(w, i);
            AWAIT(n, loco_kv_poll(op));
            CHECK(n, op->result == 0 && *(uint64_t *)op->value == i);
        }
    }
    loco_kv_window_close(w);
    site_close(&s);
}

ON_EACH_FABRIC(window_polled_backwards, 2, few_backwards_body, NULL)

/* A whole window of operations on one key, hence on one lock, polled from its end. Each operation
 * ends once, and one of them is the last. */
static void hot_window_body(struct node *n)
{
    struct site s;
    struct loco_kv_window *w;
    uint64_t got = 0;

    site_open(&s, n, &words_at_lock);
    CHECK(n, loco_kv_window_open(&w, &s.kv, WINDOW) == 0);
    if (n->id == 0)
        CHECK(n, insert8(&s, 1, 0) == 0);
    meet(&s);
    for (uint64_t i = 0; i < WINDOW; i++) {
        uint64_t value = 1000 * (n->id + 1) + i;
        loco_kv_start_update(loco_kv_window_op(w, (unsigned)i), 1, &value);
    }
    for (unsigned i = WINDOW; i-- > 0;) {
        struct loco_wait wait = {.until = UINT64_MAX};
        while (!loco_kv_poll(loco_kv_window_op(w, i)))
            loco_relax(n->mgr, &wait);
    }
    wait_all(&s, w, WINDOW, 0);
    meet(&s);
    CHECK(n, loco_kvstore_read(&s.kv, 1, &got) == 0);
    CHECK(n, got / 1000 >= 1 && got / 1000 <= n->count && got % 1000 < WINDOW);
    /* The same, where one insert and one delete succeed. */
    meet(&s);
    for (unsigned i = 0; i < WINDOW; i++)
        loco_kv_start_delete(loco_kv_window_op(w, i), 1);
    uint64_t deleted = 0;
    for (unsigned i = WINDOW; i-- > 0;) {
        struct loco_wait wait = {.until = UINT64_MAX};
        struct loco_kv_op *op = loco_kv_window_op(w, i);
        while (!loco_kv_poll(op))
            loco_relax(n->mgr, &wait);
        CHECK(n, op->result == 0 || op->result == -ENOENT);
        deleted += op->result == 0;
    }
    tally(&s, TALLY_OUT, deleted);
    meet(&s);
    CHECK(n, tally_at(&s, 0, TALLY_OUT) == 1);
    loco_kv_window_close(w);
    site_close(&s);
}

ON_EACH_FABRIC(window_on_one_key, 2, hot_window_body, NULL)

/* --- lost nodes ------------------------------------------------------------------------------- */

/* Node 2 inserts keys and leaves. The keys that it hosted are lost; the rest still works. */
static void lost_body(struct node *n)
{
    struct site s;
    uint64_t value;
    unsigned lost = 0, kept = 0, renewed = 0;
    int rc = 0;
    const struct loco_kvstore_config *config = n->arg;

    site_open(&s, n, config);
    for (uint64_t i = 0; n->id == 2 && i < 30; i++)
        CHECK(n, insert8(&s, i, i) == 0);
    meet(&s);
    if (n->id == 2) {
        site_leave(&s);
        return;
    }
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);
    while (!loco_peer_lost(n->mgr, 2) && !loco_relax(n->mgr, &wait))
        ;
    for (uint64_t i = 0; i < 30; i++) {
        rc = loco_kvstore_read(&s.kv, i, &value);
        CHECK(n, rc == -ECONNRESET || (rc == 0 && value == i));
        lost += rc == -ECONNRESET;
        kept += rc == 0;
    }
    CHECK(n, config->placement == LOCO_KV_AT_INSERTER ? kept == 0 : lost > 0 && kept > 0);
    for (uint64_t cursor = 0, key;
         (rc = loco_kvstore_next(&s.kv, &cursor, &key, &value)) != -ENOENT;) {
        CHECK(n, key < 30 && (rc == -ECONNRESET || (rc == 0 && value == key)));
        lost -= rc != 0;
        kept -= rc == 0;
        value = ~key; /* no key has it */
        CHECK(n, swap8(&s, key, &value, 1) == (rc ? -ECONNRESET : -ECANCELED));
    }
    CHECK(n, lost == 0 && kept == 0);
    tally(&s, TALLY_IN, 1);
    while (tally_at(&s, 0, TALLY_IN) < 2 && !loco_relax(n->mgr, &wait))
        ;
    /* Lost keys whose lock is not lost can be deleted and inserted again. */
    for (uint64_t i = n->id; i < 30; i += 2) {
        rc = loco_kvstore_delete(&s.kv, i);
        CHECK(n, rc == 0 || rc == -ECONNRESET);
        if (rc)
            continue;
        CHECK(n, misses(&s, i) && insert8(&s, i, 100 + i) == 0 && reads(&s, i, 100 + i));
        renewed++;
    }
    CHECK(n, renewed > 0);
    /* Each node waits on its own memory, and leaves when it has seen that both are done. */
    for (uint32_t node = 0; node < 2; node++)
        CHECK(n, loco_atomic_fetch_add(loco_atomic_at(&s.words, node, TALLY_OUT), 1, &value) == 0);
    while (tally_at(&s, n->id, TALLY_OUT) < 2 && !loco_relax(n->mgr, &wait))
        ;
    site_leave(&s);
}

ON_EACH_FABRIC(lost_node_at_lock, 3, lost_body, &words_at_lock)
ON_EACH_FABRIC(lost_node_at_inserter, 3, lost_body, &words_at_inserter)

/* Node 1 leaves while it holds one of node 0's locks. */
static void orphan_body(struct node *n)
{
    struct site s;
    uint64_t old, key = 0;
    struct loco_kv_op probe = {.hash = kv_hash(key)};

    site_open(&s, n, &impatient);
    for (; probe.hash = kv_hash(key), kv_lock_find(&probe, &s.kv), probe.lock_host != 0; key++)
        ;
    if (n->id == 0)
        CHECK(n, insert8(&s, key, 4) == 0);
    meet(&s);
    if (n->id == 1) {
        CHECK(n, loco_atomic_fetch_add(kv_lock_word(&probe, &s.kv), KV_LOCK_TAKE, &old) == 0);
        meet(&s);
        site_leave(&s);
        return;
    }
    meet(&s);
    CHECK(n, update8(&s, key, 5) == -EOWNERDEAD);
    CHECK(n, reads(&s, key, 4));
    CHECK(n, loco_kvstore_delete(&s.kv, key) == -EOWNERDEAD);
    site_leave(&s);
}

ON_EACH_FABRIC(orphaned_lock, 2, orphan_body, NULL)
