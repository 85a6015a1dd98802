/* Tests the errors that the headers promise, on every fabric: for a thread that is not attached,
 * and for atomic words that are kept beyond the life of their host. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "tests/nodes.h"

#define ON_EACH_FABRIC(test_name, count, body)                                                     \
    Test(promises, test_name##_sim)                                                                \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_SIM, count, body, NULL), 0);                                     \
    }                                                                                              \
    Test(promises, test_name##_threads)                                                            \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_THREADS, count, body, NULL), 0);                                 \
    }                                                                                              \
    Test(promises, test_name##_processes)                                                          \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_PROCESSES, count, body, NULL), 0);                               \
    }

/* --- a thread that is not attached -------------------------------------------------------- */

struct all {
    struct node *n;
    uint32_t other;
    struct loco_shared_region region;
    struct loco_owned_var mine, theirs;
    struct loco_sst sst;
    struct loco_atomic_var words[2]; /* by host */
    struct loco_barrier bar;
    struct loco_ticket_lock lock;
    struct loco_ringbuffer rings[2]; /* by sender */
    struct loco_shared_queue queue;
    struct loco_kvstore kv;
    struct loco_barrier waiting; /* node 0 has arrived, and its wait ran out of time */
    struct loco_kv_window *window;
    struct loco_message message;  /* was received, and is not released */
    struct loco_atomic_word kept; /* made by an attached thread */
    bool over;
};

static void all_open(struct all *a, struct node *n)
{
    const struct loco_kvstore_config config = {.value_size = 8, .capacity = 8};
    struct loco_manager *m = n->mgr;
    const uint32_t o = 1 - n->id;

    *a = (struct all){.n = n, .other = o};
    CHECK(n, loco_shared_region_init(&a->region, m, NULL, "region", LOCO_ALL, 8) == 0);
    const char *const vars[] = {"var0", "var1"}, *const words[] = {"word0", "word1"};
    const char *const rings[] = {"ring0", "ring1"};
    CHECK(n, loco_owned_var_init(&a->mine, m, NULL, vars[n->id], n->id, LOCO_ALL, 80) == 0);
    CHECK(n, loco_owned_var_init(&a->theirs, m, NULL, vars[o], o, LOCO_ALL, 80) == 0);
    CHECK(n, loco_sst_init(&a->sst, m, NULL, "sst", LOCO_ALL, 80) == 0);
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(n, loco_atomic_var_init(&a->words[i], m, NULL, words[i], i, LOCO_ALL, 0) == 0);
        CHECK(n, loco_ringbuffer_init(&a->rings[i], m, NULL, rings[i], i, LOCO_ALL, 256, 8) == 0);
    }
    CHECK(n, loco_barrier_init(&a->bar, m, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_barrier_init(&a->waiting, m, NULL, "waiting", LOCO_ALL) == 0);
    CHECK(n, loco_ticket_lock_init(&a->lock, m, NULL, "lock", 0, LOCO_ALL, 4) == 0);
    CHECK(n, loco_shared_queue_init(&a->queue, m, NULL, "queue", 0, LOCO_ALL, 4, 8) == 0);
    CHECK(n, loco_kvstore_init(&a->kv, m, NULL, "kv", &config) == 0);
    CHECK(n, loco_manager_ready(m, TEST_TIMEOUT) == 0);
    CHECK(n, loco_kv_window_open(&a->window, &a->kv, 3) == 0);
    a->kept = loco_atomic_of(&a->words[o]);
}

static void all_close(struct all *a)
{
    loco_kv_window_close(a->window);
    loco_kvstore_fini(&a->kv);
    loco_shared_queue_fini(&a->queue);
    loco_ticket_lock_fini(&a->lock);
    loco_barrier_fini(&a->waiting);
    loco_barrier_fini(&a->bar);
    for (uint32_t i = 0; i < 2; i++) {
        loco_ringbuffer_fini(&a->rings[i]);
        loco_atomic_var_fini(&a->words[i]);
    }
    loco_sst_fini(&a->sst);
    loco_owned_var_fini(&a->theirs);
    loco_owned_var_fini(&a->mine);
    loco_shared_region_fini(&a->region);
}

#define REFUSED(call) CHECK(n, (call) == -EPERM)

static void words_refuse(struct node *n, struct loco_atomic_word word)
{
    uint64_t value = 0;

    REFUSED(loco_atomic_load(word, &value));
    REFUSED(loco_atomic_load_timed(word, &value, 0));
    REFUSED(loco_atomic_store(word, 1));
    REFUSED(loco_atomic_exchange(word, 1, &value));
    REFUSED(loco_atomic_fetch_add(word, 1, &value));
    REFUSED(loco_atomic_compare_swap(word, 0, 1, &value));
    REFUSED(loco_atomic_write(word, 1).error);
    REFUSED(loco_atomic_post_load(word, &value).error);
    REFUSED(loco_atomic_post_fetch_add(word, 1, &value).error);
    REFUSED(loco_atomic_post_compare_swap(word, 0, 1, &value).error);
}

static int polled(struct loco_kv_op *op)
{
    while (!loco_kv_poll(op))
        ;
    return op->result;
}

/* This node's own slots need no fabric, so a read by guess could succeed. */
static void window_refuses(struct all *a)
{
    struct node *n = a->n;
    const uint64_t value = 0;

    for (uint64_t key = 0; key < 20; key++) {
        loco_kv_start_read(loco_kv_window_op(a->window, 0), key);
        loco_kv_start_update(loco_kv_window_op(a->window, 1), key, &value);
        loco_kv_start_delete(loco_kv_window_op(a->window, 2), key);
        for (unsigned i = 0; i < 3; i++)
            REFUSED(polled(loco_kv_window_op(a->window, i)));
    }
}

/* The thread that acknowledged before has no fence to make when it goes on. */
static void ring_refuses(struct all *a)
{
    struct node *n = a->n;
    struct loco_ringbuffer *ring = &a->rings[a->other];
    const struct loco_thread *before = ring->thread;

    REFUSED(loco_ringbuffer_acknowledge(ring, a->message.position).error);
    CHECK(n, before && ring->thread == before);
}

static void channels_refuse(struct all *a)
{
    struct node *n = a->n;
    uint64_t value[10] = {0};

    REFUSED(loco_shared_region_write(&a->region, a->other, 0, value, 8).error);
    REFUSED(loco_shared_region_read(&a->region, a->other, 0, value, 8).error);
    REFUSED(loco_owned_var_push(&a->mine).error);
    REFUSED(loco_owned_var_pull(&a->theirs).error);
    REFUSED(loco_owned_var_read(&a->theirs, value));
    REFUSED(loco_sst_push_broadcast(&a->sst).error);
    REFUSED(loco_atomic_var_pull(&a->words[a->other]).error);
    REFUSED(loco_barrier_wait(&a->bar));
    REFUSED(loco_barrier_timed(&a->bar, 0));
    REFUSED(loco_barrier_arrive(&a->bar));
    REFUSED(loco_barrier_timed(&a->waiting, 0));
    REFUSED(loco_ticket_lock_acquire(&a->lock));
    REFUSED(loco_ticket_lock_try(&a->lock));
    REFUSED(loco_ticket_lock_timed(&a->lock, 0));
    REFUSED(loco_ticket_lock_release(&a->lock, LOCO_FENCE_NONE));
    REFUSED(loco_ringbuffer_send(&a->rings[n->id], value, 8, NULL));
    REFUSED(loco_shared_queue_push(&a->queue, value, 0));
    REFUSED(loco_shared_queue_try_pop(&a->queue, value));
    REFUSED(loco_kvstore_insert(&a->kv, 1, value));
    REFUSED(loco_kvstore_update(&a->kv, 1, value));
    REFUSED(loco_kvstore_delete(&a->kv, 1));
    REFUSED(loco_kvstore_read(&a->kv, 1, value));
    REFUSED(loco_kvstore_compare_swap(&a->kv, 1, value, value));
    REFUSED(loco_kvstore_read_timed(&a->kv, 1, value, 0));
    REFUSED(loco_fence_pair(n->mgr, a->other));
    REFUSED(loco_fence_thread(n->mgr));
    REFUSED(loco_fence_global(n->mgr));
    CHECK(n, loco_mem_ref_take(n->mgr) == NULL);
    window_refuses(a);
    ring_refuses(a);
}

static void unattached(void *arg)
{
    struct all *a = arg;

    words_refuse(a->n, loco_atomic_of(&a->words[a->other]));
    words_refuse(a->n, loco_atomic_of(&a->words[a->n->id]));
    words_refuse(a->n, a->kept);
    channels_refuse(a);
    a->over = true;
}

static void *unattached_thread(void *arg)
{
    unattached(arg);
    return NULL;
}

static void run_unattached(struct all *a)
{
    struct loco_wait wait = {.until = UINT64_MAX};
    pthread_t thread;

    if (strcmp(a->n->fabric->ops->name, "sim") != 0) {
        pthread_create(&thread, NULL, unattached_thread, a);
        pthread_join(thread, NULL);
        return;
    }
    CHECK(a->n, loco_sim_spawn(a->n->fabric, unattached, a) == 0);
    while (!a->over)
        loco_relax(a->n->mgr, &wait);
}

/* Each node sends two messages, and acknowledges the first of the other's. */
static void use_the_rings(struct all *a)
{
    struct node *n = a->n;
    struct loco_ringbuffer *theirs = &a->rings[a->other];

    for (int i = 0; i < 2; i++)
        CHECK(n, loco_ringbuffer_send(&a->rings[n->id], &i, sizeof i, NULL) == 0);
    CHECK(n, loco_ringbuffer_receive_wait(theirs, &a->message, TEST_TIMEOUT) == 0);
    CHECK(n, loco_ringbuffer_acknowledge(theirs, a->message.position).error == 0);
    CHECK(n, loco_ringbuffer_receive_wait(theirs, &a->message, TEST_TIMEOUT) == 0);
}

/* A thread that was attached knows the way to the other node's copy. */
static void detached_is_refused(struct all *a)
{
    const uint64_t value[10] = {1};
    struct node *n = a->n;

    CHECK(n, loco_owned_var_put(&a->mine, value).error == 0);
    loco_thread_detach(n->mgr);
    REFUSED(loco_owned_var_push(&a->mine).error);
    REFUSED(loco_owned_var_put(&a->mine, value).error);
    CHECK(n, loco_thread_attach(n->mgr) == 0);
    CHECK(n, loco_owned_var_put(&a->mine, value).error == 0);
}

/* A refused call has changed nothing: the words are zero, and the barriers and the lock work. */
static void unattached_body(struct node *n)
{
    uint64_t value = 1;
    struct all a;

    all_open(&a, n);
    use_the_rings(&a);
    if (n->id == 0)
        CHECK(n, loco_barrier_timed(&a.waiting, 0) == -ETIMEDOUT);
    CHECK(n, loco_barrier_wait(&a.bar) == 0);
    run_unattached(&a);
    detached_is_refused(&a);
    CHECK(n, loco_barrier_wait(&a.bar) == 0);
    CHECK(n, loco_barrier_wait(&a.waiting) == 0);
    CHECK(n, loco_atomic_load(a.kept, &value) == 0 && value == 0);
    CHECK(n, loco_ticket_lock_acquire(&a.lock) == 0);
    CHECK(n, loco_ticket_lock_release(&a.lock, LOCO_FENCE_GLOBAL) == 0);
    CHECK(n, loco_barrier_wait(&a.bar) == 0);
    all_close(&a);
}

ON_EACH_FABRIC(a_thread_that_is_not_attached_is_refused, 2, unattached_body)

/* --- a thread that outlives its manager ------------------------------------------------------- */

struct worker {
    struct node *n;
    _Atomic int step;
};

static void *outlive(void *arg)
{
    struct worker *w = arg;

    CHECK(w->n, loco_thread_attach(w->n->mgr) == 0);
    w->step = 1;
    while (w->step != 2)
        sched_yield();
    CHECK(w->n, loco_thread_attach(w->n->mgr) == 0);
    CHECK(w->n, loco_thread_attach(w->n->mgr) == -EEXIST);
    loco_thread_detach(w->n->mgr);
    return NULL;
}

/* The manager's slot is given again when all others were. */
static void outlived_body(struct node *n)
{
    const struct loco_manager_config config = {
        .node_count = 1, .arena_size = 1 << 12, .block_size = 64, .block_count = 1};
    struct worker w = {.n = n};
    const unsigned slot = n->mgr->slot;
    pthread_t thread;

    pthread_create(&thread, NULL, outlive, &w);
    while (w.step != 1)
        sched_yield();
    for (unsigned i = 0; i < LOCO_MANAGERS_MAX; i++) {
        loco_manager_close(n->mgr);
        CHECK(n, loco_manager_open(&n->mgr, n->fabric, &config) == 0);
    }
    CHECK(n, n->mgr->slot == slot);
    w.step = 2;
    pthread_join(thread, NULL);
}

Test(promises, a_closed_manager_has_detached_its_threads)
{
    cr_assert_eq(run_nodes(ON_THREADS, 1, outlived_body, NULL), 0);
}

/* --- a word that is kept -------------------------------------------------------------------- */

static void kept_words_fail(struct node *n, struct loco_atomic_word word)
{
    uint64_t value;

    CHECK(n, loco_atomic_load(word, &value) == -ECONNRESET);
    CHECK(n, loco_atomic_store(word, 1) == -ECONNRESET);
    CHECK(n, loco_atomic_exchange(word, 1, &value) == -ECONNRESET);
    CHECK(n, loco_atomic_fetch_add(word, 1, &value) == -ECONNRESET);
    CHECK(n, loco_atomic_compare_swap(word, 0, 1, &value) == -ECONNRESET);
    CHECK(n, loco_atomic_write(word, 1).error == -ECONNRESET);
}

/* Node 1, the host, dies. If it is a thread, the others see it leave. */
static void kept_body(struct node *n)
{
    struct loco_atomic_var var;
    struct loco_atomic_array array;
    struct loco_barrier bar;
    uint64_t old;

    if (n->life > 0)
        return;
    CHECK(n, loco_atomic_var_init(&var, n->mgr, NULL, "var", 1, LOCO_ALL, 0) == 0);
    CHECK(n, loco_atomic_array_init(&array, n->mgr, NULL, "array", 3, LOCO_ALL, 0) == 0);
    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    const struct loco_atomic_word kept[] = {loco_atomic_of(&var), loco_atomic_at(&array, 1, 2)};
    const struct loco_atomic_word own = loco_atomic_at(&array, n->id, 1);
    for (unsigned i = 0; i < 2; i++)
        CHECK(n, loco_atomic_fetch_add(kept[i], 1, &old) == 0);
    loco_barrier_wait(&bar); /* node 1 may die before its arrival is known */
    if (n->id == 1) {
        node_die(n);
    } else {
        AWAIT(n, loco_peer_lost(n->mgr, 1));
        for (unsigned i = 0; i < 2; i++)
            kept_words_fail(n, kept[i]);
        CHECK(n, loco_atomic_fetch_add(own, 1, &old) == 0 && old == 0);
    }
    loco_barrier_fini(&bar);
    loco_atomic_array_fini(&array);
    loco_atomic_var_fini(&var);
}

ON_EACH_FABRIC(a_word_that_is_kept_fails_with_its_host, 2, kept_body)

/* --- options that ask for what a later version has -------------------------------------------- */

static void last_word(void *room, size_t size)
{
    const uint64_t later = 1;

    memcpy((char *)room + size - sizeof later, &later, sizeof later);
}

Test(promises, options_of_a_later_version_are_refused)
{
    static const char *const addresses[] = {"127.0.0.1"};
    struct loco_tcp_config tcp = {.addresses = addresses, .address_count = 1};
    struct loco_verbs_config verbs = {.addresses = addresses, .address_count = 1};
    struct loco_sim_config sim = {.seed = 1};
    struct loco_manager_config config = {.node_count = 1};
    struct loco_kvstore_config store = {.value_size = 8, .capacity = 8};
    struct loco_channel_ops ops = {.takes_back = true};
    struct loco_manager *m = NULL;
    struct loco_kvstore kv;
    struct loco_channel channel;

    struct loco_fabric *fabric = loco_sim_open(&sim);
    cr_assert(fabric);
    last_word(config.room, sizeof config.room);
    cr_expect_eq(loco_manager_open(&m, fabric, &config), -EINVAL);
    loco_sim_close(fabric);

    last_word(tcp.room, sizeof tcp.room);
    cr_expect_eq(loco_tcp_open(&fabric, &tcp), -EINVAL);
    last_word(verbs.room, sizeof verbs.room);
    cr_expect_eq(loco_verbs_open(&fabric, &verbs), -EINVAL);
    last_word(sim.room, sizeof sim.room);
    cr_expect(!loco_sim_open(&sim));

    struct loco_manager none = {.count = 1};
    last_word(store.room, sizeof store.room);
    cr_expect_eq(loco_kvstore_init(&kv, &none, NULL, "kv", &store), -EINVAL);
    last_word(ops.room, sizeof ops.room);
    cr_expect_eq(loco_channel_init(&channel, &none, NULL, "channel", LOCO_ALL, &ops), -EINVAL);
}

/* --- sizes that no memory has --------------------------------------------------------------- */

/* These sizes would overflow when rounded up or when words are added. */
static void huge_body(struct node *n)
{
    struct loco_manager *m = n->mgr;
    struct loco_shared_region region;
    struct loco_owned_var var;
    struct loco_atomic_array array;
    struct loco_shared_queue queue;
    struct loco_ringbuffer ring;
    const size_t count = SIZE_MAX / sizeof(uint64_t) - m->count;

    CHECK(n, loco_shared_region_init(&region, m, NULL, "r", LOCO_ALL, SIZE_MAX) == -ENOMEM);
    CHECK(n, loco_owned_var_init(&var, m, NULL, "v", n->id, LOCO_ALL, SIZE_MAX) == -EINVAL);
    CHECK(n, loco_atomic_array_init(&array, m, NULL, "a", count, LOCO_ALL, 0) == -ENOMEM);
    CHECK(n, loco_shared_queue_init(&queue, m, NULL, "q", n->id, LOCO_ALL, 8, SIZE_MAX - 7) ==
                 -EINVAL);
    CHECK(n, loco_ringbuffer_init(&ring, m, NULL, "b", n->id, LOCO_ALL, SIZE_MAX, 8) == -EINVAL);
    /* A channel whose construction failed may still be ended. */
    CHECK(n, loco_shared_queue_init(&queue, m, NULL, "q/", n->id, LOCO_ALL, 8, 8) == -EINVAL);
    loco_shared_queue_fini(&queue);
    CHECK(n, loco_ringbuffer_init(&ring, m, NULL, "b/", n->id, LOCO_ALL, 64, 8) == -EINVAL);
    loco_ringbuffer_fini(&ring);
    memset(&var, 0x5a, sizeof var);
    CHECK(n, loco_owned_var_init(&var, m, NULL, "v", n->id, LOCO_ALL, 0) == -EINVAL);
    loco_owned_var_fini(&var);
}

ON_EACH_FABRIC(huge_sizes_are_refused, 1, huge_body)

Test(promises, huge_options_are_refused)
{
    const struct loco_sim_config sim = {.seed = 1};
    const struct loco_manager_config configs[] = {
        {.node_count = UINT32_MAX},
        {.node_count = 1, .completions = LOCO_POLLED + 1},
        {.node_count = 1, .arena_size = SIZE_MAX},
        {.node_count = 1, .block_size = SIZE_MAX},
        {.node_count = 1, .block_size = 64, .block_count = SIZE_MAX / 64 + 2},
    };
    struct loco_fabric *fabric = loco_sim_open(&sim);
    struct loco_manager *m;

    for (size_t i = 0; i < sizeof configs / sizeof configs[0]; i++)
        cr_expect_eq(loco_manager_open(&m, fabric, &configs[i]), -EINVAL);
    loco_sim_close(fabric);
}
