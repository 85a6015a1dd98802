/*
 * Tests what each channel does for the remaining members when one dies (the table in
 * docs/memory-model.md). Node 2 dies. Nodes 0 and 1 first check the channels' results, then
 * construct the channels again with two members.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "channels/kvstore/kvstore_index.h"
#include "channels/kvstore/kvstore_locks.h"
#include "tests/unit/tracker.h"

enum { NODES = 3, DEAD = 2 };

#define ON_EACH_FABRIC(test_name, body)                                                            \
    Test(members, test_name##_sim)                                                                 \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_SIM, NODES, body, NULL), 0);                                     \
    }                                                                                              \
    Test(members, test_name##_threads)                                                             \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_THREADS, NODES, body, NULL), 0);                                 \
    }                                                                                              \
    Test(members, test_name##_processes)                                                           \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_PROCESSES, NODES, body, NULL), 0);                               \
    }

/* Each node's progress. It is separate from the tested channels. */
static void reach(struct loco_sst *progress, uint64_t stage)
{
    loco_sst_store_mine(progress, &stage);
    loco_sst_push_broadcast(progress);
}

static uint64_t stage_of(struct loco_sst *progress, uint32_t node)
{
    struct loco_owned_var *row = loco_sst_row(progress, node);
    uint64_t stage = 0;

    if (row)
        loco_owned_var_load(row, &stage);
    return stage;
}

/* The dying node has come as far as the others need. Its body ends here if it is not a process. */
static void die_or_see(struct node *n, struct loco_sst *progress)
{
    reach(progress, 1);
    if (n->id == DEAD) /* places its messages before it dies */
        CHECK(n, loco_fence_global(n->mgr) == 0);
    for (uint32_t node = 0; node < n->count; node++)
        AWAIT(n, stage_of(progress, node) >= 1);
    if (n->id == DEAD)
        node_die(n);
    else
        AWAIT(n, loco_peer_lost(n->mgr, DEAD));
    CHECK(n, n->id == DEAD || stage_of(progress, DEAD) == 1); /* its row stays */
}

/* Both remaining nodes have come this far. */
static void meet_at(struct node *n, struct loco_sst *progress, uint64_t stage)
{
    reach(progress, stage);
    AWAIT(n, stage_of(progress, 1 - n->id) >= stage);
}

/* The members of the channels that are constructed again, as seen from this node. */
static struct loco_members the_other(const struct node *n)
{
    static const uint32_t nodes[] = {0, 1};

    return (struct loco_members){&nodes[1 - n->id], 1};
}

/* --- barrier and lock ---------------------------------------------------------------------- */

static void sync_body(struct node *n)
{
    struct loco_sst progress;
    struct loco_barrier bar, passed;
    struct loco_ticket_lock held, unheld, hosted;

    if (n->life > 0)
        return;
    CHECK(n, loco_sst_init(&progress, n->mgr, NULL, "progress", LOCO_ALL, 8) == 0);
    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_barrier_init(&passed, n->mgr, NULL, "passed", LOCO_ALL) == 0);
    CHECK(n, loco_ticket_lock_init(&held, n->mgr, NULL, "held", 0, LOCO_ALL, 4) == 0);
    CHECK(n, loco_ticket_lock_init(&unheld, n->mgr, NULL, "unheld", 0, LOCO_ALL, 4) == 0);
    CHECK(n, loco_ticket_lock_init(&hosted, n->mgr, NULL, "hosted", DEAD, LOCO_ALL, 4) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == DEAD) {
        CHECK(n, loco_ticket_lock_acquire(&held) == 0);
        CHECK(n, loco_barrier_arrive(&passed) == 0);
    }
    die_or_see(n, &progress);
    if (n->id != DEAD) {
        const int rc = loco_barrier_arrive(&passed);
        CHECK(n, rc == 0 || rc == -ECONNRESET); /* what the fence found */
        AWAIT(n, loco_barrier_passed(&passed) == 1);
        CHECK(n, loco_barrier_wait(&bar) == -ECONNRESET);
        CHECK(n, loco_ticket_lock_timed(&held, TEST_TIMEOUT) == 0);
        CHECK(n, loco_ticket_lock_release(&held, LOCO_FENCE_GLOBAL) == 0);
        CHECK(n, loco_ticket_lock_acquire(&held) == 0);
        CHECK(n, loco_ticket_lock_release(&held, LOCO_FENCE_GLOBAL) == 0);
        meet_at(n, &progress, 2); /* node 0 hosts the lock, and leaves later */
        CHECK(n, loco_ticket_lock_acquire(&hosted) == -ECONNRESET);
    }
    if (n->id == 0) {
        CHECK(n, loco_ticket_lock_try(&unheld) == 0);
        CHECK(n, loco_ticket_lock_release(&unheld, LOCO_FENCE_NONE) == 0);
    }
    loco_barrier_fini(&bar);
    loco_barrier_fini(&passed);
    loco_ticket_lock_fini(&held);
    loco_ticket_lock_fini(&unheld);
    loco_ticket_lock_fini(&hosted);
    if (n->id != DEAD) {
        meet_at(n, &progress, 3); /* the old endpoints have ended */
        CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", the_other(n)) == 0);
        CHECK(n, loco_ticket_lock_init(&held, n->mgr, NULL, "held", 0, the_other(n), 4) == 0);
        CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
        for (int round = 0; round < 20; round++) {
            CHECK(n, loco_ticket_lock_acquire(&held) == 0);
            CHECK(n, loco_ticket_lock_release(&held, LOCO_FENCE_GLOBAL) == 0);
            CHECK(n, loco_barrier_wait(&bar) == 0);
        }
        loco_ticket_lock_fini(&held);
        loco_barrier_fini(&bar);
    }
    loco_sst_fini(&progress);
}

ON_EACH_FABRIC(barrier_and_lock_are_formed_again, sync_body)

/* Node 2 dies when the others have constructed a barrier and wait for it. */
static void setup_body(struct node *n)
{
    struct loco_sst progress;
    struct loco_barrier bar;

    if (n->life > 0)
        return;
    CHECK(n, loco_sst_init(&progress, n->mgr, NULL, "progress", LOCO_ALL, 8) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id != DEAD)
        CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    die_or_see(n, &progress);
    if (n->id != DEAD) {
        CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == -ECONNRESET);
        CHECK(n, loco_barrier_wait(&bar) == -ECONNRESET);
        loco_barrier_fini(&bar);
        meet_at(n, &progress, 2); /* the old endpoints have ended */
        CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", the_other(n)) == 0);
        CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
        CHECK(n, loco_barrier_wait(&bar) == 0);
        loco_barrier_fini(&bar);
    }
    loco_sst_fini(&progress);
}

ON_EACH_FABRIC(a_barrier_whose_member_died_in_its_setup_is_formed_again, setup_body)

/* --- queue and ring ------------------------------------------------------------------------ */

static void queue_again(struct node *n, struct loco_sst *progress)
{
    struct loco_shared_queue q;
    uint64_t got = 9;

    CHECK(n, loco_shared_queue_init(&q, n->mgr, NULL, "queue", 0, the_other(n), 4, 8) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, loco_shared_queue_try_pop(&q, &got) == -EAGAIN);
    meet_at(n, progress, 5);
    if (n->id == 0)
        CHECK(n, loco_shared_queue_push(&q, &got, TEST_TIMEOUT) == 0);
    else
        CHECK(n, loco_shared_queue_pop(&q, &got, TEST_TIMEOUT) == 0 && got == 9);
    meet_at(n, progress, 6);
    loco_shared_queue_fini(&q);
}

/* More than the ring holds, so a dead receiver would block it. */
static void send_much(struct node *n, struct loco_ringbuffer *ring)
{
    struct loco_message message;

    for (uint64_t i = 0; i < 100; i++) {
        if (n->id == 0) {
            CHECK(n, loco_ringbuffer_send_wait(ring, &i, 8, NULL, TEST_TIMEOUT) == 0);
        } else {
            CHECK(n, loco_ringbuffer_receive_wait(ring, &message, TEST_TIMEOUT) == 0);
            loco_ringbuffer_release(ring, message.position);
        }
        if (n->failures)
            return;
    }
}

static void queue_body(struct node *n)
{
    struct loco_sst progress;
    struct loco_shared_queue q;
    struct loco_ringbuffer to_dead, of_dead;
    struct loco_message message;
    uint64_t value = 5;

    if (n->life > 0)
        return;
    CHECK(n, loco_sst_init(&progress, n->mgr, NULL, "progress", LOCO_ALL, 8) == 0);
    CHECK(n, loco_shared_queue_init(&q, n->mgr, NULL, "queue", 0, LOCO_ALL, 4, 8) == 0);
    CHECK(n, loco_ringbuffer_init(&to_dead, n->mgr, NULL, "to", 0, LOCO_ALL, 256, 8) == 0);
    CHECK(n, loco_ringbuffer_init(&of_dead, n->mgr, NULL, "of", DEAD, LOCO_ALL, 256, 8) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == DEAD)
        CHECK(n, loco_ringbuffer_send(&of_dead, &value, 8, NULL) == 0);
    CHECK(n, loco_shared_queue_push(&q, &value, TEST_TIMEOUT) == 0);
    die_or_see(n, &progress);
    if (n->id != DEAD) {
        CHECK(n, loco_shared_queue_push(&q, &value, UINT64_MAX) == -ECONNRESET);
        CHECK(n, loco_shared_queue_pop(&q, &value, TEST_TIMEOUT) == -ECONNRESET);
        CHECK(n, loco_shared_queue_try_push(&q, &value) == -ECONNRESET);
        CHECK(n, loco_shared_queue_try_pop(&q, &value) == -ECONNRESET);
        CHECK(n, loco_ringbuffer_receive_wait(&of_dead, &message, TEST_TIMEOUT) == 0);
        CHECK(n, loco_ringbuffer_receive_wait(&of_dead, &message, TEST_TIMEOUT) == -ECONNRESET);
        send_much(n, &to_dead);
        meet_at(n, &progress, 3);
    }
    loco_ringbuffer_fini(&of_dead);
    loco_ringbuffer_fini(&to_dead);
    loco_shared_queue_fini(&q);
    if (n->id != DEAD) {
        meet_at(n, &progress, 4);
        queue_again(n, &progress);
    }
    loco_sst_fini(&progress);
}

ON_EACH_FABRIC(the_queue_is_formed_again_and_the_ring_goes_on, queue_body)

/* --- values, and the store ----------------------------------------------------------------- */

/* The keys of the dead node: nothing is left of them. */
static void use_lost_keys(struct node *n, struct loco_kvstore *kv)
{
    const uint64_t key = key_at(kv, DEAD), more = 8;
    uint64_t got = 0;

    CHECK(n, loco_kvstore_read(kv, key, &got) == -ECONNRESET);
    CHECK(n, loco_kvstore_update(kv, key, &more) == -ECONNRESET);
    CHECK(n, loco_kvstore_insert(kv, key, &more) == -ECONNRESET);
    CHECK(n, loco_kvstore_delete(kv, key) == -ECONNRESET);
}

/* A key is inserted, updated, read and deleted between the two remaining nodes. */
static void use_store(struct node *n, struct loco_kvstore *kv, struct loco_sst *progress)
{
    const uint64_t key = key_at(kv, 1), more = 8;
    uint64_t got = 0;

    if (n->id == 0) {
        CHECK(n, loco_kvstore_insert(kv, key, &more) == 0);
        CHECK(n, loco_kvstore_update(kv, key_at(kv, 0), &more) == 0);
    }
    meet_at(n, progress, 2);
    CHECK(n, loco_kvstore_read(kv, key, &got) == 0 && got == 8);
    CHECK(n, loco_kvstore_read(kv, key_at(kv, 0), &got) == 0 && got == 8);
    use_lost_keys(n, kv);
    meet_at(n, progress, 3);
    if (n->id == 1)
        CHECK(n, loco_kvstore_delete(kv, key) == 0);
    meet_at(n, progress, 4);
}

static void store_body(struct node *n)
{
    const struct loco_kvstore_config config = {
        .value_size = 8, .capacity = 16, .owner_ns = TEST_TIMEOUT};
    struct loco_sst progress;
    struct loco_owned_var var, pulled;
    struct loco_kvstore kv;
    struct tracker tracker;
    uint64_t value = 7, got = 0;

    if (n->life > 0)
        return;
    CHECK(n, loco_sst_init(&progress, n->mgr, NULL, "progress", LOCO_ALL, 8) == 0);
    CHECK(n, loco_owned_var_init(&var, n->mgr, NULL, "var", DEAD, LOCO_ALL, 8) == 0);
    CHECK(n, loco_owned_var_init(&pulled, n->mgr, NULL, "pulled", DEAD, LOCO_ALL, 8) == 0);
    CHECK(n, loco_kvstore_init(&kv, n->mgr, NULL, "kv", &config) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    tracker_begin(&tracker, n, &kv);
    if (n->id == DEAD) {
        CHECK(n, loco_kvstore_insert(&kv, key_at(&kv, 0), &value) == 0);
        CHECK(n, loco_kvstore_insert(&kv, key_at(&kv, DEAD), &value) == 0);
        loco_owned_var_store(&var, &value);
        loco_owned_var_push(&var);
    }
    die_or_see(n, &progress);
    if (n->id != DEAD) {
        CHECK(n, loco_owned_var_load(&var, &got) == 0 && got == 7);
        CHECK(n, loco_owned_var_read(&var, &got) == -ECONNRESET);
        const struct loco_ack ack = loco_owned_var_pull(&pulled);
        CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == -ECONNRESET);
        use_store(n, &kv, &progress);
    }
    tracker_end(&tracker);
    loco_kvstore_fini(&kv);
    loco_owned_var_fini(&var);
    loco_owned_var_fini(&pulled);
    loco_sst_fini(&progress);
}

ON_EACH_FABRIC(the_store_outlives_a_member, store_body)
