/* Workloads of the fences: every kind, by several threads of a node at once, together with barriers
 * and locks. */
#include <errno.h>

#include "tests/sim/workloads.h"

static struct loco_sim_model word_model(void)
{
    return loco_sim_model_word(0);
}

static uint64_t word_at(const void *memory, size_t offset)
{
    return __atomic_load_n((const uint64_t *)memory + offset / 8, __ATOMIC_ACQUIRE);
}

static int fence(struct loco_sim_actor *a, enum loco_fence kind, uint32_t node)
{
    if (kind == LOCO_FENCE_PAIR)
        return loco_fence_pair(a->mgr, node);
    return kind == LOCO_FENCE_THREAD ? loco_fence_thread(a->mgr) : loco_fence_global(a->mgr);
}

static enum loco_fence draw_fence(struct loco_sim_actor *a)
{
    return (enum loco_fence[]){LOCO_FENCE_PAIR, LOCO_FENCE_THREAD,
                               LOCO_FENCE_GLOBAL}[loco_sim_actor_draw(a, 3)];
}

/* --- release: data to one peer, a fence, and word of it to another ---------------------------- */

/*
 * Each thread has a word for data at each node, and changes it there: thread 0 by writes, thread 1
 * by atomics. Then either it fences, with any sufficient kind of fence, or the other thread of its
 * node, which knows of the change, makes a global fence. The thread that fenced tells the third
 * node, which then checks the data.
 */
enum { NODES = 3, THREADS = 2, ACTORS = NODES * THREADS, RELEASES = 10, BARRIERS = 3 };

struct released {
    struct loco_shared_region region;
    struct loco_barrier barrier;
    uint64_t *unread; /* a word for results */
    /* Of each thread of this node, by node: the value that it wrote there, as it told the other
     * thread. */
    _Atomic uint64_t wrote[THREADS][NODES];
};

/* Each node's region has the data by writer. It also has, by writer and by sender of the news, the
 * highest value that is known to be placed at the node that is neither this one nor the writer's.
 */
static size_t data_at(uint32_t writer)
{
    return 8 * writer;
}

static size_t flag_at(uint32_t writer, uint32_t thread)
{
    return 8 * (ACTORS + writer * THREADS + thread);
}

static size_t result_at(uint32_t writer)
{
    return 8 * (ACTORS + ACTORS * THREADS + writer);
}

static int released_open(struct loco_manager *m, void *object)
{
    struct released *r = object;
    const size_t size = result_at(ACTORS) + 8;
    int rc = loco_shared_region_init(&r->region, m, NULL, "region", LOCO_ALL, size);

    if (rc)
        return rc;
    r->unread = (uint64_t *)loco_shared_region_local(&r->region) + size / 8 - 1;
    return loco_barrier_init(&r->barrier, m, NULL, "barrier", LOCO_ALL);
}

static void released_close(void *object)
{
    struct released *r = object;

    loco_barrier_fini(&r->barrier);
    loco_shared_region_fini(&r->region);
}

static void put_word(struct loco_sim_actor *a, struct released *r, uint32_t node, size_t at,
                     uint64_t value)
{
    LOCO_SIM_EXPECT(a, loco_shared_region_write(&r->region, node, at, &value, 8).error == 0);
}

/* The same by an atomic, from what the word was. Fences count it like a write, also when it is
 * done.
 */
static void add_word(struct loco_sim_actor *a, struct released *r, uint32_t node, size_t at,
                     uint64_t from, uint64_t value)
{
    unsigned member = (unsigned)loco_channel_member(&r->region.channel, node);
    struct loco_ack ack =
        loco_region_fetch_add(r->region.region, member, at, value - from, r->unread);

    LOCO_SIM_EXPECT(a, ack.error == 0);
    if (loco_sim_actor_draw(a, 4))
        LOCO_SIM_EXPECT(a, loco_ack_wait(&ack, UINT64_MAX) == 0);
}

/* Detaching a thread is a fence, too. */
static void leave_and_come_back(struct loco_sim_actor *a)
{
    loco_thread_detach(a->mgr);
    LOCO_SIM_EXPECT(a, loco_thread_attach(a->mgr) == 0);
}

/* Writes a value that is larger than all earlier ones of the same writer. */
static void release_own(struct loco_sim_actor *a, struct released *r, uint64_t value)
{
    uint32_t at = (a->node + 1 + (uint32_t)loco_sim_actor_draw(a, 2)) % NODES;
    uint32_t third = NODES - a->node - at;
    uint32_t thread = a->index % THREADS;

    if (thread == 0)
        put_word(a, r, at, data_at(a->index), value);
    else
        add_word(a, r, at, data_at(a->index), r->wrote[thread][at], value);
    r->wrote[thread][at] = value;
    if (loco_sim_actor_draw(a, 2))
        loco_sim_actor_dawdle(a, 60);
    if (thread > 0 && loco_sim_actor_draw(a, 4) == 0)
        leave_and_come_back(a);
    else
        LOCO_SIM_EXPECT(a, fence(a, draw_fence(a), at) == 0);
    put_word(a, r, third, flag_at(a->index, thread), value);
}

static void release_for_other(struct loco_sim_actor *a, struct released *r)
{
    uint32_t thread = a->index % THREADS, other = 1 - thread;
    uint32_t writer = a->node * THREADS + other;
    uint64_t wrote[NODES];

    for (uint32_t node = 0; node < NODES; node++)
        wrote[node] = r->wrote[other][node];
    LOCO_SIM_EXPECT(a, loco_fence_global(a->mgr) == 0);
    for (uint32_t at = 0; at < NODES; at++)
        if (at != a->node && wrote[at])
            put_word(a, r, NODES - a->node - at, flag_at(writer, thread), wrote[at]);
}

/* Checks that all data that was reported as placed at the third node is there. */
static void look_at_all(struct loco_sim_actor *a, struct released *r)
{
    const void *local = loco_shared_region_local(&r->region);
    uint64_t *block = loco_mem_ref_take(a->mgr);

    for (uint32_t writer = 0; writer < ACTORS; writer++) {
        uint32_t from = writer / THREADS;
        if (from == a->node)
            continue;
        uint64_t said = 0;
        for (uint32_t thread = 0; thread < THREADS; thread++) {
            uint64_t flag = word_at(local, flag_at(writer, thread));
            said = flag > said ? flag : said;
        }
        if (!said)
            continue;
        struct loco_ack ack =
            loco_shared_region_read(&r->region, NODES - a->node - from, data_at(writer), block, 8);
        LOCO_SIM_EXPECT(a, loco_ack_wait(&ack, UINT64_MAX) == 0);
        LOCO_SIM_EXPECT(a, *block >= said);
    }
    loco_mem_ref_put(a->mgr, block);
}

/* After a fence, reads and atomics that were posted before it are done: their results have arrived.
 */
static void fence_results(struct loco_sim_actor *a, struct released *r)
{
    struct loco_region *region = r->region.region;
    uint32_t peer = (a->node + 1) % NODES;
    unsigned member = (unsigned)loco_channel_member(&r->region.channel, peer);
    uint64_t *read = loco_mem_ref_take(a->mgr), *old = loco_mem_ref_take(a->mgr);

    *read = *old = UINT64_MAX;
    loco_region_read(region, member, result_at(a->index), read, 8);
    if (loco_sim_actor_draw(a, 2))
        loco_region_fetch_add(region, member, result_at(a->index), 1, old);
    else
        *old = 0;
    LOCO_SIM_EXPECT(a, fence(a, draw_fence(a), peer) == 0);
    LOCO_SIM_EXPECT(a, *read != UINT64_MAX && *old != UINT64_MAX);
    struct loco_ack ack = loco_region_read(region, member, result_at(a->index), read, 8);
    LOCO_SIM_EXPECT(a, loco_ack_wait(&ack, UINT64_MAX) == 0);
    loco_mem_ref_put(a->mgr, old);
    loco_mem_ref_put(a->mgr, read);
}

static void released_act(struct loco_sim_actor *a)
{
    struct released *r = a->object;

    for (uint64_t i = 1; i <= RELEASES && *a->failures == 0; i++) {
        uint64_t what = loco_sim_actor_draw(a, 8);
        if (what < 4)
            release_own(a, r, i);
        else if (what < 6)
            release_for_other(a, r);
        else if (what < 7)
            fence_results(a, r);
        look_at_all(a, r);
        if (a->index % THREADS == 0 && i % (RELEASES / BARRIERS) == 0)
            LOCO_SIM_EXPECT(a, loco_barrier_wait(&r->barrier) == 0);
    }
}

const struct loco_sim_workload workload_fences = {
    .name = "fences",
    .nodes = NODES,
    .threads = THREADS,
    .model = word_model,
    .object_size = sizeof(struct released),
    .open = released_open,
    .close = released_close,
    .act = released_act,
};

/* --- the same by one thread, beside others that do nothing but global fences ------------------ */

/* Node 0 writes to node 1, and tells node 2. The other threads' fences concern the same links, and
 * must not count writes as placed for which they have not waited. */
enum { BESIDE_THREADS = 3, BESIDE_RELEASES = 24, TELLS = 0, LOOKS = 2 };

static void release_beside(struct loco_sim_actor *a, struct released *r)
{
    for (uint64_t i = 1; i <= BESIDE_RELEASES; i++) {
        put_word(a, r, 1, data_at(TELLS), i);
        loco_sim_actor_dawdle(a, 40);
        LOCO_SIM_EXPECT(a, fence(a, draw_fence(a), 1) == 0);
        put_word(a, r, LOOKS, flag_at(TELLS, 0), i);
    }
    r->wrote[0][1] = BESIDE_RELEASES;
}

static void fence_beside(struct loco_sim_actor *a, struct released *r)
{
    while (r->wrote[0][1] == 0) {
        if (loco_sim_actor_draw(a, 4) == 0)
            put_word(a, r, 1, data_at(a->index), 1);
        LOCO_SIM_EXPECT(a, loco_fence_global(a->mgr) == 0);
        loco_sim_actor_dawdle(a, 10);
    }
}

static void look_for_released(struct loco_sim_actor *a, struct released *r)
{
    const void *local = loco_shared_region_local(&r->region);
    uint64_t *block = loco_mem_ref_take(a->mgr);
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    for (uint64_t seen = 0; seen < BESIDE_RELEASES; loco_relax(a->mgr, &wait)) {
        uint64_t said = word_at(local, flag_at(TELLS, 0));
        if (said == seen)
            continue;
        struct loco_ack ack = loco_shared_region_read(&r->region, 1, data_at(TELLS), block, 8);
        LOCO_SIM_EXPECT(a, loco_ack_wait(&ack, UINT64_MAX) == 0);
        LOCO_SIM_EXPECT(a, *block >= said);
        seen = said;
    }
    loco_mem_ref_put(a->mgr, block);
}

static void beside_act(struct loco_sim_actor *a)
{
    if (a->index == TELLS)
        release_beside(a, a->object);
    else if (a->node == 0)
        fence_beside(a, a->object);
    else if (a->index == LOOKS * BESIDE_THREADS)
        look_for_released(a, a->object);
}

const struct loco_sim_workload workload_fences_beside = {
    .name = "fences_beside",
    .nodes = NODES,
    .threads = BESIDE_THREADS,
    .model = word_model,
    .object_size = sizeof(struct released),
    .open = released_open,
    .close = released_close,
    .act = beside_act,
};

/* --- a lock's release: with each fence, what that fence is for -------------------------------- */

/*
 * Three counters, protected by two locks of one array. One is at the lock's host, with the pair
 * fence, which is free unless the lock is handed over. One is at another node, with the thread
 * fence. The third is written by the node's scribe for the holder, with the global fence. When it
 * has nothing to write, the scribe writes something else and fences that.
 */
enum { COUNTERS = 3, LOCKS = 2, HOST = 0, LOCK_THREADS = 3, SECTIONS = 5 };

struct counted {
    struct loco_ticket_lock_array locks;
    struct loco_shared_region region;
    /* For the node's scribe: the values to write as the third counter, each larger than the one
     * before ... */
    _Atomic uint64_t asked, written; /* ... and the value it has written */
    _Atomic uint32_t acting;         /* threads that lock */
};

static const uint32_t counter_host[COUNTERS] = {HOST, 1, 2};

static int counted_open(struct loco_manager *m, void *object)
{
    struct counted *c = object;

    c->acting = LOCK_THREADS - 1;
    int rc = loco_ticket_lock_array_init(&c->locks, m, NULL, "locks", LOCKS, LOCO_ALL, 3);
    return rc ? rc : loco_shared_region_init(&c->region, m, NULL, "region", LOCO_ALL, 256);
}

static void counted_close(void *object)
{
    struct counted *c = object;

    loco_ticket_lock_array_fini(&c->locks);
    loco_shared_region_fini(&c->region);
}

static uint64_t counter_value(struct loco_sim_actor *a, struct counted *c, unsigned counter)
{
    uint32_t host = counter_host[counter];

    if (host == a->node)
        return word_at(loco_shared_region_local(&c->region), 8 * counter);
    uint64_t *block = loco_mem_ref_take(a->mgr);
    struct loco_ack ack = loco_shared_region_read(&c->region, host, 8 * counter, block, 8);
    LOCO_SIM_EXPECT(a, loco_ack_wait(&ack, UINT64_MAX) == 0);
    uint64_t value = *block;
    loco_mem_ref_put(a->mgr, block);
    return value;
}

static void set_counter(struct loco_sim_actor *a, struct counted *c, unsigned counter,
                        uint64_t value)
{
    uint64_t *local = loco_shared_region_local(&c->region);

    if (counter_host[counter] == a->node)
        __atomic_store_n(&local[counter], value, __ATOMIC_RELEASE);
    else
        LOCO_SIM_EXPECT(
            a, loco_shared_region_write(&c->region, counter_host[counter], 8 * counter, &value, 8)
                       .error == 0);
}

static void scribe(struct loco_sim_actor *a, struct counted *c)
{
    for (uint64_t noise = 1; c->acting > 0; noise++) {
        uint64_t asked = c->asked;
        if (c->written != asked) {
            set_counter(a, c, 2, asked);
            c->written = asked;
            continue;
        }
        uint32_t peer = (a->node + 1 + (uint32_t)loco_sim_actor_draw(a, 2)) % NODES;
        loco_shared_region_write(&c->region, peer, 8 * (COUNTERS + a->node), &noise, 8);
        LOCO_SIM_EXPECT(a, fence(a, draw_fence(a), peer) == 0);
        loco_sim_actor_dawdle(a, 40);
    }
}

static void ask_scribe(struct loco_sim_actor *a, struct counted *c, uint64_t value)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    c->asked = value;
    while (c->written != value)
        loco_relax(a->mgr, &wait);
}

static void count(struct loco_sim_actor *a, struct counted *c)
{
    static const enum loco_fence fences[COUNTERS] = {LOCO_FENCE_PAIR, LOCO_FENCE_THREAD,
                                                     LOCO_FENCE_GLOBAL};
    unsigned counter = (unsigned)loco_sim_actor_draw(a, COUNTERS);
    struct loco_ticket_lock *lock = loco_ticket_lock_at(&c->locks, HOST, counter % LOCKS);
    int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_FETCH_ADD, counter, 1, 0);

    LOCO_SIM_EXPECT(a, loco_ticket_lock_acquire(lock) == 0);
    uint64_t value = counter_value(a, c, counter);
    if (counter == 2)
        ask_scribe(a, c, value + 1);
    else
        set_counter(a, c, counter, value + 1);
    LOCO_SIM_EXPECT(a, loco_ticket_lock_release(lock, fences[counter]) == 0);
    loco_sim_history_return(a->history, op, true, value);
}

static void counted_act(struct loco_sim_actor *a)
{
    struct counted *c = a->object;

    if (a->index % LOCK_THREADS == 0) {
        scribe(a, c);
        return;
    }
    for (int i = 0; i < SECTIONS && *a->failures == 0; i++)
        count(a, c);
    c->acting--;
}

const struct loco_sim_workload workload_lock_fences = {
    .name = "lock_fences",
    .nodes = NODES,
    .threads = LOCK_THREADS,
    .model = word_model,
    .object_size = sizeof(struct counted),
    .open = counted_open,
    .close = counted_close,
    .act = counted_act,
};
