/* Tests of queue_lock and rw_lock, on every fabric and in virtual time. */
#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>

#include "tests/nodes.h"

#define ON_EACH_FABRIC(suite, test_name, count, body)                                              \
    Test(suite, test_name##_sim)                                                                   \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_SIM, count, body, NULL), 0);                                     \
    }                                                                                              \
    Test(suite, test_name##_chaos)                                                                 \
    {                                                                                              \
        for (uint64_t seed = 1; seed <= 12; seed++)                                                \
            cr_assert_eq(run_chaos_nodes(seed, LOCO_SIM_DEFERRED, count, body, NULL), 0);          \
    }                                                                                              \
    Test(suite, test_name##_threads)                                                               \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_THREADS, count, body, NULL), 0);                                 \
    }                                                                                              \
    Test(suite, test_name##_processes)                                                             \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_PROCESSES, count, body, NULL), 0);                               \
    }

enum { HOST = 1, SECTIONS = 40 };

/* A word at node 0, which is not the host of its locks. */
struct guarded {
    struct loco_queue_lock queue;
    struct loco_rw_lock shared;
    struct loco_shared_region memory;
    struct loco_barrier bar;
    uint64_t *block;
};

static void begin(struct guarded *g, struct node *n)
{
    CHECK(n, loco_queue_lock_init(&g->queue, n->mgr, NULL, "queue", HOST, LOCO_ALL, 2) == 0);
    CHECK(n, loco_rw_lock_init(&g->shared, n->mgr, NULL, "shared", HOST, LOCO_ALL) == 0);
    CHECK(n, loco_shared_region_init(&g->memory, n->mgr, NULL, "memory", LOCO_ALL, 64) == 0);
    CHECK(n, loco_barrier_init(&g->bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    g->block = loco_mem_ref_take(n->mgr);
}

static void end(struct guarded *g, struct node *n)
{
    loco_mem_ref_put(n->mgr, g->block);
    CHECK(n, loco_barrier_wait(&g->bar) == 0);
    loco_barrier_fini(&g->bar);
    loco_shared_region_fini(&g->memory);
    loco_rw_lock_fini(&g->shared);
    loco_queue_lock_fini(&g->queue);
}

static unsigned home(const struct node *n, const struct guarded *g)
{
    return n->id == 0 ? LOCO_SELF : (unsigned)loco_channel_member(&g->memory.channel, 0);
}

static uint64_t word(struct node *n, struct guarded *g)
{
    struct loco_ack ack = loco_region_read(g->memory.region, home(n, g), 0, g->block, 8);

    CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
    return *g->block;
}

static void set_word(struct node *n, struct guarded *g, uint64_t value)
{
    CHECK(n, loco_region_write(g->memory.region, home(n, g), 0, &value, 8).error == 0);
}

/* --- queue_lock ---------------------------------------------------------------------------------
 */

static void queue_body(struct node *n)
{
    struct guarded g;

    begin(&g, n);
    for (uint64_t i = 0; i < SECTIONS; i++) {
        int rc = i % 3 ? loco_queue_lock_acquire(&g.queue)
                       : loco_queue_lock_timed(&g.queue, TEST_TIMEOUT);
        CHECK(n, rc == 0);
        set_word(n, &g, word(n, &g) + 1);
        CHECK(n, loco_queue_lock_release(&g.queue, LOCO_FENCE_THREAD) == 0);
    }
    CHECK(n, loco_barrier_wait(&g.bar) == 0);
    CHECK(n, word(n, &g) == SECTIONS * n->count);
    end(&g, n);
}

ON_EACH_FABRIC(queue_lock, excludes, 3, queue_body)

static void queue_held_body(struct node *n)
{
    struct guarded g;

    begin(&g, n);
    if (n->id == 0)
        CHECK(n, loco_queue_lock_try(&g.queue) == 0);
    CHECK(n, loco_barrier_wait(&g.bar) == 0);
    CHECK(n, loco_queue_lock_try(&g.queue) == -EBUSY); /* nor may another thread of node 0 */
    CHECK(n, loco_queue_lock_timed(&g.queue, 20000) == -ETIMEDOUT);
    CHECK(n, loco_barrier_wait(&g.bar) == 0);
    if (n->id == 0)
        CHECK(n, loco_queue_lock_release(&g.queue, LOCO_FENCE_NONE) == 0);
    CHECK(n, loco_queue_lock_acquire(&g.queue) == 0);
    CHECK(n, loco_queue_lock_release(&g.queue, LOCO_FENCE_NONE) == 0);
    CHECK(n, loco_barrier_wait(&g.bar) == 0);
    for (uint32_t turn = 0; turn < 4 * n->count; turn++) { /* a free lock is had at once */
        if (turn % n->count == n->id) {
            CHECK(n, loco_queue_lock_try(&g.queue) == 0);
            CHECK(n, loco_queue_lock_release(&g.queue, LOCO_FENCE_PAIR) == 0);
        }
        CHECK(n, loco_barrier_wait(&g.bar) == 0);
    }
    end(&g, n);
}

ON_EACH_FABRIC(queue_lock, held, 3, queue_held_body)

/* --- rw_lock ------------------------------------------------------------------------------------
 */

static void shared_body(struct node *n)
{
    struct guarded g;
    uint64_t last = 0;

    begin(&g, n);
    for (uint64_t i = 0; i < SECTIONS; i++) {
        CHECK(n, (i % 3 ? loco_rw_lock_write(&g.shared)
                        : loco_rw_lock_write_timed(&g.shared, TEST_TIMEOUT)) == 0);
        set_word(n, &g, word(n, &g) + 1);
        CHECK(n, loco_rw_lock_release_write(&g.shared, LOCO_FENCE_THREAD) == 0);
        CHECK(n, (i % 3 ? loco_rw_lock_read(&g.shared)
                        : loco_rw_lock_read_timed(&g.shared, TEST_TIMEOUT)) == 0);
        const uint64_t seen = word(n, &g);
        CHECK(n, seen > last && seen == word(n, &g)); /* no writer is in */
        last = seen;
        CHECK(n, loco_rw_lock_release_read(&g.shared) == 0);
    }
    CHECK(n, loco_barrier_wait(&g.bar) == 0);
    CHECK(n, word(n, &g) == SECTIONS * n->count);
    end(&g, n);
}

ON_EACH_FABRIC(rw_lock, excludes, 3, shared_body)

static void shared_held_body(struct node *n)
{
    struct guarded g;

    begin(&g, n);
    CHECK(n, loco_rw_lock_read(&g.shared) == 0); /* all at the same time */
    CHECK(n, loco_barrier_wait(&g.bar) == 0);
    CHECK(n, loco_rw_lock_try_write(&g.shared) == -EBUSY);
    CHECK(n, loco_rw_lock_write_timed(&g.shared, 20000) == -ETIMEDOUT);
    CHECK(n, loco_rw_lock_try_read(&g.shared) == 0);
    CHECK(n, loco_rw_lock_release_read(&g.shared) == 0);
    CHECK(n, loco_barrier_wait(&g.bar) == 0);
    CHECK(n, loco_rw_lock_release_read(&g.shared) == 0);
    CHECK(n, loco_fence_thread(n->mgr) == 0); /* as the release is only posted */
    CHECK(n, loco_barrier_wait(&g.bar) == 0);
    if (n->id == 0)
        CHECK(n, loco_rw_lock_try_write(&g.shared) == 0);
    CHECK(n, loco_barrier_wait(&g.bar) == 0);
    CHECK(n, loco_rw_lock_try_read(&g.shared) == -EBUSY);
    CHECK(n, loco_rw_lock_read_timed(&g.shared, 20000) == -ETIMEDOUT);
    CHECK(n, loco_rw_lock_try_write(&g.shared) == -EBUSY);
    CHECK(n, loco_barrier_wait(&g.bar) == 0);
    if (n->id == 0)
        CHECK(n, loco_rw_lock_release_write(&g.shared, LOCO_FENCE_NONE) == 0);
    CHECK(n, loco_rw_lock_read(&g.shared) == 0);
    CHECK(n, loco_rw_lock_release_read(&g.shared) == 0);
    end(&g, n);
}

ON_EACH_FABRIC(rw_lock, held, 3, shared_held_body)

/* The turn has 16 bits. */
static void wrap_body(struct node *n)
{
    struct loco_rw_lock lock;

    CHECK(n, loco_rw_lock_init(&lock, n->mgr, NULL, "lock", 0, LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    for (unsigned i = 0; i < 70000 && n->failures == 0; i++) {
        CHECK(n, loco_rw_lock_write(&lock) == 0);
        CHECK(n, loco_rw_lock_try_read(&lock) == -EBUSY);
        CHECK(n, loco_rw_lock_release_write(&lock, LOCO_FENCE_NONE) == 0);
        CHECK(n, loco_rw_lock_try_read(&lock) == 0);
        CHECK(n, loco_rw_lock_release_read(&lock) == 0);
    }
    loco_rw_lock_fini(&lock);
}

Test(rw_lock, survives_the_wrap)
{
    cr_assert_eq(run_nodes(ON_THREADS, 1, wrap_body, NULL), 0);
}

/* --- both ---------------------------------------------------------------------------------------
 */

static void arguments_body(struct node *n)
{
    struct loco_queue_lock queue;
    struct loco_rw_lock shared;

    CHECK(n, loco_queue_lock_init(&queue, n->mgr, NULL, "a", 1, LOCO_ALL, 0) == -EINVAL);
    loco_queue_lock_fini(&queue);
    CHECK(n, loco_rw_lock_init(&shared, n->mgr, NULL, "a", 1, LOCO_ALL) == -EINVAL);
    loco_rw_lock_fini(&shared);
    CHECK(n, loco_queue_lock_init(&queue, n->mgr, NULL, "a", 0, LOCO_ALL, 0) == 0);
    CHECK(n, loco_rw_lock_init(&shared, n->mgr, NULL, "a", 0, LOCO_ALL) == -EEXIST);
    loco_rw_lock_fini(&shared);
    loco_queue_lock_fini(&queue);
}

Test(queue_lock, arguments)
{
    cr_assert_eq(run_nodes(ON_SIM, 1, arguments_body, NULL), 0);
}

static void disagree_body(struct node *n)
{
    struct loco_queue_lock queue;

    CHECK(n, loco_queue_lock_init(&queue, n->mgr, NULL, "a", 0, LOCO_ALL, n->id) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == -EPROTO);
    CHECK(n, node_logged(n, "handover"));
    loco_queue_lock_fini(&queue);
}

Test(queue_lock, options_must_agree)
{
    cr_assert_eq(run_nodes(ON_SIM, 2, disagree_body, NULL), 0);
}

/* One that leaves ends the lock, for those that wait and for those that come later. */
static void leaver_body(struct node *n)
{
    struct guarded g;

    begin(&g, n);
    if (n->id == 2) {
        CHECK(n, loco_queue_lock_acquire(&g.queue) == 0);
        CHECK(n, loco_rw_lock_write(&g.shared) == 0);
    }
    CHECK(n, loco_barrier_wait(&g.bar) == 0);
    if (n->id != 2) {
        CHECK(n, (n->id ? loco_queue_lock_acquire(&g.queue) : loco_rw_lock_read(&g.shared)) ==
                     -ECONNRESET);
        CHECK(n, loco_queue_lock_try(&g.queue) == -ECONNRESET);
        CHECK(n, loco_queue_lock_timed(&g.queue, 1000) == -ECONNRESET);
        CHECK(n, loco_rw_lock_write(&g.shared) == -ECONNRESET);
        CHECK(n, loco_rw_lock_try_read(&g.shared) == -ECONNRESET);
    }
    loco_mem_ref_put(n->mgr, g.block);
    loco_barrier_fini(&g.bar);
    loco_shared_region_fini(&g.memory);
    loco_rw_lock_fini(&g.shared);
    loco_queue_lock_fini(&g.queue);
}

ON_EACH_FABRIC(queue_lock, a_loss_ends_it, 3, leaver_body)

/* --- what a handover costs -----------------------------------------------------------------------
 */

enum { ROUNDS = 50, SECTION_NS = 10000 };

static struct {
    uint64_t ticket, queue; /* ns from section to section */
} took;

static void section(const struct node *n)
{
    loco_sim_sleep(n->fabric, loco_clock(n->mgr) + SECTION_NS, LOCO_SIM_FIRST);
}

/* All nodes want the lock all the time. */
static void cost_body(struct node *n)
{
    struct loco_ticket_lock ticket;
    struct loco_queue_lock queue;
    struct loco_barrier bar;

    CHECK(n, loco_ticket_lock_init(&ticket, n->mgr, NULL, "ticket", 0, LOCO_ALL, 0) == 0);
    CHECK(n, loco_queue_lock_init(&queue, n->mgr, NULL, "queue", 0, LOCO_ALL, 0) == 0);
    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    const uint64_t begun = loco_clock(n->mgr);
    for (unsigned i = 0; i < ROUNDS; i++) {
        CHECK(n, loco_ticket_lock_acquire(&ticket) == 0);
        section(n);
        CHECK(n, loco_ticket_lock_release(&ticket, LOCO_FENCE_NONE) == 0);
    }
    CHECK(n, loco_barrier_wait(&bar) == 0);
    const uint64_t between = loco_clock(n->mgr);
    for (unsigned i = 0; i < ROUNDS; i++) {
        CHECK(n, loco_queue_lock_acquire(&queue) == 0);
        section(n);
        CHECK(n, loco_queue_lock_release(&queue, LOCO_FENCE_NONE) == 0);
    }
    CHECK(n, loco_barrier_wait(&bar) == 0);
    took.ticket = (between - begun) / ROUNDS / n->count - SECTION_NS;
    took.queue = (loco_clock(n->mgr) - between) / ROUNDS / n->count - SECTION_NS;
    loco_barrier_fini(&bar);
    loco_queue_lock_fini(&queue);
    loco_ticket_lock_fini(&ticket);
}

/* In virtual time, with 1 us for each way. A queue lock is handed over by one write. */
Test(queue_lock, is_handed_over_by_one_write)
{
    cr_assert_eq(run_sim_nodes(1, 1000, 0, 6, cost_body, NULL), 0);
    printf("a handover takes %llu ns with a ticket_lock, and %llu ns with a queue_lock\n",
           (unsigned long long)took.ticket, (unsigned long long)took.queue);
    cr_expect_lt(took.queue, 1200);
    cr_expect_gt(took.ticket, 2 * took.queue);
}
