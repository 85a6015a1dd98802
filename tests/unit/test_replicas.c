/* Tests of the key-value store with replicas, when nodes are lost. tests/sim tests linearizability
 * under chaos, and tests/sim/soak_killed.c kills processes. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "channels/kvstore/kvstore_locks.h"
#include "channels/kvstore/kvstore_record.h"
#include "channels/kvstore/kvstore_view.h"
#include "tests/unit/tracker.h"

#define ON_EACH_FABRIC(test_name, count, body, arg)                                                \
    Test(replicas, test_name##_sim)                                                                \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_SIM, count, body, arg), 0);                                      \
    }                                                                                              \
    Test(replicas, test_name##_threads)                                                            \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_THREADS, count, body, arg), 0);                                  \
    }                                                                                              \
    Test(replicas, test_name##_processes)                                                          \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_PROCESSES, count, body, arg), 0);                                \
    }

/* --- a node ---------------------------------------------------------------------------------- */

struct site {
    struct node *n;
    struct loco_kvstore kv;
    struct loco_sst progress; /* it outlives members */
    struct tracker tracker;
};

static void site_open(struct site *s, struct node *n, struct loco_kvstore_config config)
{
    s->n = n;
    config.value_size = 8;
    config.capacity = 64;
    CHECK(n, loco_sst_init(&s->progress, n->mgr, NULL, "progress", LOCO_ALL, 8) == 0);
    CHECK(n, loco_kvstore_init(&s->kv, n->mgr, NULL, "kv", &config) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
}

static void site_close(struct site *s)
{
    tracker_end(&s->tracker);
    loco_kvstore_fini(&s->kv);
    loco_sst_fini(&s->progress);
}

static uint64_t stage_of(const struct site *s, uint32_t node)
{
    const struct loco_owned_var *row = loco_sst_row(&s->progress, node);
    uint64_t stage = 0;

    if (row)
        loco_owned_var_load(row, &stage);
    return stage;
}

/* Waits until each of the first `count` nodes has come this far. A node that comes back learns of
 * the others' progress when they push again. */
static void meet(struct site *s, uint64_t stage, uint32_t count)
{
    loco_sst_store_mine(&s->progress, &stage);
    loco_sst_push_broadcast(&s->progress);
    CHECK(s->n, loco_fence_global(s->n->mgr) != -ETIMEDOUT);
    for (uint32_t node = 0; node < count; node++)
        AWAIT(s->n, stage_of(s, node) >= stage, loco_sst_push_broadcast(&s->progress));
}

/* Whether the store has lost the node, be it back or not. */
static bool has_lost(const struct site *s, uint32_t node)
{
    return kv_view_has_lost(s->kv.view, node);
}

/* The last of `count` nodes dies, and the others learn of it. Returns whether this node lives. */
static bool last_dies(struct site *s, uint32_t count)
{
    if (s->n->id < count - 1) {
        AWAIT(s->n, has_lost(s, count - 1));
        return true;
    }
    node_die(s->n);
    return false;
}

static bool reads(struct site *s, uint64_t key, uint64_t value)
{
    uint64_t got = 0;

    return loco_kvstore_read(&s->kv, key, &got) == 0 && got == value;
}

/* --- as many nodes as there are replicas -------------------------------------------------------
 */

enum { NODES = 5, REPLICAS = 2 };

static bool updates(struct site *s, uint64_t key, uint64_t value)
{
    return loco_kvstore_update(&s->kv, key, &value) == 0;
}

static bool inserts(struct site *s, uint64_t key, uint64_t value)
{
    return loco_kvstore_insert(&s->kv, key, &value) == 0;
}

/* `living` nodes use the keys of all hosts. Each key has one value more than before. */
static void use_all_keys(struct site *s, uint64_t stage, uint32_t living, uint64_t value)
{
    for (uint32_t host = 0; host < NODES; host++)
        CHECK(s->n, reads(s, key_at(&s->kv, host), value));
    meet(s, stage, living);
    for (uint32_t host = s->n->id; host < NODES; host += living)
        CHECK(s->n, updates(s, key_at(&s->kv, host), value + 1));
    meet(s, stage + 1, living);
    for (uint32_t host = 0; host < NODES; host++)
        CHECK(s->n, reads(s, key_at(&s->kv, host), value + 1));
    meet(s, stage + 2, living);
}

static void two_die_body(struct node *n)
{
    struct site s;

    if (n->life > 0)
        return;
    site_open(&s, n, (struct loco_kvstore_config){.replicas = REPLICAS, .owner_ns = TEST_TIMEOUT});
    tracker_begin(&s.tracker, n, &s.kv);
    CHECK(n, inserts(&s, key_at(&s.kv, n->id), 1));
    meet(&s, 1, NODES);
    use_all_keys(&s, 2, NODES, 1);
    if (last_dies(&s, NODES)) {
        use_all_keys(&s, 5, NODES - 1, 2);
        if (last_dies(&s, NODES - 1))
            use_all_keys(&s, 8, NODES - 2, 3);
    }
    site_close(&s);
}

ON_EACH_FABRIC(two_lost_nodes_cost_nothing, NODES, two_die_body, NULL)

/* --- more nodes than there are replicas --------------------------------------------------------
 */

/* The key whose two copies are lost can be deleted, and inserted again. All others stay. */
static void use_what_is_left(struct site *s)
{
    const uint64_t lost = key_at(&s->kv, NODES - 2);
    uint64_t got = 0;

    for (uint32_t host = 0; host < NODES; host++)
        CHECK(s->n, host == NODES - 2 || reads(s, key_at(&s->kv, host), 1));
    CHECK(s->n, loco_kvstore_read(&s->kv, lost, &got) == -ECONNRESET);
    CHECK(s->n, loco_kvstore_update(&s->kv, lost, &got) == -ECONNRESET);
    CHECK(s->n, loco_kvstore_insert(&s->kv, lost, &got) == -ECONNRESET);
    meet(s, 2, NODES - 2);
    if (s->n->id == 0) {
        CHECK(s->n, loco_kvstore_delete(&s->kv, lost) == 0);
        CHECK(s->n, loco_kvstore_read(&s->kv, lost, &got) == -ENOENT);
        CHECK(s->n, inserts(s, lost, 5));
    }
    meet(s, 3, NODES - 2);
    CHECK(s->n, reads(s, lost, 5));
    meet(s, 4, NODES - 2);
}

static void both_copies_body(struct node *n)
{
    struct site s;

    if (n->life > 0)
        return;
    site_open(&s, n, (struct loco_kvstore_config){.replicas = 1, .owner_ns = TEST_TIMEOUT});
    tracker_begin(&s.tracker, n, &s.kv);
    CHECK(n, inserts(&s, key_at(&s.kv, n->id), 1));
    meet(&s, 1, NODES);
    if (last_dies(&s, NODES) && last_dies(&s, NODES - 1))
        use_what_is_left(&s);
    site_close(&s);
}

ON_EACH_FABRIC(a_key_without_copies_is_told_apart, NODES, both_copies_body, NULL)

/* --- a loss that not all have heard of ---------------------------------------------------------
 */

enum { THREE = 3, SHORT_NS = 50000000 };

/* Node 1 does not serve its tracker, so that node 0 waits for it. */
static void stands_still_body(struct node *n)
{
    uint64_t value = 1;
    struct site s;

    if (n->life > 0)
        return;
    site_open(&s, n, (struct loco_kvstore_config){.replicas = 1, .owner_ns = SHORT_NS});
    if (n->id != 1)
        tracker_begin(&s.tracker, n, &s.kv);
    else
        AWAIT(n, stage_of(&s, 0) >= 1, loco_kvstore_serve(&s.kv)); /* node 0 inserts a key */
    if (n->id == 0) {
        CHECK(n, inserts(&s, key_at(&s.kv, 0), 1));
        meet(&s, 1, 1);
    }
    meet(&s, 2, THREE);
    if (last_dies(&s, THREE)) {
        if (n->id == 0) {
            CHECK(n, loco_kvstore_read(&s.kv, key_at(&s.kv, 0), &value) == -ECONNRESET);
            CHECK(n, loco_kvstore_update(&s.kv, key_at(&s.kv, 0), &value) == -ECONNRESET);
            CHECK(n, loco_kvstore_insert(&s.kv, key_at(&s.kv, 1), &value) == -ECONNRESET);
        }
        meet(&s, 3, THREE - 1);
        if (n->id == 1)
            tracker_begin(&s.tracker, n, &s.kv);
        AWAIT(n, reads(&s, key_at(&s.kv, 0), 1));
        meet(&s, 4, THREE - 1);
    }
    site_close(&s);
}

ON_EACH_FABRIC(all_wait_for_who_has_not_heard, THREE, stands_still_body, NULL)

/* --- more nodes than may be lost ---------------------------------------------------------------
 */

/* On a network two of three may have lost the third, and go on without it. */
static void alone_body(struct node *n)
{
    struct site s;

    if (n->life > 0)
        return;
    site_open(&s, n, (struct loco_kvstore_config){.replicas = 1, .owner_ns = TEST_TIMEOUT});
    tracker_begin(&s.tracker, n, &s.kv);
    CHECK(n, inserts(&s, key_at(&s.kv, n->id), 1));
    meet(&s, 1, THREE);
    if (last_dies(&s, THREE) && last_dies(&s, THREE - 1)) {
        const int rc = n->fabric->capabilities & LOCO_COHERENT ? 0 : -ECONNRESET;
        const uint64_t key = key_at(&s.kv, 0);
        uint64_t value = 2;
        CHECK(n, loco_kvstore_update(&s.kv, key, &value) == rc);
        CHECK(n, loco_kvstore_read(&s.kv, key, &value) == rc);
        /* The others may have inserted a key meanwhile. */
        CHECK(n, loco_kvstore_read(&s.kv, key + 1000, &value) == (rc ? rc : -ENOENT));
    }
    site_close(&s);
}

ON_EACH_FABRIC(a_minority_stops, THREE, alone_body, NULL)

/* --- a lost node that comes back ----------------------------------------------------------------
 */

/* It is not taken back by the store. When it leaves again, that is no further loss. */
static void comes_back_body(struct node *n)
{
    struct site s = {.n = n};

    if (n->life > 0) { /* it has other channels now */
        CHECK(n, loco_sst_init(&s.progress, n->mgr, NULL, "progress", LOCO_ALL, 8) == 0);
        CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
        meet(&s, 2, THREE);
        loco_sst_fini(&s.progress);
        return;
    }
    site_open(&s, n, (struct loco_kvstore_config){.replicas = 1, .owner_ns = TEST_TIMEOUT});
    tracker_begin(&s.tracker, n, &s.kv);
    CHECK(n, inserts(&s, key_at(&s.kv, n->id), 1));
    meet(&s, 1, THREE);
    if (last_dies(&s, THREE)) {
        for (uint64_t life = 0; life < 2; life++) {
            for (uint32_t host = n->id; host < THREE; host += 2)
                CHECK(n, updates(&s, key_at(&s.kv, host), 2 + life));
            if (life == 0) {
                AWAIT(n, !loco_peer_lost(n->mgr, THREE - 1));
                meet(&s, 2, THREE);
                AWAIT(n, loco_peer_lost(n->mgr, THREE - 1),
                      loco_sst_push_broadcast(&s.progress)); /* until it has seen this */
            }
        }
        meet(&s, 3, THREE - 1);
    }
    site_close(&s);
    if (n->id == THREE - 1 && n->where != ON_PROCESSES) {
        node_return(n);
        comes_back_body(n);
    }
}

ON_EACH_FABRIC(a_node_that_comes_back_is_lost_once, THREE, comes_back_body, NULL)

/* --- the configuration -------------------------------------------------------------------------
 */

/* Of three nodes one may be lost; on coherent memory two. */
static void config_body(struct node *n)
{
    const size_t most = n->fabric->capabilities & LOCO_COHERENT ? THREE - 1 : (THREE - 1) / 2;
    struct loco_kvstore_config config = {.value_size = 8, .capacity = 1, .replicas = most + 1};
    struct loco_kvstore kv;

    CHECK(n, loco_kvstore_init(&kv, n->mgr, NULL, "kv", &config) == -EINVAL);
    CHECK(n, strstr(n->log, "replicas are too many"));
    config.replicas = most;
    CHECK(n, loco_kvstore_init(&kv, n->mgr, NULL, "kv", &config) == 0);
    loco_kvstore_fini(&kv);
}

ON_EACH_FABRIC(configuration, THREE, config_body, NULL)

/* --- records -----------------------------------------------------------------------------------
 */

enum { WORDS = 3, RECORD_WORDS = 7 };

static void seal(uint64_t *record, uint64_t version, uint64_t value)
{
    const struct kv_record head = {.state = version << 1 | 1, .counter = 4, .hash = 99};

    for (unsigned i = 0; i < WORDS; i++)
        record[3 + i] = value;
    kv_record_seal(record, sizeof(uint64_t) * WORDS, &head);
}

static struct kv_newest newest_of(const uint64_t *image)
{
    return kv_record_newest(image, sizeof(uint64_t) * WORDS);
}

Test(replicas, the_newest_whole_record_counts)
{
    uint64_t image[2 * RECORD_WORDS] = {0};

    cr_assert_eq(kv_record_size(sizeof(uint64_t) * WORDS), sizeof image / 2);
    struct kv_newest n = newest_of(image);
    cr_expect(n.value && kv_record_version(&n.head) == 0 && !n.alone);
    seal(image + RECORD_WORDS, 1, 11);
    n = newest_of(image);
    cr_expect(kv_record_version(&n.head) == 1 && !n.alone && n.head.hash == 99);
    cr_expect_eq(memcmp(n.value, &image[RECORD_WORDS + 3], 8), 0);
    seal(image, 2, 22);
    n = newest_of(image);
    cr_expect(kv_record_version(&n.head) == 2 && !n.alone);
}

/* Any word of a write that has not arrived yet makes the record torn; only one that was never
 * written counts as it was. */
Test(replicas, a_torn_record_does_not_count)
{
    uint64_t older[2 * RECORD_WORDS] = {0}, newer[RECORD_WORDS];

    seal(older + RECORD_WORDS, 5, 55);
    seal(older, 4, 44);
    seal(newer, 6, 66);
    for (unsigned part = 1; part < (1 << RECORD_WORDS) - 1; part++) {
        uint64_t image[2 * RECORD_WORDS];
        memcpy(image, older, sizeof image);
        for (unsigned i = 0; i < RECORD_WORDS; i++)
            image[i] = part >> i & 1 ? newer[i] : older[i];
        const struct kv_newest n = newest_of(image);
        const bool whole = memcmp(image, newer, sizeof newer) == 0;
        const bool still = memcmp(image, older, sizeof newer) == 0;
        cr_expect_eq(n.alone, !whole && !still, "part %x", part);
        cr_expect_eq(kv_record_version(&n.head), whole ? 6 : 5, "part %x", part);
    }
}
