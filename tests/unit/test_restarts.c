/* Tests peers that die and come back, on every fabric. Node 1 dies: killed as a process, dropped
 * with everything in flight on the sim, or leaving in order as a thread. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "channels/loco/owned_var_quick.h"
#include "tests/nodes.h"

enum { NODES = 3, RESTARTS = 3 };

#define ON_EACH_FABRIC(test_name, body)                                                            \
    Test(restarts, test_name##_sim)                                                                \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_SIM, NODES, body, NULL), 0);                                     \
    }                                                                                              \
    Test(restarts, test_name##_threads)                                                            \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_THREADS, NODES, body, NULL), 0);                                 \
    }                                                                                              \
    Test(restarts, test_name##_one_process)                                                        \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_ONE_PROCESS, NODES, body, NULL), 0);                             \
    }                                                                                              \
    Test(restarts, test_name##_processes)                                                          \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_PROCESSES, NODES, body, NULL), 0);                               \
    }                                                                                              \
    Test(restarts, test_name##_chaos)                                                              \
    {                                                                                              \
        for (uint64_t seed = 1; seed <= 30; seed++)                                                \
            for (enum loco_sim_chaos chaos = LOCO_SIM_DELAYED; chaos <= LOCO_SIM_DEFERRED;         \
                 chaos++)                                                                          \
                cr_assert_eq(run_chaos_nodes(seed, chaos, NODES, body, NULL), 0);                  \
    }

/* The progress of each node: the life of node 1, and the stage in it. */
static uint64_t progress_of(struct loco_sst *progress, uint32_t node)
{
    struct loco_owned_var *row = loco_sst_row(progress, node);
    uint64_t value = 0;

    if (row)
        loco_owned_var_load(row, &value);
    return value;
}

static void tell(struct loco_sst *progress, uint64_t value)
{
    loco_sst_store_mine(progress, &value);
    loco_sst_push_broadcast(progress);
}

/* --- channels that take members back -------------------------------------------------------- */

struct large {
    uint64_t words[20];
};

static struct large large_of(uint64_t value)
{
    struct large l;

    for (int i = 0; i < 20; i++)
        l.words[i] = value;
    return l;
}

static bool is_large_of(const struct large *found, uint64_t value)
{
    const struct large expected = large_of(value);

    return memcmp(found, &expected, sizeof expected) == 0;
}

static bool holds(const struct loco_owned_var *v, uint64_t value)
{
    struct large found;

    return loco_owned_var_load(v, &found) == 0 && is_large_of(&found, value);
}

/* `layout` has another size in each life, so everything is at another place than before. A write to
 * an address of an earlier life would hit it. */
struct all {
    struct loco_shared_region layout, region;
    struct loco_owned_var up, down; /* owned by node 1, by node 0 */
    struct loco_owned_var quick;    /* like down */
    struct loco_quick_owner quick_owner;
    struct loco_atomic_var counter; /* at node 0 */
    struct loco_sst progress;
    uint32_t zero, one;
    size_t layout_size;
    uint64_t up_count; /* at node 0: the copy's count in the owner's last life */
};

enum { COMMAND = 77, REGION_WORDS = 40 };

static void open_all(struct node *n, struct all *a)
{
    /* The nodes must agree on the region's size, so each has one region of each size. */
    char name[16];

    *a = (struct all){.zero = 0, .one = 1, .layout_size = 512 + 1024 * n->life};
    snprintf(name, sizeof name, "layout%u", n->life);
    if (n->id == 1)
        CHECK(n, loco_shared_region_init(&a->layout, n->mgr, NULL, name,
                                         (struct loco_members){&a->zero, 0}, a->layout_size) == 0);
    CHECK(n, loco_shared_region_init(&a->region, n->mgr, NULL, "region", LOCO_ALL,
                                     8 * REGION_WORDS) == 0);
    if (n->id != 2) {
        CHECK(n,
              loco_owned_var_init(&a->up, n->mgr, NULL, "up", 1, (struct loco_members){&a->zero, 1},
                                  sizeof(struct large)) == 0);
        CHECK(n, loco_owned_var_init(&a->down, n->mgr, NULL, "down", 0,
                                     (struct loco_members){&a->one, 1}, sizeof(struct large)) == 0);
        CHECK(n, loco_owned_var_init(&a->quick, n->mgr, NULL, "quick", 0,
                                     (struct loco_members){&a->one, 1},
                                     sizeof(struct loco_triple)) == 0);
    }
    CHECK(n, loco_atomic_var_init(&a->counter, n->mgr, NULL, "counter", 0, LOCO_ALL, 0) == 0);
    CHECK(n, loco_sst_init(&a->progress, n->mgr, NULL, "progress", LOCO_ALL, 8) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
}

static void close_all(struct node *n, struct all *a)
{
    loco_sst_fini(&a->progress);
    loco_atomic_var_fini(&a->counter);
    if (n->id != 2) {
        loco_owned_var_fini(&a->up);
        loco_owned_var_fini(&a->down);
        loco_owned_var_fini(&a->quick);
    }
    loco_shared_region_fini(&a->region);
    if (n->id == 1)
        loco_shared_region_fini(&a->layout);
}

static bool is_lost_or(int rc)
{
    return rc == 0 || rc == -ECONNRESET;
}

static void one_life(struct node *n, struct all *a)
{
    const uint64_t life = n->life + 1;
    const uint64_t *layout = loco_shared_region_local(&a->layout);
    const struct large value = large_of(life);
    uint64_t *block = loco_mem_ref_take(n->mgr), old;

    /* The owner's value also reaches a node that comes late. */
    struct large command;
    AWAIT(n, loco_owned_var_read(&a->down, &command) == 0 && is_large_of(&command, COMMAND),
          (void)0);
    struct loco_triple quick;
    AWAIT(n, loco_owned_var_load(&a->quick, &quick) == 0 && quick.third == COMMAND, (void)0);
    CHECK(n, loco_atomic_fetch_add(loco_atomic_of(&a->counter), 1, &old) == 0);
    CHECK(n, old == n->life);
    *block = 100 + life;
    for (uint32_t peer = 0; peer < NODES; peer += 2)
        CHECK(n, loco_shared_region_write(&a->region, peer, 8, block, 8).error == 0);
    CHECK(n, loco_fence_thread(n->mgr) == 0);
    loco_owned_var_store(&a->up, &value);
    struct loco_ack push = loco_owned_var_push(&a->up);
    CHECK(n, loco_ack_wait(&push, TEST_TIMEOUT) == 0);
    tell(&a->progress, life);
    AWAIT(n, progress_of(&a->progress, 0) == life && progress_of(&a->progress, 2) == life);
    for (size_t i = 0; i < a->layout_size / 8; i++)
        CHECK(n, layout[i] == 0);
    loco_mem_ref_put(n->mgr, block);
    if (n->life < RESTARTS) /* half-way through */
        loco_owned_var_push(&a->up);
}

/* Puts quickly if possible, with the state found in an earlier turn. */
static void put_quickly(struct node *n, struct all *a)
{
    const struct loco_triple value = {1, 2, COMMAND};
    const uint32_t life = loco_quick_begin(n->mgr->fabric);

    if (life &&
        (a->quick_owner.life == life || loco_quick_owner_init(&a->quick_owner, &a->quick, life)))
        loco_quick_put(&a->quick_owner, value);
    else
        CHECK(n, is_lost_or(loco_owned_var_put(&a->quick, &value).error));
}

/* The work of nodes 0 and 2 at every turn of a wait: all operations that could reach the wrong
 * life. */
static void keep_writing(struct node *n, struct all *a)
{
    const uint64_t noise[8] = {1, 2, 3, 4, 5, 6, 7, 8};

    CHECK(n, is_lost_or(loco_shared_region_write(&a->region, 1, 64, noise, sizeof noise).error));
    if (n->id == 0) {
        CHECK(n, is_lost_or(loco_owned_var_push(&a->down).error));
        put_quickly(n, a);
    }
    CHECK(n, is_lost_or(loco_fence_thread(n->mgr)));
}

/* A reader may be in the middle of a copy when the owner restarts. It must not take the new life's
 * value for the old one, so the count that says whether a value is whole continues from life to
 * life. */
static void check_count_grows(struct node *n, struct all *a)
{
    if (!(n->fabric->capabilities & LOCO_COHERENT))
        return; /* the check word is a checksum */
    const uint64_t *word = (const uint64_t *)(const void *)(a->up.copy + a->up.record) - 1;
    const uint64_t count = __atomic_load_n(word, __ATOMIC_ACQUIRE);

    CHECK(n, count > a->up_count);
    a->up_count = count;
}

static void watch_life(struct node *n, struct all *a, uint64_t life)
{
    const uint64_t *here = loco_shared_region_local(&a->region);
    uint64_t *block = loco_mem_ref_take(n->mgr), count;

    AWAIT(n, progress_of(&a->progress, 1) == life, keep_writing(n, a));
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0); /* all is connected again, both ways */
    CHECK(n, loco_channel_check(&a->region.channel) == 0);
    CHECK(n, !loco_peer_lost(n->mgr, 1));
    CHECK(n, __atomic_load_n(&here[1], __ATOMIC_ACQUIRE) == 100 + life);
    if (n->id == 0) {
        CHECK(n, holds(&a->up, life));
        check_count_grows(n, a);
    }
    CHECK(n, loco_atomic_load(loco_atomic_of(&a->counter), &count) == 0);
    CHECK(n, count == life);

    /* Writes arrive, in this life's memory. */
    *block = 1000 + life;
    struct loco_ack ack = loco_shared_region_write(&a->region, 1, 8 * n->id, block, 8);
    CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
    CHECK(n, is_lost_or(loco_fence_pair(n->mgr, 1))); /* once, for writes to the earlier life */
    CHECK(n, loco_fence_pair(n->mgr, 1) == 0);
    ack = loco_shared_region_read(&a->region, 1, 8 * n->id, block, 8);
    CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
    CHECK(n, *block == 1000 + life);
    loco_mem_ref_put(n->mgr, block);
    tell(&a->progress, life);
}

static void taken_back_body(struct node *n)
{
    const struct large command = large_of(COMMAND);
    struct loco_barrier end;
    struct all a;

    open_all(n, &a);
    if (n->id == 0) {
        loco_owned_var_store(&a.down, &command);
        loco_owned_var_push(&a.down);
    }
    if (n->id == 1) {
        for (one_life(n, &a); n->life < RESTARTS; one_life(n, &a)) {
            node_die(n);
            close_all(n, &a);
            node_return(n);
            open_all(n, &a);
        }
    } else {
        for (uint64_t life = 1; life <= RESTARTS + 1; life++)
            watch_life(n, &a, life);
    }
    CHECK(n, loco_barrier_init(&end, n->mgr, NULL, "end", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, loco_barrier_wait(&end) == 0);
    loco_barrier_fini(&end);
    close_all(n, &a);
}

ON_EACH_FABRIC(who_restarts_is_taken_back, taken_back_body)

/* --- channels that do not --------------------------------------------------------------------- */

struct closed {
    struct loco_barrier barrier;
    struct loco_ticket_lock lock;
    struct loco_ringbuffer ring;
    struct loco_shared_queue queue;
    struct loco_atomic_var word; /* hosted by node 1 */
};

static void open_closed(struct node *n, struct closed *c)
{
    CHECK(n, loco_barrier_init(&c->barrier, n->mgr, NULL, "barrier", LOCO_ALL) == 0);
    CHECK(n, loco_ticket_lock_init(&c->lock, n->mgr, NULL, "lock", 0, LOCO_ALL, 0) == 0);
    CHECK(n, loco_ringbuffer_init(&c->ring, n->mgr, NULL, "ring", 0, LOCO_ALL, 1024, 64) == 0);
    CHECK(n, loco_shared_queue_init(&c->queue, n->mgr, NULL, "queue", 0, LOCO_ALL, 8, 8) == 0);
    CHECK(n, loco_atomic_var_init(&c->word, n->mgr, NULL, "word", 1, LOCO_ALL, 0) == 0);
}

static void close_closed(struct closed *c)
{
    loco_atomic_var_fini(&c->word);
    loco_shared_queue_fini(&c->queue);
    loco_ringbuffer_fini(&c->ring);
    loco_ticket_lock_fini(&c->lock);
    loco_barrier_fini(&c->barrier);
}

/* All channels work among all the nodes. */
static void use_closed(struct node *n, struct closed *c)
{
    uint64_t value = n->id, got;
    struct loco_message message;

    CHECK(n, loco_barrier_wait(&c->barrier) == 0);
    CHECK(n, loco_ticket_lock_acquire(&c->lock) == 0);
    CHECK(n, loco_ticket_lock_release(&c->lock, LOCO_FENCE_NONE) == 0);
    CHECK(n, loco_shared_queue_push(&c->queue, &value, UINT64_MAX) == 0);
    CHECK(n, loco_shared_queue_pop(&c->queue, &got, UINT64_MAX) == 0);
    CHECK(n, loco_atomic_fetch_add(loco_atomic_of(&c->word), 1, &got) == 0 && got < NODES);
    if (n->id == 0)
        CHECK(n, loco_ringbuffer_send(&c->ring, &value, sizeof value, NULL) == 0);
    else
        CHECK(n, loco_ringbuffer_receive_wait(&c->ring, &message, TEST_TIMEOUT) == 0);
    CHECK(n, loco_barrier_wait(&c->barrier) == 0);
}

static void find_broken(struct node *n, struct closed *c)
{
    uint64_t value = 0, old;

    CHECK(n, loco_barrier_wait(&c->barrier) == -ECONNRESET);
    CHECK(n, loco_channel_check(&c->lock.words->channel) == -ECONNRESET);
    CHECK(n, loco_channel_check(&c->ring.channel) == (n->id == 0 ? -ECONNRESET : 0)); /* a star */
    CHECK(n, loco_shared_queue_push(&c->queue, &value, UINT64_MAX) == -ECONNRESET);
    CHECK(n, loco_atomic_fetch_add(loco_atomic_of(&c->word), 1, &old) == -ECONNRESET);
}

enum stage { USED = 1, RETURNED, ENDED, AGAIN };

static bool others_are(struct node *n, struct loco_sst *progress, enum stage stage)
{
    for (uint32_t node = 0; node < NODES; node++)
        if (node != n->id && node != 1 && progress_of(progress, node) < stage)
            return false;
    return true;
}

static void first_life(struct node *n, struct loco_sst *progress, struct closed *c)
{
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    use_closed(n, c);
    tell(progress, USED);
    if (n->id != 1)
        return;
    AWAIT(n, others_are(n, progress, USED));
    node_die(n);
    close_closed(c);
    loco_sst_fini(progress);
    node_return(n);
    CHECK(n, loco_sst_init(progress, n->mgr, NULL, "progress", LOCO_ALL, 8) == 0);
    open_closed(n, c);
}

static void given_up_body(struct node *n)
{
    struct loco_sst progress;
    struct closed c;

    CHECK(n, loco_sst_init(&progress, n->mgr, NULL, "progress", LOCO_ALL, 8) == 0);
    open_closed(n, &c);
    if (n->life == 0)
        first_life(n, &progress, &c);
    if (n->id == 1) {
        /* No node answers with an endpoint of its earlier life. */
        CHECK(n, loco_manager_ready(n->mgr, 20000000) == -ETIMEDOUT);
        AWAIT(n, others_are(n, &progress, ENDED), tell(&progress, RETURNED));
    } else {
        AWAIT(n, progress_of(&progress, 1) == RETURNED);
        find_broken(n, &c);
        close_closed(&c);
        AWAIT(n, others_are(n, &progress, ENDED), tell(&progress, ENDED));
        open_closed(n, &c);
    }
    AWAIT(n, loco_manager_ready(n->mgr, 1000000) == 0,
          tell(&progress, n->id == 1 ? RETURNED : AGAIN));
    loco_fence_global(n->mgr); /* may report once that a write to the dead node was not placed */
    use_closed(n, &c);
    close_closed(&c);
    loco_sst_fini(&progress);
}

ON_EACH_FABRIC(what_takes_nobody_back_is_made_anew, given_up_body)

/* Node 0 constructs a barrier anew while node 1, its other member, is away. Node 1 does so later,
 * when node 2 says that node 0 has. */
struct away {
    struct loco_sst news;     /* of nodes 0 and 2 */
    struct loco_sst side;     /* of nodes 1 and 2 */
    struct loco_barrier pair; /* of nodes 0 and 1 */
};

static const uint32_t zero = 0, one = 1, two = 2;

static struct loco_members just(const uint32_t *node)
{
    return (struct loco_members){node, 1};
}

static void open_pair(struct node *n, struct away *a)
{
    CHECK(n, loco_barrier_init(&a->pair, n->mgr, NULL, "pair", just(n->id ? &zero : &one)) == 0);
}

static void open_side(struct node *n, struct away *a)
{
    CHECK(n, loco_sst_init(&a->side, n->mgr, NULL, "side", just(n->id == 1 ? &two : &one), 8) == 0);
}

static void open_news(struct node *n, struct away *a)
{
    CHECK(n, loco_sst_init(&a->news, n->mgr, NULL, "news", just(n->id ? &zero : &two), 8) == 0);
}

static void use_pair(struct node *n, struct away *a)
{
    loco_fence_global(n->mgr); /* may report once that a write to the dead node was not placed */
    CHECK(n, loco_barrier_timed(&a->pair, TEST_TIMEOUT) == 0);
    loco_barrier_fini(&a->pair);
}

static void stays(struct node *n, struct away *a)
{
    open_news(n, a);
    open_pair(n, a);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    loco_barrier_wait(&a->pair); /* node 1 may die before its arrival is known */
    AWAIT(n, loco_peer_lost(n->mgr, 1));
    loco_barrier_fini(&a->pair);
    open_pair(n, a);
    tell(&a->news, AGAIN);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    use_pair(n, a);
    loco_sst_fini(&a->news);
}

static void goes(struct node *n, struct away *a)
{
    open_side(n, a);
    if (n->life == 0) {
        open_pair(n, a);
        CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
        loco_barrier_wait(&a->pair);
        node_die(n);
        loco_barrier_fini(&a->pair);
        loco_sst_fini(&a->side);
        node_return(n);
        open_side(n, a);
    }
    AWAIT(n, progress_of(&a->side, 2) == AGAIN);
    open_pair(n, a);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    tell(&a->side, RETURNED);
    use_pair(n, a);
    loco_sst_fini(&a->side);
}

static void relays(struct node *n, struct away *a)
{
    open_news(n, a);
    open_side(n, a);
    AWAIT(n, progress_of(&a->news, 0) == AGAIN);
    AWAIT(n, progress_of(&a->side, 1) == RETURNED, tell(&a->side, AGAIN));
    loco_sst_fini(&a->side);
    loco_sst_fini(&a->news);
}

static void away_body(struct node *n)
{
    void (*const parts[NODES])(struct node * n, struct away * a) = {stays, goes, relays};
    struct away a;

    parts[n->id](n, &a);
}

ON_EACH_FABRIC(what_is_made_anew_while_one_is_away_takes_that_one, away_body)
