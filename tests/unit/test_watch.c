/* Tests of loco_poll and loco_watch: what each item says, and the descriptor of an event loop. */
#include <criterion/criterion.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "tests/unit/tracker.h"

#define ON_EACH_FABRIC(test_name, body)                                                            \
    Test(watch, test_name##_sim)                                                                   \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_SIM, 2, body, NULL), 0);                                         \
    }                                                                                              \
    Test(watch, test_name##_threads)                                                               \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_THREADS, 2, body, NULL), 0);                                     \
    }                                                                                              \
    Test(watch, test_name##_processes)                                                             \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_PROCESSES, 2, body, NULL), 0);                                   \
    }

enum { ROUNDS = 100 };

/* What node 0 watches. Node 1 sends, pushes, and leaves. */
struct watched {
    struct node *n;
    struct loco_watch watch;
    struct loco_ringbuffer ring; /* from node 1 */
    struct loco_shared_queue queue;
    struct loco_shared_region region;
    struct loco_barrier bar;
    bool over; /* the fiber that looks */
};

static bool on_sim(const struct node *n)
{
    return strcmp(n->fabric->ops->name, "sim") == 0;
}

static void looking_fiber(void *arg)
{
    struct watched *w = arg;

    CHECK(w->n, loco_thread_attach(w->n->mgr) == 0);
    loco_watch_run(&w->watch);
    loco_thread_detach(w->n->mgr);
    w->over = true;
}

static void begin(struct watched *w, struct node *n)
{
    *w = (struct watched){.n = n};
    CHECK(n, loco_ringbuffer_init(&w->ring, n->mgr, NULL, "ring", 1, LOCO_ALL, 1024, 64) == 0);
    CHECK(n, loco_shared_queue_init(&w->queue, n->mgr, NULL, "queue", 1, LOCO_ALL, 16, 8) == 0);
    CHECK(n, loco_shared_region_init(&w->region, n->mgr, NULL, "region", LOCO_ALL, 64) == 0);
    CHECK(n, loco_barrier_init(&w->bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, loco_watch_init(&w->watch, n->mgr) == 0);
    if (on_sim(n))
        CHECK(n, loco_sim_spawn(n->fabric, looking_fiber, w) == 0);
    else
        CHECK(n, loco_watch_start(&w->watch) == 0);
}

static void end(struct watched *w)
{
    loco_watch_fini(&w->watch);
    if (on_sim(w->n))
        AWAIT(w->n, w->over);
    loco_watch_fini(&w->watch); /* does nothing more */
    loco_barrier_fini(&w->bar);
    loco_shared_region_fini(&w->region);
    loco_shared_queue_fini(&w->queue);
    loco_ringbuffer_fini(&w->ring);
}

static bool readable(const struct loco_watch *watch)
{
    struct pollfd fd = {.fd = watch->fd, .events = POLLIN};

    return poll(&fd, 1, 0) == 1;
}

static void send(struct watched *w, uint64_t number)
{
    CHECK(w->n, loco_ringbuffer_send_wait(&w->ring, &number, 8, NULL, TEST_TIMEOUT) == 0);
}

static void push(struct watched *w, uint64_t number)
{
    CHECK(w->n, loco_shared_queue_push(&w->queue, &number, TEST_TIMEOUT) == 0);
}

static uint64_t receive(struct watched *w)
{
    struct loco_message message;
    uint64_t number = 0;

    CHECK(w->n, loco_ringbuffer_receive(&w->ring, &message) == 0);
    memcpy(&number, message.data, sizeof number);
    loco_ringbuffer_acknowledge(&w->ring, message.position);
    return number;
}

/* --- loco_poll ---------------------------------------------------------------------------------
 */

static void poll_here(struct watched *w)
{
    struct node *n = w->n;
    struct loco_poll_item items[] = {loco_poll_message(&w->ring), loco_poll_entry(&w->queue),
                                     loco_poll_loss(&w->ring.channel)};
    uint64_t number;

    CHECK(n, loco_poll(n->mgr, items, 3, 0) == -ETIMEDOUT);
    CHECK(n, !items[0].result && !items[1].result && !items[2].result);
    CHECK(n, loco_poll(n->mgr, items, 3, 1000000) == -ETIMEDOUT);
    CHECK(n, loco_poll(n->mgr, NULL, 0, 1000) == -ETIMEDOUT);

    loco_barrier_wait(&w->bar); /* a message comes */
    CHECK(n, loco_poll(n->mgr, items, 3, TEST_TIMEOUT) == 1);
    CHECK(n, items[0].result == 1 && !items[1].result && !items[2].result);
    CHECK(n, receive(w) == 1);
    CHECK(n, loco_poll(n->mgr, items, 3, 0) == -ETIMEDOUT);

    loco_barrier_wait(&w->bar); /* an entry comes */
    CHECK(n, loco_poll(n->mgr, items, 3, TEST_TIMEOUT) == 1 && items[1].result == 1);
    CHECK(n, loco_shared_queue_pop(&w->queue, &number, TEST_TIMEOUT) == 0 && number == 2);
    CHECK(n, loco_poll(n->mgr, items, 3, 0) == -ETIMEDOUT);

    uint64_t *block = loco_mem_ref_take(n->mgr);
    const struct loco_ack ack = loco_shared_region_read(&w->region, 1, 0, block, 8);
    struct loco_poll_item done = loco_poll_ack(&ack);
    CHECK(n, loco_poll(n->mgr, &done, 1, TEST_TIMEOUT) == 1 && done.result == 1);
    loco_mem_ref_put(n->mgr, block);
    const struct loco_ack bad = loco_shared_region_read(&w->region, 7, 0, block, 8);
    done = loco_poll_ack(&bad);
    CHECK(n, loco_poll(n->mgr, &done, 1, TEST_TIMEOUT) == 1 && done.result == bad.error);

    loco_barrier_wait(&w->bar); /* a last message comes, and then a loss */
    AWAIT(n, loco_channel_check(&w->ring.channel));
    AWAIT(n, loco_poll(n->mgr, &items[1], 1, 0) == 1); /* each object is told in its turn */
    CHECK(n, loco_poll(n->mgr, items, 3, TEST_TIMEOUT) == 3);
    CHECK(n, items[0].result == 1 && items[1].result == -ECONNRESET && items[2].result == 1);
    CHECK(n, receive(w) == 3);
    CHECK(n, loco_poll(n->mgr, items, 3, 0) == 3 && items[0].result == -ECONNRESET);
}

static void poll_body(struct node *n)
{
    struct watched w;

    begin(&w, n);
    if (n->id == 0) {
        poll_here(&w);
    } else {
        struct loco_poll_item mine = loco_poll_message(&w.ring);
        CHECK(n, loco_poll(n->mgr, &mine, 1, 0) == 1 && mine.result == -EINVAL);
        loco_barrier_wait(&w.bar);
        send(&w, 1);
        loco_barrier_wait(&w.bar);
        push(&w, 2);
        loco_barrier_wait(&w.bar);
        send(&w, 3);
    }
    end(&w);
}

ON_EACH_FABRIC(poll_says_what_is_there, poll_body)

/* --- a watch ------------------------------------------------------------------------------------
 */

/* Handles what comes, as an event loop does, until all has come. */
static void watch_here(struct watched *w)
{
    struct node *n = w->n;
    struct loco_poll_item items[] = {loco_poll_message(&w->ring), loco_poll_entry(&w->queue),
                                     loco_poll_loss(&w->bar.channel)};
    uint64_t messages = 0, entries = 0, number;

    while (messages + entries < 2 * ROUNDS && n->failures == 0) {
        CHECK(n, loco_watch_arm(&w->watch, items, 2) == 0);
        AWAIT(n, readable(&w->watch));
        CHECK(n, loco_watch_take(&w->watch) > 0);
        CHECK(n, !readable(&w->watch));
        if (items[0].result == 1)
            CHECK(n, receive(w) == messages++);
        if (items[1].result == 1) {
            CHECK(n, loco_shared_queue_try_pop(&w->queue, &number) == 0);
            CHECK(n, number == entries++);
        }
    }
    CHECK(n, loco_watch_arm(&w->watch, items, 3) == 0);
    CHECK(n, loco_watch_arm(&w->watch, items, 3) == -EBUSY);
    CHECK(n, !readable(&w->watch));
    CHECK(n, loco_watch_take(&w->watch) == 0); /* early */
    CHECK(n, loco_watch_take(&w->watch) == 0); /* once more */
    CHECK(n, !readable(&w->watch));

    CHECK(n, loco_watch_arm(&w->watch, items + 2, 1) == 0);
    loco_barrier_wait(&w->bar); /* node 1 leaves */
    AWAIT(n, readable(&w->watch));
    CHECK(n, loco_watch_take(&w->watch) == 1 && items[2].result == 1);
    CHECK(n, loco_watch_arm(&w->watch, items, 3) == 0);
    CHECK(n, readable(&w->watch)); /* at once: it is still lost */
}

static void watch_body(struct node *n)
{
    struct watched w;

    begin(&w, n);
    if (n->id == 0)
        watch_here(&w);
    for (uint64_t i = 0; n->id == 1 && i < ROUNDS; i++) {
        send(&w, i);
        push(&w, i);
    }
    if (n->id == 1)
        loco_barrier_wait(&w.bar);
    end(&w);
}

ON_EACH_FABRIC(the_descriptor_says_when, watch_body)

/* --- operations of a kvstore's window ------------------------------------------------------------
 */

enum { WINDOW = 4 };

/* Each of the window's operations writes a key of its own, and then reads it; whichever is done
 * first goes on first. Returns how many were right. */
static unsigned use_window(struct watched *w, struct loco_kv_window *window)
{
    struct loco_poll_item done = loco_poll_operation(window);
    unsigned right = 0;

    for (unsigned i = 0; i < WINDOW; i++) {
        *(uint64_t *)loco_kv_window_op(window, i)->value = 100 + i;
        loco_kv_start_insert(loco_kv_window_op(window, i), i, NULL);
    }
    while (right < 2 * WINDOW && w->n->failures == 0) {
        CHECK(w->n, loco_watch_arm(&w->watch, &done, 1) == 0);
        AWAIT(w->n, readable(&w->watch));
        CHECK(w->n, loco_watch_take(&w->watch) == 1 && done.result == 1);
        for (struct loco_kv_op *op; (op = loco_kv_window_next(window)); right++) {
            const uint64_t key = *(uint64_t *)op->value - 100;
            CHECK(w->n, op->result == 0 && op == loco_kv_window_op(window, (unsigned)key));
            if (op->kind == LOCO_KV_INSERT)
                loco_kv_start_read(op, key);
        }
    }
    CHECK(w->n, loco_watch_arm(&w->watch, &done, 1) == 0);
    CHECK(w->n, loco_watch_take(&w->watch) == 0); /* all are reported */
    return right;
}

static void window_body(struct node *n)
{
    const struct loco_kvstore_config config = {.value_size = 8, .capacity = 2 * WINDOW};
    struct loco_kv_window *window;
    struct loco_kvstore kv;
    struct tracker tracker;
    struct watched w;

    CHECK(n, loco_kvstore_init(&kv, n->mgr, NULL, "kv", &config) == 0);
    begin(&w, n);
    tracker_begin(&tracker, n, &kv);
    if (n->id == 0) {
        CHECK(n, loco_kv_window_open(&window, &kv, WINDOW) == 0);
        CHECK(n, use_window(&w, window) == 2 * WINDOW);
        loco_kv_window_close(window);
    }
    loco_barrier_wait(&w.bar);
    tracker_end(&tracker);
    end(&w);
    loco_kvstore_fini(&kv);
}

ON_EACH_FABRIC(the_descriptor_says_when_operations_are_done, window_body)

/* A watch that nothing has started, or that could not be. */
static void unstarted_body(struct node *n)
{
    struct loco_watch watch = {0};
    const unsigned before = open_descriptors();

    loco_watch_fini(&watch);
    CHECK(n, loco_watch_init(&watch, n->mgr) == 0);
    CHECK(n, open_descriptors() == before + 1);
    loco_watch_fini(&watch);
    CHECK(n, open_descriptors() == before);
}

Test(watch, ends_unstarted)
{
    cr_assert_eq(run_nodes(ON_SIM, 1, unstarted_body, NULL), 0);
}
