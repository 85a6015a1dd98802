/* Tests of the base channels on every fabric. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <xxhash.h>

#include "channels/loco/agreement.h"
#include "channels/loco/owned_var_quick.h"
#include "channels/thread_links.h"
#include "tests/nodes.h"

#define ON_EACH_FABRIC(test_name, count, body)                                                     \
    Test(channels, test_name##_sim)                                                                \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_SIM, count, body, NULL), 0);                                     \
    }                                                                                              \
    Test(channels, test_name##_threads)                                                            \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_THREADS, count, body, NULL), 0);                                 \
    }                                                                                              \
    Test(channels, test_name##_one_process)                                                        \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_ONE_PROCESS, count, body, NULL), 0);                             \
    }                                                                                              \
    Test(channels, test_name##_processes)                                                          \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_PROCESSES, count, body, NULL), 0);                               \
    }

static void wait_until(struct node *n, uint64_t *word, uint64_t value)
{
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);

    while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
        if (loco_relax(n->mgr, &wait)) {
            CHECK(n, !"the word never came");
            return;
        }
}

/* --- shared_region: each writes its id into everybody's copy, at its own place ----------- */

static void region_body(struct node *n)
{
    struct loco_shared_region r;
    uint64_t mine = n->id + 100;

    CHECK(n, loco_shared_region_init(&r, n->mgr, NULL, "r", LOCO_ALL, 8 * n->count) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    uint64_t *local = loco_shared_region_local(&r);
    for (uint32_t peer = 0; peer < n->count; peer++) {
        if (peer == n->id)
            continue;
        struct loco_ack ack = loco_shared_region_write(&r, peer, 8 * n->id, &mine, 8);
        CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
    }
    for (uint32_t peer = 0; peer < n->count; peer++)
        if (peer != n->id)
            wait_until(n, &local[peer], peer + 100);

    /* Each node reads its id back from the next node's copy. */
    uint32_t next = (n->id + 1) % n->count;
    uint64_t *block = loco_mem_ref_take(n->mgr);
    struct loco_ack ack = loco_shared_region_read(&r, next, 8 * n->id, block, 8);
    CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
    CHECK(n, *block == mine);
    loco_mem_ref_put(n->mgr, block);

    /* Accesses outside of the region, or to no member, fail. */
    CHECK(n, loco_shared_region_write(&r, next, 8 * n->count, &mine, 8).error == -ERANGE);
    CHECK(n, loco_shared_region_write(&r, next, SIZE_MAX - 3, &mine, 8).error == -ERANGE);
    CHECK(n, loco_shared_region_write(&r, 99, 0, &mine, 8).error == -EINVAL);

    struct loco_barrier end;
    CHECK(n, loco_barrier_init(&end, n->mgr, NULL, "end", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, loco_barrier_wait(&end) == 0);
    loco_barrier_fini(&end);
    loco_shared_region_fini(&r);
}

ON_EACH_FABRIC(shared_region, 3, region_body)

/* --- owned_var: word and above, push and pull --------------------------------------------- */

struct large {
    uint64_t words[20];
};

static void var_body(struct node *n)
{
    struct loco_owned_var word, large;
    struct loco_barrier bar;
    struct large value = {{0}}, got;
    uint64_t last = 0;

    CHECK(n, loco_owned_var_init(&word, n->mgr, NULL, "word", 0, LOCO_ALL, 8) == 0);
    CHECK(n, loco_owned_var_init(&large, n->mgr, NULL, "large", 0, LOCO_ALL, sizeof value) == 0);
    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, loco_owned_var_load(&word, &last) == 0 && last == 0);

    /* A reader never sees halves of two values, nor an older value after a newer one. */
    enum { ROUNDS = 2000 };
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);
    for (uint64_t i = 1; n->id == 0 && i <= ROUNDS; i++) {
        for (int w = 0; w < 20; w++)
            value.words[w] = i * 1000 + (uint64_t)w;
        loco_owned_var_store(&large, &value);
        struct loco_ack ack = loco_owned_var_push(&large);
        CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
    }
    while (n->id != 0 && last < ROUNDS) {
        if (loco_owned_var_load(&large, &got) == 0) {
            uint64_t i = got.words[0] / 1000;
            CHECK(n, i >= last);
            for (int w = 0; i > 0 && w < 20; w++)
                CHECK(n, got.words[w] == i * 1000 + (uint64_t)w);
            last = i;
        }
        if (n->failures > 10 || loco_relax(n->mgr, &wait))
            break;
    }
    CHECK(n, n->id == 0 || last == ROUNDS);

    /* A pull gets a word that the owner only stored. */
    uint64_t seven = 7, seen = 0;
    if (n->id == 0)
        loco_owned_var_store(&word, &seven);
    CHECK(n, loco_barrier_wait(&bar) == 0);
    if (n->id != 0) {
        CHECK(n, loco_owned_var_load(&word, &seen) == 0 && seen == 0);
        struct loco_ack ack = loco_owned_var_pull(&word);
        CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
        CHECK(n, loco_owned_var_load(&word, &seen) == 0 && seen == 7);
    }
    CHECK(n, loco_barrier_wait(&bar) == 0);

    /* So does one that waits for a limited time. */
    seven = 8;
    if (n->id == 0)
        loco_owned_var_store(&word, &seven);
    CHECK(n, loco_barrier_wait(&bar) == 0);
    if (n->id != 0) {
        struct loco_ack ack = loco_owned_var_pull_timed(&word, TEST_TIMEOUT);
        CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
        CHECK(n, loco_owned_var_load(&word, &seen) == 0 && seen == 8);
    }
    CHECK(n, loco_barrier_wait(&bar) == 0);
    loco_barrier_fini(&bar);
    loco_owned_var_fini(&large);
    loco_owned_var_fini(&word);
}

ON_EACH_FABRIC(owned_var, 3, var_body)

/* Values of three words go to the only reader by the quick way if possible, alternating with the
 * general way. Every value is whole in both ways. */
static void quick_put(struct node *n, struct loco_owned_var *v, uint64_t i)
{
    const struct loco_triple value = {i, 2 * i, 3 * i};
    const uint32_t life = loco_quick_begin(n->mgr->fabric);
    struct loco_quick_owner owner;

    if (i % 2 == 0 && life && loco_quick_owner_init(&owner, v, life)) {
        loco_quick_put(&owner, value);
        return;
    }
    struct loco_ack ack = loco_owned_var_put(v, &value);
    CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
}

static bool quick_get(struct loco_owned_var *v, bool quickly, struct loco_triple *value)
{
    struct loco_quick_reader reader;

    return quickly && loco_quick_reader_init(&reader, v) ? loco_quick_load(&reader, value)
                                                         : loco_owned_var_load(v, value) == 0;
}

static void quick_body(struct node *n)
{
    enum { ROUNDS = 2000 };
    struct loco_owned_var v;
    struct loco_barrier bar;
    struct loco_quick_owner owner;
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);
    struct loco_triple got = {0};
    uint64_t last = 0;

    CHECK(n, loco_owned_var_init(&v, n->mgr, NULL, "v", 0, LOCO_ALL, sizeof got) == 0);
    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, !loco_quick_owner_init(&owner, &v, 1)); /* the variable has not been pushed */
    for (uint64_t i = 1; n->id == 0 && i <= ROUNDS; i++)
        quick_put(n, &v, i);
    for (unsigned look = 0; n->id != 0 && last < ROUNDS; look++) {
        if (quick_get(&v, look % 2, &got)) {
            CHECK(n, got.first >= last && got.second == 2 * got.first);
            CHECK(n, got.third == 3 * got.first);
            last = got.first;
        }
        if (n->failures > 10 || loco_relax(n->mgr, &wait))
            break;
    }
    CHECK(n, n->id == 0 || last == ROUNDS);
    CHECK(n, n->id != 0 || (loco_owned_var_load(&v, &got) == 0 && got.third == 3 * ROUNDS));
    CHECK(n, loco_barrier_wait(&bar) == 0);
    loco_barrier_fini(&bar);
    loco_owned_var_fini(&v);
}

ON_EACH_FABRIC(owned_var_quickly, 2, quick_body)

/* A variable is either pushed or pulled, whichever comes first. It can be read from its owner in
 * any case. */
static void refused_body(struct node *n)
{
    struct loco_owned_var pushed, pulled;
    struct loco_barrier bar;
    struct large value = {{5, 6}}, got = {{0}};
    uint64_t seven = 7, word = 0;

    CHECK(n, loco_owned_var_init(&pushed, n->mgr, NULL, "pushed", 0, LOCO_ALL, sizeof value) == 0);
    CHECK(n, loco_owned_var_init(&pulled, n->mgr, NULL, "pulled", 0, LOCO_ALL, 8) == 0);
    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == 0) {
        loco_owned_var_store(&pushed, &value);
        CHECK(n, loco_owned_var_push(&pushed).error == 0);
        CHECK(n, loco_owned_var_pull(&pulled).error == -EINVAL);
    } else {
        struct loco_ack ack = loco_owned_var_pull(&pulled);
        CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
        CHECK(n, loco_owned_var_push(&pushed).error == -EINVAL);
    }
    CHECK(n, loco_barrier_wait(&bar) == 0);
    value.words[0] = seven;
    if (n->id == 0) {
        CHECK(n, loco_owned_var_push(&pulled).error == -EOPNOTSUPP);
        loco_owned_var_store(&pulled, &seven);
        loco_owned_var_store(&pushed, &value); /* without a push */
    } else {
        CHECK(n, loco_owned_var_pull(&pushed).error == -EOPNOTSUPP);
    }
    CHECK(n, loco_barrier_wait(&bar) == 0);
    CHECK(n, loco_owned_var_read(&pushed, &got) == 0);
    CHECK(n, memcmp(&got, &value, sizeof got) == 0);
    CHECK(n, loco_owned_var_read(&pulled, &word) == 0 && word == seven);
    CHECK(n, loco_owned_var_load(&pushed, &got) == 0 && got.words[0] == (n->id == 0 ? seven : 5));
    CHECK(n, loco_owned_var_load(&pulled, &word) == 0 && word == (n->id == 0 ? seven : 0));
    CHECK(n, loco_barrier_wait(&bar) == 0);
    loco_barrier_fini(&bar);
    loco_owned_var_fini(&pulled);
    loco_owned_var_fini(&pushed);
}

ON_EACH_FABRIC(owned_var_is_pushed_or_pulled, 3, refused_body)

/* A value that is stored all the time is read and pulled whole: all its words are equal. */
static bool all_same(const struct large *value)
{
    for (int w = 1; w < 20; w++)
        if (value->words[w] != value->words[0])
            return false;
    return true;
}

static void store_all_the_time(struct node *n, struct loco_owned_var *a, struct loco_owned_var *b,
                               struct loco_owned_var *over)
{
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);
    struct large value;
    uint64_t ended = 0;

    for (uint64_t i = 1; ended == 0; i++) {
        for (int w = 0; w < 20; w++)
            value.words[w] = i;
        loco_owned_var_store(a, &value);
        struct loco_ack ack = loco_owned_var_push(a);
        CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
        loco_owned_var_store(b, &value);
        CHECK(n, loco_owned_var_load(over, &ended) == 0);
        if (n->failures > 10 || loco_relax(n->mgr, &wait))
            return;
    }
}

static void get_all_the_time(struct node *n, struct loco_owned_var *a, struct loco_owned_var *b)
{
    struct large got;
    uint64_t last = 0, whole = 0;

    for (int i = 0; i < 500; i++) {
        if (loco_owned_var_read(a, &got) == 0) {
            CHECK(n, all_same(&got) && got.words[0] >= last);
            last = got.words[0];
            whole++;
        }
        struct loco_ack ack = loco_owned_var_pull(b);
        CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
        if (loco_owned_var_load(b, &got) == 0) {
            CHECK(n, all_same(&got));
            whole++;
        }
    }
    CHECK(n, whole > 0);
}

static void whole_body(struct node *n)
{
    const uint64_t yes = 1;
    struct loco_owned_var pushed, pulled, over;
    struct loco_barrier end;

    CHECK(n, loco_owned_var_init(&pushed, n->mgr, NULL, "pushed", 0, LOCO_ALL, 160) == 0);
    CHECK(n, loco_owned_var_init(&pulled, n->mgr, NULL, "pulled", 0, LOCO_ALL, 160) == 0);
    CHECK(n, loco_owned_var_init(&over, n->mgr, NULL, "over", 1, LOCO_ALL, 8) == 0);
    CHECK(n, loco_barrier_init(&end, n->mgr, NULL, "end", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == 0) {
        store_all_the_time(n, &pushed, &pulled, &over);
    } else {
        get_all_the_time(n, &pushed, &pulled);
        loco_owned_var_store(&over, &yes);
        struct loco_ack ack = loco_owned_var_push(&over);
        CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
    }
    CHECK(n, loco_barrier_wait(&end) == 0); /* until then the other node stores and pushes */
    loco_barrier_fini(&end);
    loco_owned_var_fini(&over);
    loco_owned_var_fini(&pulled);
    loco_owned_var_fini(&pushed);
}

ON_EACH_FABRIC(owned_var_is_read_and_pulled_whole, 2, whole_body)

/* A value whose check word does not match is never returned. */
static void torn_body(struct node *n)
{
    struct loco_owned_var v;
    struct large value = {{1, 2, 3}}, got;

    CHECK(n, loco_owned_var_init(&v, n->mgr, NULL, "v", 0, LOCO_ALL, sizeof value) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, loco_owned_var_load(&v, &got) == 0 && got.words[19] == 0);
    loco_owned_var_store(&v, &value);
    CHECK(n, loco_owned_var_load(&v, &got) == 0 && got.words[2] == 3);
    ((uint64_t *)v.region->memory)[20] ^= 1;
    const bool is_told = !(n->mgr->fabric->capabilities & LOCO_WHOLE);
    CHECK(n, loco_owned_var_load(&v, &got) == (is_told ? -EAGAIN : 0));
    loco_owned_var_fini(&v);
}

ON_EACH_FABRIC(torn_value, 1, torn_body)

/* --- sst ------------------------------------------------------------------------------------ */

static void sst_body(struct node *n)
{
    struct loco_sst sst;
    struct loco_barrier bar;
    uint32_t mine = 10 + n->id, got, rows = 0;

    CHECK(n, loco_sst_init(&sst, n->mgr, NULL, "sst", LOCO_ALL, sizeof mine) == 0);
    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, strcmp(loco_sst_row(&sst, n->id)->channel.name, n->id ? "sst/ov1" : "sst/ov0") == 0 ||
                 n->id > 1);
    loco_sst_store_mine(&sst, &mine);
    loco_sst_push_broadcast(&sst);
    CHECK(n, loco_barrier_wait(&bar) == 0);
    loco_sst_each (&sst, row) {
        CHECK(n, loco_owned_var_load(row, &got) == 0 && got == 10 + row->owner);
        rows++;
    }
    CHECK(n, rows == n->count);
    CHECK(n, loco_barrier_wait(&bar) == 0);
    loco_barrier_fini(&bar);
    loco_sst_fini(&sst);
}

ON_EACH_FABRIC(sst, 4, sst_body)

/* --- barrier: no node is a round ahead of one that has not arrived ------------------------- */

static void start_near_the_wrap(struct node *n, struct loco_barrier *bar)
{
    bar->count = UINT32_MAX - 50;
    loco_sst_store_mine(&bar->sst, &bar->count);
    loco_sst_push_broadcast(&bar->sst);
    loco_sst_each (&bar->sst, row) {
        struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);
        uint32_t theirs = 0;
        while (theirs < bar->count && !loco_relax(n->mgr, &wait))
            loco_owned_var_load(row, &theirs);
        CHECK(n, theirs >= bar->count);
    }
}

static void barrier_body(struct node *n)
{
    struct loco_shared_region r;
    struct loco_barrier bar;

    CHECK(n, loco_shared_region_init(&r, n->mgr, NULL, "r", LOCO_ALL, 8 * n->count) == 0);
    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    start_near_the_wrap(n, &bar);
    uint64_t *local = loco_shared_region_local(&r);
    for (uint64_t round = 1; round <= 200; round++) {
        for (uint32_t peer = 0; peer < n->count; peer++)
            if (peer != n->id) /* not waited for: the barrier's fence does that */
                loco_shared_region_write(&r, peer, 8 * n->id, &round, 8);
        CHECK(n, loco_barrier_wait(&bar) == 0);
        for (uint32_t peer = 0; peer < n->count; peer++)
            CHECK(n, peer == n->id || __atomic_load_n(&local[peer], __ATOMIC_RELAXED) >= round);
        if (n->failures > 10)
            break;
    }
    CHECK(n, loco_barrier_wait(&bar) == 0);
    loco_barrier_fini(&bar);
    loco_shared_region_fini(&r);
}

ON_EACH_FABRIC(barrier, 4, barrier_body)

/* Node 0 arrives only when node 1 says so, which node 1 does after its wait has timed out. */
static void barrier_timed_body(struct node *n)
{
    struct loco_shared_region r;
    struct loco_barrier bar;
    const uint64_t go = 1;

    CHECK(n, loco_shared_region_init(&r, n->mgr, NULL, "r", LOCO_ALL, 8) == 0);
    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == 0) {
        const uint64_t *told = loco_shared_region_local(&r);
        struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);
        while (!__atomic_load_n(told, __ATOMIC_ACQUIRE) && !loco_relax(n->mgr, &wait))
            ;
    } else {
        CHECK(n, loco_barrier_timed(&bar, 20000) == -ETIMEDOUT);
        CHECK(n, loco_barrier_timed(&bar, 20000) == -ETIMEDOUT);
        loco_shared_region_write(&r, 0, 0, &go, sizeof go);
    }
    for (int round = 0; round < 3; round++) /* node 1 has already arrived at the first round */
        CHECK(n, loco_barrier_timed(&bar, TEST_TIMEOUT) == 0);
    CHECK(n, bar.count == 3);
    loco_barrier_fini(&bar);
    loco_shared_region_fini(&r);
}

ON_EACH_FABRIC(barrier_waits_for_so_long, 2, barrier_timed_body)

/* --- errors --------------------------------------------------------------------------------- */

static void disagree(struct node *n, size_t size)
{
    struct loco_owned_var v;

    CHECK(n, loco_owned_var_init(&v, n->mgr, NULL, "v", 0, LOCO_ALL, size) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == -EPROTO);
    CHECK(n, node_logged(n, "v.v"));
    struct loco_wait wait = loco_wait_for(n->mgr, 50000000);
    while (!loco_relax(n->mgr, &wait))
        ; /* both nodes have to see the other's message */
    loco_owned_var_fini(&v);
    CHECK(n, loco_manager_ready(n->mgr, 0) == 0); /* the error ends with the endpoint */
}

static void mismatch_body(struct node *n)
{
    disagree(n, n->id ? 8 : 4);
}

ON_EACH_FABRIC(size_mismatch_is_named_at_both, 2, mismatch_body)

/* The sizes have the same number of words, but not of bytes. */
static void slight_mismatch_body(struct node *n)
{
    disagree(n, n->id ? 24 : 20);
}

ON_EACH_FABRIC(slight_size_mismatch_is_named_at_both, 2, slight_mismatch_body)

/* Each kind of channel with another option at node 1, which no size of a region shows. */
struct differing {
    struct loco_atomic_var var;
    struct loco_ticket_lock lock;
    struct loco_shared_queue queue;
    struct loco_ringbuffer ring;
    struct loco_kvstore store;
};

static void expect_difference(struct node *n, const char *channel, const char *option)
{
    char text[100];

    snprintf(text, sizeof text, "channel %s: node %u does not agree: '%s=", channel, 1 - n->id,
             option);
    AWAIT(n, node_logged(n, text));
}

static void options_body(struct node *n)
{
    const struct loco_kvstore_config config = {
        .value_size = 8,
        .capacity = 64,
        .placement = n->id ? LOCO_KV_AT_INSERTER : LOCO_KV_AT_LOCK,
    };
    struct differing d;

    CHECK(n, loco_atomic_var_init(&d.var, n->mgr, NULL, "a", n->id, LOCO_ALL, 0) == 0);
    CHECK(n, loco_ticket_lock_init(&d.lock, n->mgr, NULL, "l", n->id, LOCO_ALL, 0) == 0);
    CHECK(n, loco_shared_queue_init(&d.queue, n->mgr, NULL, "q", n->id, LOCO_ALL, 4, 8) == 0);
    CHECK(n, loco_ringbuffer_init(&d.ring, n->mgr, NULL, "r", 0, LOCO_ALL, 256, 8 + n->id) == 0);
    CHECK(n, loco_kvstore_init(&d.store, n->mgr, NULL, "kv", &config) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == -EPROTO);
    expect_difference(n, "a", "host");
    expect_difference(n, "l", "host");
    expect_difference(n, "q", "host");
    expect_difference(n, "r", "message_max");
    expect_difference(n, "kv", "placement");
    struct loco_wait wait = loco_wait_for(n->mgr, 50000000);
    while (!loco_relax(n->mgr, &wait))
        ; /* both nodes have to see the other's message */
    loco_kvstore_fini(&d.store);
    loco_ringbuffer_fini(&d.ring);
    loco_shared_queue_fini(&d.queue);
    loco_ticket_lock_fini(&d.lock);
    loco_atomic_var_fini(&d.var);
}

ON_EACH_FABRIC(options_that_differ_are_named_at_both, 2, options_body)

/* Endpoints that must agree on texts: node 0's, and that of the others. */
struct texts {
    const char *first, *others;
};

static void agree(struct node *n, struct loco_channel *c)
{
    const struct texts *texts = n->arg;
    const char *lines = n->id == 0 ? texts->first : texts->others;
    const struct loco_agreement agreement = {lines, strlen(lines),
                                             XXH3_64bits(lines, strlen(lines))};

    CHECK(n, loco_channel_init(c, n->mgr, NULL, "c", LOCO_ALL, NULL) == 0);
    loco_channel_agree(c, &agreement);
    loco_channel_join(c);
}

static void agreed_body(struct node *n)
{
    struct loco_channel c;

    agree(n, &c);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    loco_channel_fini(&c);
}

/* A node that has found the differing line leaves, without waiting for the other to find it. Only
 * on the sim can the news of its leaving overtake its last message. */
static void expect_refused(struct node *n, const char *at_first, const char *at_others)
{
    struct loco_channel c;

    agree(n, &c);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == -EPROTO);
    CHECK(n, node_logged(n, n->id == 0 ? at_first : at_others));
    struct loco_wait wait = loco_wait_for(n->mgr, 50000000);
    while (n->where == ON_SIM && !loco_relax(n->mgr, &wait))
        ;
    loco_channel_fini(&c);
}

static void disagreed_body(struct node *n)
{
    expect_refused(n, "node 1 does not agree: 'key=40' here, 'key=50' there",
                   "node 0 does not agree: 'key=50' here, 'key=40' there");
}

static void longer_body(struct node *n)
{
    expect_refused(n, "'more=1' here, '' there", "'' here, 'more=1' there");
}

/* Only the kept part of a line is compared. The hash detects other differences. */
static void unnamed_body(struct node *n)
{
    expect_refused(n, "'' here, '' there", "'' here, '' there");
}

static const enum where each_fabric[] = {ON_SIM, ON_THREADS, ON_PROCESSES};

static int run_texts(void (*body)(struct node *n), const char *first, const char *others)
{
    struct texts texts = {first, others};
    int failures = 0;

    for (int i = 0; i < 3; i++)
        failures += run_nodes(each_fabric[i], 2, body, &texts);
    return failures;
}

Test(agreement, endpoints_that_agree_connect)
{
    cr_expect_eq(run_texts(agreed_body, "key=40\n", "key=40\n"), 0);
}

Test(agreement, the_line_that_differs_is_named_at_both)
{
    cr_expect_eq(run_texts(disagreed_body, "name=a\nkey=40\nx=1\n", "name=a\nkey=50\nx=2\n"), 0);
}

/* A text longer than any message. */
Test(agreement, the_line_is_found_far_down_as_well)
{
    static char first[60000], others[sizeof first];
    char *at = first;

    for (unsigned i = 0; i < 2000; i++)
        at += sprintf(at, "some.key.%u=%u\n", i, i * i);
    strcpy(others, first);
    strcat(first, "key=40\n");
    strcat(others, "key=50\n");
    cr_expect_eq(run_texts(disagreed_body, first, others), 0);
}

Test(agreement, a_text_may_be_the_others_beginning)
{
    cr_expect_eq(run_texts(longer_body, "key=40\nmore=1\n", "key=40\n"), 0);
    cr_expect_eq(run_texts(longer_body, "more=1\n", ""), 0);
}

Test(agreement, lines_that_differ_at_their_far_ends_only_end_it_too)
{
    char first[LOCO_LINE_MAX + 20], others[sizeof first];

    memset(first, 'x', sizeof first);
    strcpy(first + sizeof first - 3, "a\n");
    memcpy(others, first, sizeof first);
    strcpy(others + sizeof first - 3, "b\n");
    cr_expect_eq(run_texts(unnamed_body, first, others), 0);
}

static void missing_body(struct node *n)
{
    struct loco_barrier company;
    struct loco_owned_var v;

    CHECK(n, loco_barrier_init(&company, n->mgr, NULL, "company", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == 0) {
        CHECK(n, loco_owned_var_init(&v, n->mgr, NULL, "lonely", 0, LOCO_ALL, 8) == 0);
        CHECK(n, loco_manager_ready(n->mgr, 200000000) == -ETIMEDOUT);
        CHECK(n, node_logged(n, "lonely") && node_logged(n, " 1 2"));
        uint64_t one = 1;
        CHECK(n, loco_region_write(v.region, 0, 0, &one, 8).error == -ENOTCONN);
        loco_owned_var_fini(&v);
    }
    CHECK(n, loco_barrier_wait(&company) == 0);
    loco_barrier_fini(&company);
}

ON_EACH_FABRIC(absent_peers_are_named, 3, missing_body)

/* A peer that leaves while others wait at the barrier ends their wait. */
static void leaver_body(struct node *n)
{
    struct loco_barrier bar;

    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, loco_barrier_wait(&bar) == 0);
    if (n->id != 1)
        CHECK(n, loco_barrier_wait(&bar) == -ECONNRESET);
    loco_barrier_fini(&bar);
}

ON_EACH_FABRIC(barrier_survives_a_leaver, 2, leaver_body)

/* Node 0 calls before node 1 has constructed its endpoint, which it does when node 0 says so. */
static void early_barrier_body(struct node *n)
{
    struct loco_shared_region r;
    struct loco_barrier bar;
    const uint64_t go = 1;

    CHECK(n, loco_shared_region_init(&r, n->mgr, NULL, "r", LOCO_ALL, 8) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    const uint64_t *told = loco_shared_region_local(&r);
    if (n->id == 1)
        AWAIT(n, __atomic_load_n(told, __ATOMIC_ACQUIRE));
    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    if (n->id == 0) {
        CHECK(n, loco_barrier_timed(&bar, TEST_TIMEOUT) == -ENOTCONN);
        CHECK(n, loco_barrier_arrive(&bar) == -ENOTCONN);
        CHECK(n, loco_barrier_passed(&bar) == 0);
        loco_shared_region_write(&r, 1, 0, &go, sizeof go);
    }
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    for (int round = 0; round < 3; round++)
        CHECK(n, loco_barrier_timed(&bar, TEST_TIMEOUT) == 0);
    CHECK(n, bar.count == 3);
    loco_barrier_fini(&bar);
    loco_shared_region_fini(&r);
}

ON_EACH_FABRIC(barrier_refuses_to_begin_unconnected, 2, early_barrier_body)

/* --- nodes that share no channel do not connect --------------------------------------------- */

static unsigned peers_up(const struct node *n)
{
    unsigned up = 0;

    pthread_mutex_lock(&n->mgr->lock);
    for (uint32_t peer = 0; peer < n->count; peer++) {
        const struct loco_peer *p = loco_by_node_find(&n->mgr->peers, peer);
        up += p && p->up;
    }
    pthread_mutex_unlock(&n->mgr->lock);
    return up;
}

static unsigned links(const struct node *n)
{
    unsigned count = 0;

    for (uint32_t peer = 0; peer < n->count; peer++)
        count += loco_thread_link(loco_self(n->mgr), peer) != NULL;
    return count;
}

enum { RIM = 5 };

/* A node on the rim waits only for the hub. But when it leaves the second round it knows that the
 * hub has left the first, so that all nodes have come that far. */
static void await_all(struct node *n, struct loco_barrier *all)
{
    for (int round = 0; round < 2; round++)
        CHECK(n, loco_barrier_wait(all) == 0);
}

/* A star, and a channel that two nodes of its rim construct later, when all nodes have checked
 * their links. */
static void star_body(struct node *n)
{
    const uint32_t hub = 0, rim[RIM] = {1, 2, 3, 4, 5}, one = 1, two = 2;
    const struct loco_members star =
        n->id == hub ? (struct loco_members){rim, RIM} : (struct loco_members){&hub, 1};
    const bool pairs = n->id == one || n->id == two;
    struct loco_barrier all, pair;

    CHECK(n, loco_barrier_init(&all, n->mgr, NULL, "all", star) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    await_all(n, &all);
    CHECK(n, peers_up(n) == (n->id == hub ? RIM : 1));
    CHECK(n, links(n) == 1 + (n->id == hub ? RIM : 1)); /* plus one to itself */
    await_all(n, &all);

    if (pairs) {
        CHECK(n, loco_barrier_init(&pair, n->mgr, NULL, "pair",
                                   (struct loco_members){n->id == one ? &two : &one, 1}) == 0);
        CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
        CHECK(n, loco_barrier_wait(&pair) == 0);
        loco_barrier_fini(&pair);
    }
    await_all(n, &all); /* places what the two wrote to each other before one of them leaves */
    CHECK(n, pairs || peers_up(n) <= (n->id == hub ? RIM : 1)); /* some nodes may have left */
    loco_barrier_fini(&all);
}

ON_EACH_FABRIC(who_shares_no_channel_does_not_meet, 1 + RIM, star_body)

static void names_body(struct node *n)
{
    struct loco_channel a, b;

    CHECK(n, loco_channel_init(&a, n->mgr, NULL, "a", LOCO_ALL, NULL) == 0);
    CHECK(n, loco_channel_init(&b, n->mgr, NULL, "a", LOCO_ALL, NULL) == -EEXIST);
    CHECK(n, loco_channel_init(&b, n->mgr, &a, "a", LOCO_ALL, NULL) == 0);
    CHECK(n, strcmp(b.name, "a/a") == 0);
    loco_channel_fini(&b);
    CHECK(n, loco_channel_init(&b, n->mgr, NULL, "a/b", LOCO_ALL, NULL) == -EINVAL);
    CHECK(n, loco_channel_init(&b, n->mgr, NULL, "a.b", LOCO_ALL, NULL) == -EINVAL);
    CHECK(n, loco_channel_init(&b, n->mgr, NULL, "", LOCO_ALL, NULL) == -EINVAL);
    loco_channel_fini(&a);
    CHECK(n, loco_channel_init(&a, n->mgr, NULL, "a", LOCO_ALL, NULL) == 0);
    loco_channel_fini(&a);
    CHECK(n, loco_thread_attach(n->mgr) == -EEXIST);
}

ON_EACH_FABRIC(names, 1, names_body)

/* The join lists the regions, so no member would ever hear of one that is added later. */
static void late_region_body(struct node *n)
{
    struct loco_channel c;
    struct loco_region *region = NULL;
    char names[17][4];

    CHECK(n, loco_channel_init(&c, n->mgr, NULL, "c", LOCO_ALL, NULL) == 0);
    CHECK(n, loco_channel_region(&c, "of_16_characters", 8, &region) == -EINVAL);
    for (int i = 0; i <= 16; i++) {
        snprintf(names[i], sizeof names[i], "r%d", i);
        CHECK(n, loco_channel_region(&c, names[i], 8, &region) == (i < 16 ? 0 : -EINVAL));
    }
    loco_channel_fini(&c);
    CHECK(n, loco_channel_init(&c, n->mgr, NULL, "c", LOCO_ALL, NULL) == 0);
    loco_channel_join(&c);
    CHECK(n, loco_channel_region(&c, "late", 8, &region) == -EINVAL);
    loco_channel_fini(&c);
}

ON_EACH_FABRIC(regions_are_few_and_cut_before_the_join, 1, late_region_body)
