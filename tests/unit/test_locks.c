/* Tests of atomic_var and ticket_lock, on every fabric and under chaos. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "tests/nodes.h"

#include "channels/loco/atomic_var.h"
#include "channels/loco/ticket_lock.h"

enum { SEEDS = 12 };

static int run_chaos(uint32_t count, void (*body)(struct node *node), void *arg)
{
    for (enum loco_sim_chaos chaos = LOCO_SIM_DELAYED; chaos <= LOCO_SIM_DEFERRED; chaos++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++)
            if (run_chaos_nodes(seed, chaos, count, body, arg))
                return 1;
    return 0;
}

/* `how` points to the value that the body finds in node->arg. */
#define ON_EACH_FABRIC(suite, test_name, count, body, how)                                         \
    Test(suite, test_name##_sim)                                                                   \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_SIM, count, body, how), 0);                                      \
    }                                                                                              \
    Test(suite, test_name##_chaos)                                                                 \
    {                                                                                              \
        cr_assert_eq(run_chaos(count, body, how), 0);                                              \
    }                                                                                              \
    Test(suite, test_name##_threads)                                                               \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_THREADS, count, body, how), 0);                                  \
    }                                                                                              \
    Test(suite, test_name##_processes)                                                             \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_PROCESSES, count, body, how), 0);                                \
    }

static bool on_sim(const struct node *n)
{
    return strcmp(n->fabric->ops->name, "sim") == 0;
}

/* --- more threads of a node: fibers on the sim ------------------------------------------------ */

struct hand {
    struct node *node;
    void (*work)(struct hand *hand);
    void *arg;
    _Atomic bool ended;
    pthread_t thread;
};

static void hand_body(void *arg)
{
    struct hand *h = arg;

    CHECK(h->node, loco_thread_attach(h->node->mgr) == 0);
    h->work(h);
    loco_thread_detach(h->node->mgr);
    h->ended = true;
}

static void *hand_thread(void *arg)
{
    hand_body(arg);
    return NULL;
}

static void hire(struct hand *h, struct node *n, void (*work)(struct hand *hand), void *arg)
{
    *h = (struct hand){.node = n, .work = work, .arg = arg};
    if (on_sim(n))
        CHECK(n, loco_sim_spawn(n->fabric, hand_body, h) == 0);
    else
        CHECK(n, pthread_create(&h->thread, NULL, hand_thread, h) == 0);
}

static void await(struct hand *h)
{
    struct loco_wait wait = {.until = UINT64_MAX};

    while (!h->ended)
        loco_relax(h->node->mgr, &wait);
    if (!on_sim(h->node))
        pthread_join(h->thread, NULL);
}

static void rest(struct node *n, uint64_t ns)
{
    struct loco_wait wait = loco_wait_for(n->mgr, ns);

    while (!loco_relax(n->mgr, &wait))
        ;
}

/* --- atomic_var ------------------------------------------------------------------------------- */

static uint64_t loaded(struct node *n, struct loco_atomic_word word)
{
    uint64_t value = 0;

    CHECK(n, loco_atomic_load(word, &value) == 0);
    return value;
}

enum { ADDS = 60 };

/* All nodes draw numbers from one counter. Each number is drawn once. */
static void counter_body(struct node *n)
{
    struct loco_atomic_var counter;
    struct loco_atomic_array drawn;
    struct loco_barrier bar;
    uint64_t number, before;

    CHECK(n, loco_atomic_var_init(&counter, n->mgr, NULL, "counter", 1, LOCO_ALL, 0) == 0);
    CHECK(n, loco_atomic_array_init(&drawn, n->mgr, NULL, "drawn", ADDS, LOCO_ALL, 0) == 0);
    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    for (int i = 0; i < ADDS; i++) {
        CHECK(n, loco_atomic_fetch_add(loco_atomic_of(&counter), 1, &number) == 0);
        CHECK(n, number < ADDS * n->count);
        struct loco_atomic_word mark =
            loco_atomic_at(&drawn, (uint32_t)number % n->count, number / n->count);
        CHECK(n, loco_atomic_fetch_add(mark, 1, &before) == 0);
        CHECK(n, before == 0);
    }
    CHECK(n, loco_barrier_wait(&bar) == 0);
    CHECK(n, loaded(n, loco_atomic_of(&counter)) == ADDS * n->count);

    /* The cached copy is as old as the last pull. */
    CHECK(n, loco_atomic_var_cached(&counter) == (n->id == 1 ? ADDS * n->count : 0));
    struct loco_ack ack = loco_atomic_var_pull(&counter);
    CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
    CHECK(n, loco_atomic_var_cached(&counter) == ADDS * n->count);

    /* Operations on a word or a node that does not exist fail. */
    CHECK(n, loco_atomic_load(loco_atomic_at(&drawn, 0, ADDS), &number) == -ERANGE);
    CHECK(n, loco_atomic_store(loco_atomic_at(&drawn, n->count, 0), 1) == -ERANGE);
    CHECK(n, loco_barrier_wait(&bar) == 0);
    loco_barrier_fini(&bar);
    loco_atomic_array_fini(&drawn);
    loco_atomic_var_fini(&counter);
}

ON_EACH_FABRIC(atomic_var, counter, 3, counter_body, NULL)

static uint64_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Makes one of the waiting operations, on a word and on a plain variable that models it. */
static void operate(struct node *n, struct loco_atomic_word word, uint64_t *model, uint64_t random)
{
    uint64_t operand = random / 8, was = *model, old = was;
    bool expects = random % 16 < 8;

    switch (random % 5) {
    case 0:
        CHECK(n, loco_atomic_load(word, &old) == 0);
        break;
    case 1:
        CHECK(n, loco_atomic_store(word, *model = operand) == 0);
        break;
    case 2:
        CHECK(n, loco_atomic_exchange(word, *model = operand, &old) == 0);
        break;
    case 3:
        CHECK(n, loco_atomic_fetch_add(word, operand, &old) == 0);
        *model += operand;
        break;
    case 4:
        CHECK(n, loco_atomic_compare_swap(word, expects ? was : ~was, operand, &old) == 0);
        *model = expects ? operand : was;
        break;
    }
    CHECK(n, old == was);
    CHECK(n, loaded(n, word) == *model);
}

/* The same for the operations that only post. */
static void post(struct node *n, struct loco_atomic_word word, uint64_t *model)
{
    uint64_t *old = loco_mem_ref_take(n->mgr);
    struct loco_ack ack = loco_atomic_post_fetch_add(word, 5, &old[0]);

    CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0 && old[0] == *model);
    ack = loco_atomic_post_compare_swap(word, *model + 5, 77, &old[1]);
    CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0 && old[1] == *model + 5);
    ack = loco_atomic_write(word, 78); /* placed before this thread's next operations there */
    CHECK(n, ack.error == 0);
    ack = loco_atomic_post_load(word, &old[2]);
    CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0 && old[2] == 78);
    *model = 78;
    loco_mem_ref_put(n->mgr, old);
}

static void model_body(struct node *n)
{
    struct loco_atomic_array words;
    struct loco_barrier bar;
    uint64_t random = 7 + n->id, models[3] = {0};

    CHECK(n, loco_atomic_array_init(&words, n->mgr, NULL, "words", n->count, LOCO_ALL, 0) == 0);
    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    for (int i = 0; i < 60 && n->failures == 0; i++) {
        uint32_t node = (uint32_t)draw(&random) % n->count;
        struct loco_atomic_word word = loco_atomic_at(&words, node, n->id);
        operate(n, word, &models[node], draw(&random));
        if (i % 10 == 0)
            post(n, word, &models[node]);
    }
    CHECK(n, loco_barrier_wait(&bar) == 0);
    loco_barrier_fini(&bar);
    loco_atomic_array_fini(&words);
}

ON_EACH_FABRIC(atomic_var, model, 3, model_body, NULL)

/* Exchanged values are neither lost nor duplicated, whatever else happens: the sums of the inserted
 * values equal those of the removed and remaining ones. */
static void exchange_body(struct node *n)
{
    struct loco_atomic_var token, in, out;
    struct loco_barrier bar;
    uint64_t old, ignored;

    CHECK(n, loco_atomic_var_init(&token, n->mgr, NULL, "token", 0, LOCO_ALL, 0) == 0);
    CHECK(n, loco_atomic_var_init(&in, n->mgr, NULL, "in", 1, LOCO_ALL, 0) == 0);
    CHECK(n, loco_atomic_var_init(&out, n->mgr, NULL, "out", 2, LOCO_ALL, 0) == 0);
    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    for (uint64_t i = 0; i < 30; i++) {
        uint64_t mine = 1ull << (i % 32 + 4 * n->id);
        CHECK(n, loco_atomic_exchange(loco_atomic_of(&token), mine, &old) == 0);
        CHECK(n, loco_atomic_fetch_add(loco_atomic_of(&in), mine, &ignored) == 0);
        CHECK(n, loco_atomic_fetch_add(loco_atomic_of(&out), old, &ignored) == 0);
        CHECK(n, loco_atomic_fetch_add(loco_atomic_of(&token), 3, &ignored) == 0);
        CHECK(n, loco_atomic_fetch_add(loco_atomic_of(&in), 3, &ignored) == 0);
    }
    CHECK(n, loco_barrier_wait(&bar) == 0);
    CHECK(n, loaded(n, loco_atomic_of(&in)) ==
                 loaded(n, loco_atomic_of(&out)) + loaded(n, loco_atomic_of(&token)));
    CHECK(n, loco_barrier_wait(&bar) == 0);
    loco_barrier_fini(&bar);
    loco_atomic_var_fini(&out);
    loco_atomic_var_fini(&in);
    loco_atomic_var_fini(&token);
}

ON_EACH_FABRIC(atomic_var, exchange, 3, exchange_body, NULL)

static void device_body(struct node *n)
{
    struct loco_atomic_var var;
    uint64_t old;

    CHECK(n, loco_atomic_var_init(&var, n->mgr, NULL, "var", 0, LOCO_ALL, LOCO_ATOMIC_DEVICE) == 0);
    CHECK(n, node_logged(n, "channel var") && node_logged(n, "no device memory"));
    CHECK(n, loco_atomic_fetch_add(loco_atomic_of(&var), 1, &old) == 0 && old == 0);
    loco_atomic_var_fini(&var);
}

ON_EACH_FABRIC(atomic_var, device_memory_falls_back_and_says_so, 1, device_body, NULL)

/* --- ticket_lock: mutual exclusion ------------------------------------------------------------ */

struct how {
    unsigned handover, threads, rounds;
    uint64_t first_ticket; /* start of the counters, at the network and at each node */
};

/* The lock protects one word at the lock's host and one at another node. */
struct protected
{
    const struct how *how;
    struct loco_ticket_lock lock;
    struct loco_shared_region data;
    struct loco_atomic_var total; /* sections of all nodes */
    struct loco_barrier bar;
    uint32_t other;            /* the other node */
    _Atomic uint64_t sections; /* this node's */
};

enum { HOST = 1 };

/* The passes are in the bits above the holder's node number. */
static const uint64_t TICKET = 1ull << 32;

static void begin(struct node *n, struct protected *p)
{
    *p = (struct protected){.how = n->arg, .other = (HOST + 1) % n->count};
    CHECK(n, loco_ticket_lock_init(&p->lock, n->mgr, NULL, "lock", HOST, LOCO_ALL,
                                   p->how->handover) == 0);
    CHECK(n, loco_shared_region_init(&p->data, n->mgr, NULL, "data", LOCO_ALL, 64) == 0);
    CHECK(n, loco_atomic_var_init(&p->total, n->mgr, NULL, "total", 0, LOCO_ALL, 0) == 0);
    CHECK(n, loco_barrier_init(&p->bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    p->lock.local_next = p->lock.local_serving = p->how->first_ticket;
    if (n->id == HOST) {
        loco_atomic_store(loco_atomic_at(p->lock.words, HOST, 0), p->how->first_ticket);
        loco_atomic_store(loco_atomic_at(p->lock.words, HOST, 8), p->how->first_ticket);
    }
    CHECK(n, loco_barrier_wait(&p->bar) == 0);
}

/* A lock that nobody holds or waits for serves the ticket that comes next. So no ticket was lost or
 * leaked. */
static void check_rest(struct node *n, struct protected *p)
{
    CHECK(n, loco_barrier_wait(&p->bar) == 0);
    uint64_t next = loaded(n, loco_atomic_at(p->lock.words, HOST, 0));
    uint64_t serving = loaded(n, loco_atomic_at(p->lock.words, HOST, 8));
    CHECK(n, serving / TICKET == next / TICKET);
    CHECK(n, p->lock.local_serving / TICKET == p->lock.local_next / TICKET);
    CHECK(n, serving % TICKET / 4 <= p->how->handover);
    CHECK(n, p->lock.local_serving % TICKET / 4 <= p->how->handover);
    CHECK(n, loco_barrier_wait(&p->bar) == 0);
}

static void end(struct node *n, struct protected *p)
{
    CHECK(n, loco_barrier_wait(&p->bar) == 0);
    loco_barrier_fini(&p->bar);
    loco_atomic_var_fini(&p->total);
    loco_shared_region_fini(&p->data);
    loco_ticket_lock_fini(&p->lock);
}

/* The node's member number in the data's region. */
static unsigned at(const struct protected *p, const struct node *n, uint32_t node)
{
    return node == n->id ? LOCO_SELF : (unsigned)loco_channel_member(&p->data.channel, node);
}

static uint64_t read_word(struct node *n, struct protected *p, uint32_t node, size_t word)
{
    uint64_t *block = loco_mem_ref_take(n->mgr);
    struct loco_ack ack =
        loco_region_read(p->data.region, at(p, n, node), 8 * word, block, sizeof *block);

    CHECK(n, loco_ack_wait(&ack, TEST_TIMEOUT) == 0);
    uint64_t value = *block;
    loco_mem_ref_put(n->mgr, block);
    return value;
}

static void write_word(struct node *n, struct protected *p, uint32_t node, size_t word,
                       uint64_t value)
{
    struct loco_ack ack =
        loco_region_write(p->data.region, at(p, n, node), 8 * word, &value, sizeof value);
    CHECK(n, ack.error == 0);
}

/* Reads, modifies and writes. The fence is the weakest that covers the writes. */
static void section(struct node *n, struct protected *p, bool both)
{
    write_word(n, p, HOST, 0, read_word(n, p, HOST, 0) + 1);
    if (both)
        write_word(n, p, p->other, 0, read_word(n, p, p->other, 0) + 1);
    enum loco_fence fence = both ? LOCO_FENCE_THREAD : LOCO_FENCE_PAIR;
    p->sections++;
    CHECK(n, loco_ticket_lock_release(&p->lock, fence) == 0);
}

static void sections(struct hand *h)
{
    struct node *n = h->node;
    struct protected *p = h->arg;

    for (unsigned i = 0; i < p->how->rounds && n->failures < 10; i++) {
        CHECK(n, loco_ticket_lock_acquire(&p->lock) == 0);
        section(n, p, false);
    }
}

/* Acquires in all three ways. Failed attempts must leave no trace. */
static void mixed_sections(struct hand *h)
{
    struct node *n = h->node;
    struct protected *p = h->arg;

    for (unsigned i = 0; i < p->how->rounds && n->failures < 10; i++) {
        int rc = i % 3 == 0   ? loco_ticket_lock_try(&p->lock)
                 : i % 3 == 1 ? loco_ticket_lock_timed(&p->lock, 3000)
                              : loco_ticket_lock_acquire(&p->lock);
        CHECK(n, rc == 0 || (i % 3 == 0 && rc == -EBUSY) || (i % 3 == 1 && rc == -ETIMEDOUT));
        if (rc == 0)
            section(n, p, true);
    }
}

static void all_work(struct node *n, struct protected *p, void (*work)(struct hand *hand))
{
    struct hand hands[4], self = {.node = n, .arg = p};
    uint64_t before;

    for (unsigned i = 1; i < p->how->threads; i++)
        hire(&hands[i], n, work, p);
    work(&self);
    for (unsigned i = 1; i < p->how->threads; i++)
        await(&hands[i]);
    CHECK(n, loco_atomic_fetch_add(loco_atomic_of(&p->total), p->sections, &before) == 0);
    check_rest(n, p);
    uint64_t total = loaded(n, loco_atomic_of(&p->total));
    CHECK(n, total > 0 && read_word(n, p, HOST, 0) == total);
    CHECK(n, read_word(n, p, p->other, 0) == (work == mixed_sections ? total : 0));
}

static void exclusion_body(struct node *n)
{
    struct protected p;

    begin(n, &p);
    all_work(n, &p, sections);
    CHECK(n, p.sections == p.how->threads * p.how->rounds);
    end(n, &p);
}

static void mixed_body(struct node *n)
{
    struct protected p;

    begin(n, &p);
    all_work(n, &p, mixed_sections);
    end(n, &p);
}

static struct how strict = {.handover = 0, .threads = 1, .rounds = 30};
static struct how strict_threads = {.handover = 0, .threads = 2, .rounds = 20};
static struct how bounded = {.handover = 3, .threads = 1, .rounds = 40};
static struct how bounded_threads = {.handover = 5, .threads = 3, .rounds = 20};
static struct how wrapping = {
    .handover = 2, .threads = 2, .rounds = 20, .first_ticket = -(uint64_t)20 * TICKET};

ON_EACH_FABRIC(ticket_lock, excludes_strictly, 3, exclusion_body, &strict)
ON_EACH_FABRIC(ticket_lock, excludes_threads_strictly, 3, exclusion_body, &strict_threads)
ON_EACH_FABRIC(ticket_lock, excludes_with_handover, 3, exclusion_body, &bounded)
ON_EACH_FABRIC(ticket_lock, excludes_threads_with_handover, 2, exclusion_body, &bounded_threads)
ON_EACH_FABRIC(ticket_lock, survives_the_wrap, 2, exclusion_body, &wrapping)
ON_EACH_FABRIC(ticket_lock, loses_no_ticket_strictly, 3, mixed_body, &strict_threads)
ON_EACH_FABRIC(ticket_lock, loses_no_ticket_with_handover, 3, mixed_body, &bounded_threads)
ON_EACH_FABRIC(ticket_lock, loses_no_ticket_at_the_wrap, 2, mixed_body, &wrapping)

/* --- while somebody holds the lock ------------------------------------------------------------ */

/* Not even another thread of the holder's node can acquire it. */
static void cannot(struct hand *h)
{
    struct node *n = h->node;
    struct protected *p = h->arg;

    CHECK(n, loco_ticket_lock_try(&p->lock) == -EBUSY);
    uint64_t begin = loco_clock(n->mgr);
    CHECK(n, loco_ticket_lock_timed(&p->lock, 20000) == -ETIMEDOUT);
    CHECK(n, loco_clock(n->mgr) - begin >= 20000);
}

static void held_body(struct node *n)
{
    struct protected p;
    struct hand hand = {.node = n, .arg = &p};

    begin(n, &p);
    if (n->id == 0)
        CHECK(n, loco_ticket_lock_try(&p.lock) == 0); /* free: it succeeds */
    CHECK(n, loco_barrier_wait(&p.bar) == 0);
    if (n->id != 0)
        cannot(&hand);
    hire(&hand, n, cannot, &p);
    await(&hand);
    CHECK(n, loco_barrier_wait(&p.bar) == 0);
    if (n->id == 0)
        CHECK(n, loco_ticket_lock_release(&p.lock, LOCO_FENCE_NONE) == 0);
    CHECK(n, loco_ticket_lock_timed(&p.lock, TEST_TIMEOUT) == 0);
    CHECK(n, loco_ticket_lock_release(&p.lock, LOCO_FENCE_NONE) == 0);
    CHECK(n, loco_fence_thread(n->mgr) == 0); /* as the release is only posted */
    check_rest(n, &p);

    /* A free lock is acquired at the first try, by each node in turn, whoever held it before. */
    for (uint32_t turn = 0; turn < 4 * n->count; turn++) {
        if (turn % n->count == n->id) {
            CHECK(n, loco_ticket_lock_try(&p.lock) == 0);
            CHECK(n, loco_ticket_lock_release(&p.lock, LOCO_FENCE_NONE) == 0);
        }
        CHECK(n, loco_barrier_wait(&p.bar) == 0);
    }
    check_rest(n, &p);
    end(n, &p);
}

ON_EACH_FABRIC(ticket_lock, held_strictly, 3, held_body, &strict)
ON_EACH_FABRIC(ticket_lock, held_with_handover, 3, held_body, &bounded)

/* From another node, where nothing arrives when the holder releases. */
static void patient_body(struct node *n)
{
    struct protected p;
    const uint64_t section_ns = 50000, round_trip_ns = 2000;

    begin(n, &p);
    uint64_t begun = loco_clock(n->mgr);
    if (n->id == HOST) {
        CHECK(n, loco_ticket_lock_acquire(&p.lock) == 0);
        loco_sim_sleep(n->fabric, begun + section_ns, LOCO_SIM_FIRST);
    } else {
        loco_sim_sleep(n->fabric, begun + section_ns / 5, LOCO_SIM_FIRST);
        CHECK(n, loco_ticket_lock_timed(&p.lock, TEST_TIMEOUT) == 0);
        CHECK(n, loco_clock(n->mgr) - begun < section_ns + 5 * round_trip_ns);
    }
    CHECK(n, loco_ticket_lock_release(&p.lock, LOCO_FENCE_PAIR) == 0);
    loco_sim_sleep(n->fabric, begun + 2 * section_ns, LOCO_SIM_FIRST);
    end(n, &p);
}

Test(ticket_lock, a_timed_wait_from_afar_ends_soon_after_the_release)
{
    static struct how how = {.handover = 0, .threads = 1};

    cr_assert_eq(run_sim_nodes(1, 1000, 0, 2, patient_body, &how), 0);
}

/* --- fairness --------------------------------------------------------------------------------- */

/* All nodes want the lock all the time, and count how long one node makes the others wait. Word 1
 * at the host is the last holder's node, word 2 its number of successive holds, and word 3 the
 * longest such series. */
static void greedy_sections(struct hand *h)
{
    struct node *n = h->node;
    struct protected *p = h->arg;

    for (unsigned i = 0; i < p->how->rounds; i++) {
        CHECK(n, loco_ticket_lock_acquire(&p->lock) == 0);
        uint64_t row = read_word(n, p, HOST, 1) == n->id + 1 ? read_word(n, p, HOST, 2) + 1 : 1;
        write_word(n, p, HOST, 1, n->id + 1);
        write_word(n, p, HOST, 2, row);
        /* Not at the end, as the others may have finished their rounds. */
        if (i < p->how->rounds / 2 && row > read_word(n, p, HOST, 3))
            write_word(n, p, HOST, 3, row);
        CHECK(n, loco_ticket_lock_release(&p->lock, LOCO_FENCE_PAIR) == 0);
    }
}

static void greedy_body(struct node *n)
{
    struct protected p;
    struct hand hands[4], self = {.node = n, .arg = &p};

    begin(n, &p);
    for (unsigned i = 1; i < p.how->threads; i++)
        hire(&hands[i], n, greedy_sections, &p);
    greedy_sections(&self);
    for (unsigned i = 1; i < p.how->threads; i++)
        await(&hands[i]);
    check_rest(n, &p);
    /* A node's own turn, and the turns that it passes on. */
    CHECK(n, read_word(n, &p, HOST, 3) == p.how->handover + 1);
    end(n, &p);
}

/* Only in virtual time, where no thread is ever delayed between two sections. */
static struct how greedy_strict = {.handover = 0, .threads = 1, .rounds = 40};
static struct how greedy = {.handover = 4, .threads = 1, .rounds = 100};
static struct how greedy_threads = {.handover = 4, .threads = 3, .rounds = 60};

Test(ticket_lock, is_strictly_fair)
{
    cr_assert_eq(run_nodes(ON_SIM, 3, greedy_body, &greedy_strict), 0);
}

Test(ticket_lock, is_fair_within_its_bound)
{
    cr_assert_eq(run_nodes(ON_SIM, 3, greedy_body, &greedy), 0);
}

Test(ticket_lock, is_fair_within_its_bound_to_threads)
{
    cr_assert_eq(run_nodes(ON_SIM, 3, greedy_body, &greedy_threads), 0);
}

/* --- fences ----------------------------------------------------------------------------------- */

/* Under the lock, node 0's helper writes word 1 of node 2, and then node 0 itself writes word 0. A
 * global fence covers both: a node that sees the second write sees the first. */
struct helped {
    struct protected *p;
    _Atomic uint64_t wanted, written;
};

static void help(struct hand *h)
{
    struct helped *helped = h->arg;
    struct loco_wait wait = {.until = UINT64_MAX};

    for (uint64_t round = 1; round <= helped->p->how->rounds; round++) {
        while (helped->wanted < round)
            loco_relax(h->node->mgr, &wait);
        write_word(h->node, helped->p, 2, 1, round);
        helped->written = round;
    }
}

static void global_body(struct node *n)
{
    struct protected p;
    struct helped helped = {.p = &p};
    struct hand hand;

    begin(n, &p);
    if (n->id == 0)
        hire(&hand, n, help, &helped);
    for (uint64_t round = 1, seen = 0; n->id < 2 && round <= p.how->rounds; round++) {
        CHECK(n, loco_ticket_lock_acquire(&p.lock) == 0);
        if (n->id == 0) {
            struct loco_wait wait = {.until = UINT64_MAX};
            helped.wanted = round;
            while (helped.written < round)
                loco_relax(n->mgr, &wait);
            write_word(n, &p, 2, 0, round);
        } else {
            uint64_t first = read_word(n, &p, 2, 1), second = read_word(n, &p, 2, 0);
            CHECK(n, first == second && second >= seen);
            seen = second;
        }
        CHECK(n,
              loco_ticket_lock_release(&p.lock, n->id ? LOCO_FENCE_NONE : LOCO_FENCE_GLOBAL) == 0);
    }
    if (n->id == 0)
        await(&hand);
    check_rest(n, &p);
    end(n, &p);
}

ON_EACH_FABRIC(ticket_lock, global_fence_covers_the_other_threads, 3, global_body, &strict)

/* --- many locks, and none --------------------------------------------------------------------- */

enum { LOCKS = 3 };

static void array_body(struct node *n)
{
    struct loco_ticket_lock_array locks;
    struct loco_shared_region data;
    struct loco_barrier bar;
    struct protected p;

    CHECK(n, loco_ticket_lock_array_init(&locks, n->mgr, NULL, "locks", LOCKS, LOCO_ALL, 2) == 0);
    CHECK(n, loco_shared_region_init(&data, n->mgr, NULL, "data", LOCO_ALL, 8 * LOCKS) == 0);
    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    p.data = data;
    for (unsigned i = 0; i < 40; i++) {
        uint32_t host = (i + n->id) / LOCKS % n->count;
        struct loco_ticket_lock *lock = loco_ticket_lock_at(&locks, host, i % LOCKS);
        loco_ticket_lock_prefetch(loco_ticket_lock_at(&locks, host, (i + 1) % LOCKS));
        CHECK(n, loco_ticket_lock_acquire(lock) == 0);
        write_word(n, &p, host, i % LOCKS, read_word(n, &p, host, i % LOCKS) + 1);
        CHECK(n, loco_ticket_lock_release(lock, LOCO_FENCE_PAIR) == 0);
    }
    CHECK(n, loco_barrier_wait(&bar) == 0);
    uint64_t sum = 0;
    for (uint32_t host = 0; host < n->count; host++)
        for (size_t i = 0; i < LOCKS; i++)
            sum += read_word(n, &p, host, i);
    CHECK(n, sum == 40 * n->count);
    CHECK(n, loco_barrier_wait(&bar) == 0);
    loco_barrier_fini(&bar);
    loco_shared_region_fini(&data);
    loco_ticket_lock_array_fini(&locks);
}

ON_EACH_FABRIC(ticket_lock, array, 3, array_body, NULL)

static void arguments_body(struct node *n)
{
    struct loco_ticket_lock lock;
    struct loco_ticket_lock_array locks;
    struct loco_atomic_array words;

    CHECK(n, loco_ticket_lock_init(&lock, n->mgr, NULL, "l", 1, LOCO_ALL, 0) == -EINVAL);
    CHECK(n, loco_ticket_lock_init(&lock, n->mgr, NULL, "l", 0, LOCO_ALL, LOCO_HANDOVER_MAX + 1) ==
                 -EINVAL);
    CHECK(n, loco_ticket_lock_array_init(&locks, n->mgr, NULL, "l", 0, LOCO_ALL, 0) == -EINVAL);
    CHECK(n, loco_ticket_lock_array_init(&locks, n->mgr, NULL, "l", SIZE_MAX / 8, LOCO_ALL, 0) ==
                 -EINVAL);
    CHECK(n, loco_atomic_array_init(&words, n->mgr, NULL, "l", 0, LOCO_ALL, 0) == -EINVAL);
    CHECK(n, loco_atomic_array_init(&words, n->mgr, NULL, "a/b", 1, LOCO_ALL, 0) == -EINVAL);
    loco_ticket_lock_array_fini(&locks);
    loco_ticket_lock_fini(&lock);
    loco_atomic_array_fini(&words);
}

ON_EACH_FABRIC(ticket_lock, arguments, 1, arguments_body, NULL)

/* Rests between looks, as nothing arrives at a node when another node's word changes. */
static void await_total(struct node *n, struct protected *p, uint64_t total)
{
    const uint64_t end = loco_clock(n->mgr) + TEST_TIMEOUT;
    uint64_t done = UINT64_MAX;

    while (done != total && loco_clock(n->mgr) < end) {
        rest(n, 1000);
        CHECK(n, loco_atomic_load(loco_atomic_of(&p->total), &done) == 0);
    }
    CHECK(n, done == total);
}

/* The lock's host leaves after node 0 is done, and node 0, which has this word, leaves after that.
 */
static void see_off(struct node *n, struct protected *p)
{
    uint64_t done;

    await_total(n, p, n->id == HOST);
    int rc = loco_atomic_fetch_add(loco_atomic_of(&p->total), 1, &done);
    CHECK(n, rc == 0 || n->id == HOST); /* node 0 may leave before it answers */
    if (n->id != HOST)
        await_total(n, p, 2);
}

/* When a member leaves while it holds a lock, the others can acquire it again. */
static void leaver_body(struct node *n)
{
    struct protected p;

    begin(n, &p);
    if (n->id == 2) {
        CHECK(n, loco_ticket_lock_acquire(&p.lock) == 0);
        CHECK(n, loco_barrier_wait(&p.bar) == 0);
        rest(n, 50000);
    } else {
        CHECK(n, loco_barrier_wait(&p.bar) == 0);
        CHECK(n, loco_ticket_lock_acquire(&p.lock) == 0);
        CHECK(n, loco_ticket_lock_release(&p.lock, LOCO_FENCE_NONE) == 0);
        CHECK(n, loco_ticket_lock_timed(&p.lock, TEST_TIMEOUT) == 0);
        CHECK(n, loco_ticket_lock_release(&p.lock, LOCO_FENCE_NONE) == 0);
        see_off(n, &p);
    }
    loco_barrier_fini(&p.bar);
    loco_atomic_var_fini(&p.total);
    loco_shared_region_fini(&p.data);
    loco_ticket_lock_fini(&p.lock);
}

ON_EACH_FABRIC(ticket_lock, survives_a_leaver, 3, leaver_body, &bounded)

/* --- a long wait that sees others served ------------------------------------------------------ */

enum { SERVED = 40, SECTION_NS = 2000 };

static const struct loco_fabric_ops *watched;
static uint64_t turns_all, turns_most; /* of relax(); and of one wait without a restart */

static void watch(struct loco_node *node, struct loco_wait *wait)
{
    watched->relax(node, wait);
    turns_all++;
    if (wait->turns > turns_most)
        turns_most = wait->turns;
}

/* Advances the thing that `work` waits for, and checks that its wait restarted each time. */
static void expect_restarts(struct node *n, void (*work)(struct hand *hand), void *arg,
                            void (*serve)(void *arg, uint64_t turn))
{
    struct loco_fabric_ops spy = *n->fabric->ops;
    struct hand waiter;

    turns_all = turns_most = 0;
    watched = n->fabric->ops;
    spy.relax = watch;
    n->fabric->ops = &spy;
    hire(&waiter, n, work, arg);
    for (uint64_t turn = 1; turn <= SERVED; turn++) {
        rest(n, SECTION_NS);
        CHECK(n, !waiter.ended);
        serve(arg, turn);
    }
    n->fabric->ops = watched;
    await(&waiter);
    CHECK(n, turns_most < turns_all / (SERVED / 4));
}

static void acquire_once(struct hand *h)
{
    struct loco_ticket_lock *lock = h->arg;

    CHECK(h->node, loco_ticket_lock_acquire(lock) == 0);
    CHECK(h->node, loco_ticket_lock_release(lock, LOCO_FENCE_NONE) == 0);
}

static void serve_lock(void *arg, uint64_t turn)
{
    const struct loco_ticket_lock *lock = arg;

    loco_atomic_store(loco_atomic_at(lock->words, 0, 8), turn * TICKET);
}

/* A thread waits behind others, each of which takes a while. A wait counts turns in which nothing
 * happened, and a fabric lets the CPU sleep longer the more there are. So the count restarts each
 * time that another thread is served. */
static void served_body(struct node *n)
{
    const unsigned *handover = n->arg;
    struct loco_ticket_lock lock;

    CHECK(n, loco_ticket_lock_init(&lock, n->mgr, NULL, "lock", 0, LOCO_ALL, *handover) == 0);
    CHECK(n, loco_atomic_store(loco_atomic_at(lock.words, 0, 0), SERVED * TICKET) == 0);
    expect_restarts(n, acquire_once, &lock, serve_lock);
    loco_ticket_lock_fini(&lock);
}

Test(ticket_lock, a_strict_wait_begins_anew_with_each_one_served)
{
    unsigned handover = LOCO_HANDOVER_STRICT;

    cr_assert_eq(run_nodes(ON_SIM, 1, served_body, &handover), 0);
}

Test(ticket_lock, a_wait_that_may_be_passed_begins_anew_with_each_one_served)
{
    unsigned handover = LOCO_HANDOVER_DEFAULT;

    cr_assert_eq(run_nodes(ON_SIM, 1, served_body, &handover), 0);
}

/* --- the same of a key-value store's lock ----------------------------------------------------- */

static void delete_once(struct hand *h)
{
    CHECK(h->node, loco_kvstore_delete(h->arg, 1) == -ENOENT);
}

static void serve_store(void *arg, uint64_t turn)
{
    const struct loco_kvstore *kv = arg;
    uint64_t before;

    (void)turn;
    loco_atomic_fetch_add(loco_atomic_at(&kv->locks, 0, 0), UINT64_C(1) << 32, &before);
}

static void served_store_body(struct node *n)
{
    const struct loco_kvstore_config config = {.value_size = 8, .capacity = 1, .locks = 1};
    struct loco_kvstore kv;

    CHECK(n, loco_kvstore_init(&kv, n->mgr, NULL, "kv", &config) == 0);
    CHECK(n, loco_atomic_store(loco_atomic_at(&kv.locks, 0, 0), SERVED) == 0); /* tickets */
    expect_restarts(n, delete_once, &kv, serve_store);
    loco_kvstore_fini(&kv);
}

Test(kvstore, a_call_that_waits_for_a_lock_begins_anew_with_each_one_served)
{
    cr_assert_eq(run_nodes(ON_SIM, 1, served_store_body, NULL), 0);
}

/* --- who counts as dead ----------------------------------------------------------------------- */

/* Steps that the nodes have taken, in the test's own memory. */
static _Atomic unsigned apart_held, apart_tried, apart_cut, apart_left;

static void await_step(struct node *n, const _Atomic unsigned *step, unsigned reached)
{
    while (*step < reached)
        rest(n, 1000);
}

static void loses(struct node *n, uint32_t node)
{
    AWAIT(n, loco_peer_lost(n->mgr, node));
}

/* Node 1 loses nodes 2 and 3, which live and still have each other; its host has lost node 2 only.
 * So node 2, which is in the lock, is not dead until node 3 has lost it, too. */
static void apart_body(struct node *n)
{
    struct loco_ticket_lock lock;

    CHECK(n, loco_ticket_lock_init(&lock, n->mgr, NULL, "lock", 0, LOCO_ALL, 0) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == 2) {
        CHECK(n, loco_ticket_lock_acquire(&lock) == 0);
        apart_held++;
    }
    await_step(n, &apart_held, 1);
    if (n->id == 1) {
        loco_sim_cut(n->fabric, 1, 3);
        loses(n, 3);
        loco_sim_cut(n->fabric, 0, 2);
        loco_sim_cut(n->fabric, 1, 2);
        loses(n, 2);
        CHECK(n, loco_ticket_lock_timed(&lock, 100000) == -ETIMEDOUT);
        apart_tried++;
    }
    await_step(n, &apart_tried, 1);
    if (n->id == 3)
        loco_sim_cut(n->fabric, 2, 3);
    if (n->id == 3)
        apart_cut++;
    await_step(n, &apart_cut, 1);
    if (n->id != 2) {
        CHECK(n, loco_ticket_lock_timed(&lock, TEST_TIMEOUT) == 0);
        CHECK(n, loco_ticket_lock_release(&lock, LOCO_FENCE_NONE) == 0);
    }
    apart_left++;
    await_step(n, &apart_left, n->count);
    loco_ticket_lock_fini(&lock);
}

static int run_apart(uint64_t seed)
{
    apart_held = apart_tried = apart_cut = apart_left = 0;
    return seed ? run_chaos_nodes(seed, LOCO_SIM_DEFERRED, 4, apart_body, NULL)
                : run_nodes(ON_SIM, 4, apart_body, NULL);
}

Test(ticket_lock, a_holder_that_another_still_has_is_not_dead)
{
    for (uint64_t seed = 0; seed <= SEEDS; seed++)
        cr_assert_eq(run_apart(seed), 0);
}

/* --- a claim that comes late --------------------------------------------------------------------
 */

static const struct loco_fabric_ops *true_ops;
static struct loco_ticket_lock *late_host; /* the lock, at its host */
static struct loco_link *late_link;
static uint64_t late_claim, *late_place;
static _Atomic unsigned late_begun, late_held, late_tried;

static void late_land(const struct loco_link *link)
{
    if (link != late_link || !late_claim)
        return;
    *late_place = late_claim;
    late_claim = 0;
}

/* In place of the fabric's: the first write of node 1 that claims a ticket is placed before the
 * next operation of its link, and no earlier. */
static int late_write(struct loco_link *link, struct loco_remote to, const void *from, size_t size)
{
    uint64_t value = 0;

    if (size == sizeof value)
        memcpy(&value, from, size);
    if (late_link || link->node->id != 1 || link->peer != 0 || value % 4 != 1) {
        late_land(link);
        return true_ops->write(link, to, from, size);
    }
    const struct loco_region *words = late_host->words->region;
    late_link = link;
    late_claim = value;
    late_place = (uint64_t *)words->memory + (to.offset - words->where.offset) / sizeof value;
    atomic_store(&link->done, atomic_load(&link->posted));
    return LOCO_DONE;
}

static int late_read(struct loco_link *link, struct loco_remote from, void *to, size_t size)
{
    late_land(link);
    return true_ops->read(link, from, to, size);
}

static int late_fetch_add(struct loco_link *link, struct loco_remote at, uint64_t add,
                          uint64_t *old)
{
    late_land(link);
    return true_ops->fetch_add(link, at, add, old);
}

static int late_compare_swap(struct loco_link *link, struct loco_remote at, uint64_t expected,
                             uint64_t desired, uint64_t *old)
{
    late_land(link);
    return true_ops->compare_swap(link, at, expected, desired, old);
}

/* Takes the lock over, and goes on until it has the ticket whose claim is in the first one's word.
 */
static void late_second(struct hand *h)
{
    struct loco_ticket_lock *l = h->arg;

    for (int i = 0; i < 3; i++) {
        CHECK(h->node, loco_ticket_lock_acquire(l) == 0);
        CHECK(h->node, loco_ticket_lock_release(l, LOCO_FENCE_NONE) == 0);
    }
    CHECK(h->node, loco_ticket_lock_acquire(l) == 0);
    late_land(late_link);
    late_held++;
    await_step(h->node, &late_tried, 1);
    CHECK(h->node, loco_ticket_lock_release(l, LOCO_FENCE_NONE) == 0);
}

static void late_first(struct node *n, struct loco_ticket_lock *l)
{
    struct hand second;

    await_step(n, &late_begun, 1);
    CHECK(n, loco_ticket_lock_try(l) == 0);
    CHECK(n, late_link);
    hire(&second, n, late_second, l);
    AWAIT(n, l->local_next == UINT64_C(2) << 32); /* the second waits at this node's own gate */
    CHECK(n, loco_ticket_lock_release(l, LOCO_FENCE_NONE) == 0);
    CHECK(n, l->kept);
    await(&second);
}

/* A try claims the ticket that it has taken, and hands the lock over without a fence. The claim is
 * placed before another thread of the node claims a ticket in the same word: else the others take
 * that ticket for a dead node's. */
static void late_body(struct node *n)
{
    struct loco_fabric_ops spy;
    struct loco_ticket_lock lock;

    CHECK(n, loco_ticket_lock_init(&lock, n->mgr, NULL, "lock", 0, LOCO_ALL, 1) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->id == 0) {
        true_ops = n->fabric->ops;
        spy = *true_ops;
        spy.write = late_write;
        spy.read = late_read;
        spy.fetch_add = late_fetch_add;
        spy.compare_swap = late_compare_swap;
        n->fabric->ops = &spy;
        late_host = &lock;
        late_begun++;
        await_step(n, &late_held, 1);
        loco_sim_cut(n->fabric, 0, 2);
        loco_sim_cut(n->fabric, 1, 2);
        loses(n, 2);
        CHECK(n, loco_ticket_lock_timed(&lock, 100000) == -ETIMEDOUT);
        late_tried++;
        CHECK(n, loco_ticket_lock_timed(&lock, TEST_TIMEOUT) == 0);
        CHECK(n, loco_ticket_lock_release(&lock, LOCO_FENCE_NONE) == 0);
        n->fabric->ops = true_ops;
    }
    if (n->id == 1)
        late_first(n, &lock);
    loco_ticket_lock_fini(&lock);
}

Test(ticket_lock, a_claim_is_placed_before_the_lock_is_handed_over)
{
    cr_assert_eq(run_nodes(ON_SIM, 3, late_body, NULL), 0);
}
