/* Tests of ringbuffer and shared_queue, on every fabric. */
#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channels/loco/memory.h"
#include "channels/loco/ringbuffer.h"
#include "channels/loco/shared_queue.h"
#include "channels/loco/shared_region.h"
#include "tests/nodes.h"

/* Where a body runs, for bodies to which that matters; else NULL. */
static enum where here[] = {ON_SIM, ON_THREADS, ON_PROCESSES};

#define ON_EACH_FABRIC(suite, test_name, count, body)                                              \
    Test(suite, test_name##_sim)                                                                   \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_SIM, count, body, &here[0]), 0);                                 \
    }                                                                                              \
    Test(suite, test_name##_threads)                                                               \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_THREADS, count, body, &here[1]), 0);                             \
    }                                                                                              \
    Test(suite, test_name##_processes)                                                             \
    {                                                                                              \
        cr_assert_eq(run_nodes(ON_PROCESSES, count, body, &here[2]), 0);                           \
    }

/* Runs the same under chaos, for a few seeds; n->arg is NULL. */
#define UNDER_CHAOS(suite, test_name, seeds, count, body)                                          \
    Test(suite, test_name##_chaos)                                                                 \
    {                                                                                              \
        for (uint64_t seed = 1; seed <= (seeds); seed++)                                           \
            cr_assert_eq(run_chaos_nodes(seed, LOCO_SIM_DEFERRED, count, body, NULL), 0);          \
    }

static bool is_chaos(const struct node *n)
{
    return n->arg == NULL;
}

static enum where where_is(const struct node *n)
{
    return n->arg ? *(const enum where *)n->arg : ON_SIM;
}

/* The amount of work: less under chaos, which is slow and has many seeds. */
static uint64_t rounds(const struct node *n, uint64_t calm, uint64_t chaos)
{
    return is_chaos(n) ? chaos : effort(calm, chaos);
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0x9e3779b97f4a7c15u;
    return x ^ (x >> 29);
}

/* --- further threads of a node ------------------------------------------------------------ */

struct helper {
    struct node *node;
    void *object;
    void (*body)(struct helper *helper);
    uint32_t index;
    pthread_t thread;
    _Atomic bool ended;
};

static void run_helper(void *arg)
{
    struct helper *h = arg;

    CHECK(h->node, loco_thread_attach(h->node->mgr) == 0);
    h->body(h);
    loco_thread_detach(h->node->mgr);
    h->ended = true;
}

static void *run_helper_thread(void *arg)
{
    run_helper(arg);
    return NULL;
}

static void start_helper(struct helper *h)
{
    if (where_is(h->node) == ON_SIM)
        CHECK(h->node, loco_sim_spawn(h->node->fabric, run_helper, h) == 0);
    else
        CHECK(h->node, pthread_create(&h->thread, NULL, run_helper_thread, h) == 0);
}

static void end_helper(struct helper *h)
{
    struct loco_wait wait = loco_wait_for(h->node->mgr, UINT64_MAX);

    while (!h->ended)
        loco_relax(h->node->mgr, &wait);
    if (where_is(h->node) != ON_SIM)
        pthread_join(h->thread, NULL);
}

/* --- ringbuffer: the messages ---------------------------------------------------------------- */

enum { RING = 1024, MESSAGE_MAX = 248 };

/* Messages of mixed sizes; the largest and the smallest are frequent. */
static size_t message_size(uint64_t number)
{
    uint64_t draw = mix(number);

    return draw % 4 == 0   ? MESSAGE_MAX
           : draw % 4 == 1 ? 1 + draw / 4 % 9
                           : 1 + draw / 4 % MESSAGE_MAX;
}

/*
 * The worst content: every word is the header of a message that would begin there one lap later. A
 * receiver that looked at an earlier lap's content would accept it. Only the number of the message,
 * in its first bytes, belongs to the test.
 */
static void compose(unsigned char *message, uint64_t number, size_t size, uint64_t begin)
{
    uint64_t words[MESSAGE_MAX / 8 + 1];

    for (uint64_t w = 0; w <= MESSAGE_MAX / 8; w++)
        words[w] = (begin + 8 + 8 * w + RING) / 8 << 32 | 8;
    memcpy(message, words, size);
    memcpy(message, &number, size < 2 ? size : 2);
}

/* The place of the next message: after the last one, or at the ring's beginning. */
static uint64_t next_begin(uint64_t position, size_t size)
{
    size_t left = RING - position % RING;

    return left < 8 + (size + 7) / 8 * 8 + 8 ? position + left : position;
}

static void check_message(struct node *n, const struct loco_message *m, uint64_t number,
                          uint64_t before)
{
    unsigned char expected[MESSAGE_MAX];
    size_t size = message_size(number);

    CHECK(n, m->size == size);
    CHECK(n, (uintptr_t)m->data % 8 == 0);
    compose(expected, number, size, next_begin(before, size));
    CHECK(n, m->size == size && memcmp(m->data, expected, size) == 0);
}

static void send_one(struct node *n, struct loco_ringbuffer *rb, uint64_t number)
{
    unsigned char message[MESSAGE_MAX];
    size_t size = message_size(number);

    compose(message, number, size, next_begin(rb->position, size));
    CHECK(n, loco_ringbuffer_send_wait(rb, message, size, NULL, TEST_TIMEOUT) == 0);
    memset(message, 0xee, sizeof message); /* the ring has its own copy */
}

static void receive_one(struct node *n, struct loco_ringbuffer *rb, uint64_t number)
{
    uint64_t before = rb->position;
    struct loco_message m = {0};
    int rc = loco_ringbuffer_receive_wait(rb, &m, TEST_TIMEOUT);

    CHECK(n, rc == 0);
    if (rc)
        return;
    check_message(n, &m, number, before);
    if (number % 3 == 0)
        loco_ringbuffer_acknowledge(rb, m.position);
    else
        loco_ringbuffer_release(rb, m.position);
}

struct ring_test {
    struct loco_ringbuffer rb;
    struct loco_barrier bar;
};

static void open_ring(struct node *n, struct ring_test *t, uint32_t sender)
{
    CHECK(n, loco_ringbuffer_init(&t->rb, n->mgr, NULL, "rb", sender, LOCO_ALL, RING,
                                  MESSAGE_MAX) == 0);
    CHECK(n, loco_barrier_init(&t->bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
}

static void close_ring(struct ring_test *t)
{
    loco_barrier_fini(&t->bar);
    loco_ringbuffer_fini(&t->rb);
}

/* --- ringbuffer: many laps of mixed sizes, and content that looks like headers ---------------- */

static void exchange(struct node *n, struct ring_test *t, uint64_t count)
{
    for (uint64_t i = 1; i <= count && n->failures < 10; i++) {
        if (n->id == 0)
            send_one(n, &t->rb, i);
        else
            receive_one(n, &t->rb, i);
    }
    if (n->id == 0)
        CHECK(n, loco_ringbuffer_wait(&t->rb, t->rb.position, TEST_TIMEOUT) == 0);
    for (struct loco_message m; n->id != 0 && t->rb.told != t->rb.released;)
        CHECK(n, loco_ringbuffer_receive(&t->rb, &m) == -EAGAIN);
}

static void mixed_body(struct node *n)
{
    struct ring_test t;

    open_ring(n, &t, 0);
    exchange(n, &t, rounds(n, 5000, 60));
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    close_ring(&t);
}

ON_EACH_FABRIC(ringbuffer, mixed_sizes, 3, mixed_body)
UNDER_CHAOS(ringbuffer, mixed_sizes, 30, 3, mixed_body)

/* The positions overflow their word. */
static void position_wrap_body(struct node *n)
{
    const uint64_t start = (uint64_t)0 - 20 * RING;
    struct ring_test t;

    open_ring(n, &t, 0);
    t.rb.position = t.rb.free_from = start;
    if (n->id != 0)
        t.rb.released = start - 1;
    if (n->id != 0)
        loco_ringbuffer_acknowledge(&t.rb, start);
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    CHECK(n, n->id != 0 || loco_ringbuffer_acknowledged(&t.rb, start));
    CHECK(n, n->id != 0 || !loco_ringbuffer_acknowledged(&t.rb, start + 8));
    exchange(n, &t, rounds(n, 1000, 250));
    CHECK(n, (int64_t)t.rb.position > 0);
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    close_ring(&t);
}

ON_EACH_FABRIC(ringbuffer, positions_wrap, 2, position_wrap_body)
UNDER_CHAOS(ringbuffer, positions_wrap, 3, 2, position_wrap_body)

/* A receiver that sends and a sender that receives are refused, and nothing changes. */
static void roles_body(struct node *n)
{
    struct loco_message m;
    struct ring_test t;
    uint64_t word = 1;

    open_ring(n, &t, 0);
    if (n->id == 0) {
        CHECK(n, loco_ringbuffer_receive(&t.rb, &m) == -EINVAL);
        CHECK(n, loco_ringbuffer_receive_wait(&t.rb, &m, UINT64_MAX) == -EINVAL);
    } else {
        CHECK(n, loco_ringbuffer_send(&t.rb, &word, sizeof word, NULL) == -EINVAL);
        CHECK(n, loco_ringbuffer_send_wait(&t.rb, &word, sizeof word, NULL, UINT64_MAX) == -EINVAL);
    }
    exchange(n, &t, 3);
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    close_ring(&t);
}

ON_EACH_FABRIC(ringbuffer, roles, 2, roles_body)

/* --- ringbuffer: back-pressure ---------------------------------------------------------------- */

/* The last node receives nothing until the ring is full. Then it still gets every message. */
static void slow_body(struct node *n)
{
    unsigned char message[40] = {0};
    struct ring_test t;
    uint64_t count = 0, sent = 0;
    struct loco_message m;

    open_ring(n, &t, 0);
    for (int rc = 0; n->id == 0 && rc == 0 && sent < RING; sent += rc == 0) {
        memcpy(message, &sent, sizeof sent);
        rc = loco_ringbuffer_send(&t.rb, message, sizeof message, NULL);
        CHECK(n, rc == 0 || rc == -EAGAIN);
    }
    CHECK(n, n->id != 0 || sent == (RING - 8) / 48);
    if (n->id == 0) { /* the others do not make room, as the slowest decides */
        CHECK(n, loco_ringbuffer_send_wait(&t.rb, message, 40, NULL, 2000000) == -ETIMEDOUT);
        CHECK(n, !loco_ringbuffer_acknowledged(&t.rb, 48));
        CHECK(n, loco_ringbuffer_wait(&t.rb, 48, 2000000) == -ETIMEDOUT);
    }
    for (; n->id == 1 && count < (RING - 8) / 48; count++) {
        CHECK(n, loco_ringbuffer_receive_wait(&t.rb, &m, TEST_TIMEOUT) == 0);
        loco_ringbuffer_acknowledge(&t.rb, m.position);
    }
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    if (n->id == 2)
        for (; loco_ringbuffer_receive(&t.rb, &m) == 0; count++) {
            CHECK(n, memcmp(m.data, &count, sizeof count) == 0);
            loco_ringbuffer_acknowledge(&t.rb, m.position);
        }
    CHECK(n, n->id == 0 || count == (RING - 8) / 48);
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    CHECK(n, n->id != 0 || loco_ringbuffer_send(&t.rb, message, sizeof message, NULL) == 0);
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    close_ring(&t);
}

ON_EACH_FABRIC(ringbuffer, slow_receiver_loses_nothing, 3, slow_body)
UNDER_CHAOS(ringbuffer, slow_receiver_loses_nothing, 10, 3, slow_body)

/* The largest messages can be sent for ever, even if receivers only release. */
static void starve_body(struct node *n)
{
    unsigned char message[MESSAGE_MAX] = {0};
    struct ring_test t;
    struct loco_message m;

    open_ring(n, &t, 0);
    for (int i = 0; i < 200; i++) {
        if (n->id == 0) {
            size_t size = i % 2 ? MESSAGE_MAX : 1;
            CHECK(n, loco_ringbuffer_send_wait(&t.rb, message, size, NULL, TEST_TIMEOUT) == 0);
            continue;
        }
        /* One look for each message, as an idle look would also acknowledge. */
        CHECK(n, loco_ringbuffer_receive_wait(&t.rb, &m, TEST_TIMEOUT) == 0);
        t.rb.idle = 0;
        loco_ringbuffer_release(&t.rb, m.position);
        CHECK(n, t.rb.released - t.rb.told < RING / 4);
    }
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    close_ring(&t);
}

ON_EACH_FABRIC(ringbuffer, largest_never_starve, 2, starve_body)

/* --- ringbuffer: acknowledgements ------------------------------------------------------------- */

/* A receiver may start before it is ready, and hence before it knows where to acknowledge. The
 * sender still learns of its acknowledgements. */
static void early_body(struct node *n)
{
    const uint64_t message = 1;
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);
    struct loco_ringbuffer rb;
    struct loco_message m;

    CHECK(n, loco_ringbuffer_init(&rb, n->mgr, NULL, "rb", 0, LOCO_ALL, RING, MESSAGE_MAX) == 0);
    if (n->id == 0) {
        CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
        CHECK(n, loco_ringbuffer_send(&rb, &message, sizeof message, NULL) == 0);
        CHECK(n, loco_ringbuffer_wait(&rb, rb.position, TEST_TIMEOUT) == 0);
    } else {
        CHECK(n, loco_ringbuffer_receive_wait(&rb, &m, TEST_TIMEOUT) == 0);
        loco_ringbuffer_acknowledge(&rb, m.position);
        while (rb.told != rb.released && !loco_relax(n->mgr, &wait))
            CHECK(n, loco_ringbuffer_receive(&rb, &m) == -EAGAIN);
        CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    }
    struct loco_barrier bar;
    CHECK(n, loco_barrier_init(&bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    CHECK(n, loco_barrier_wait(&bar) == 0);
    loco_barrier_fini(&bar);
    loco_ringbuffer_fini(&rb);
}

ON_EACH_FABRIC(ringbuffer, early_acknowledgements_arrive, 3, early_body)
UNDER_CHAOS(ringbuffer, early_acknowledgements_arrive, 1000, 2, early_body)

static void positions_body(struct node *n)
{
    struct ring_test t;
    uint64_t position[4] = {0};
    struct loco_message m[4];

    open_ring(n, &t, 0);
    for (uint64_t i = 1; i <= 3; i++) {
        if (n->id == 0)
            CHECK(n, loco_ringbuffer_send(&t.rb, &i, sizeof i, &position[i]) == 0);
        else
            CHECK(n, loco_ringbuffer_receive_wait(&t.rb, &m[i], TEST_TIMEOUT) == 0);
    }
    CHECK(n, n->id == 0 || *(const uint64_t *)m[1].data == 1); /* it is still there */
    CHECK(n, n->id != 0 || !loco_ringbuffer_acknowledged(&t.rb, position[1]));
    CHECK(n, loco_barrier_wait(&t.bar) == 0);

    /* Node 1 has consumed two messages and node 2 one, so all nodes have consumed one. */
    if (n->id != 0)
        loco_ringbuffer_acknowledge(&t.rb, m[n->id == 1 ? 2 : 1].position);
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    if (n->id == 0) {
        CHECK(n, loco_ringbuffer_acknowledged(&t.rb, position[1]));
        CHECK(n, !loco_ringbuffer_acknowledged(&t.rb, position[2]));
        CHECK(n, !loco_ringbuffer_acknowledged(&t.rb, position[3]));
    }
    CHECK(n, loco_barrier_wait(&t.bar) == 0);

    /* Releasing an old position is harmless. A release is reported when the ring stays empty. */
    if (n->id != 0) {
        loco_ringbuffer_release(&t.rb, m[3].position);
        loco_ringbuffer_release(&t.rb, m[1].position);
        CHECK(n, t.rb.told != t.rb.released);
        for (int i = 0; i < LOCO_RINGBUFFER_IDLE; i++)
            CHECK(n, loco_ringbuffer_receive(&t.rb, &m[0]) == -EAGAIN);
        CHECK(n, t.rb.told == m[3].position);
    }
    CHECK(n, n->id != 0 || loco_ringbuffer_wait(&t.rb, position[3], TEST_TIMEOUT) == 0);
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    close_ring(&t);
}

ON_EACH_FABRIC(ringbuffer, positions, 3, positions_body)
UNDER_CHAOS(ringbuffer, positions, 10, 3, positions_body)

/* --- ringbuffer: lost nodes ------------------------------------------------------------------- */

/* The process dies here, after all its writes were placed. A node that is not a process leaves in
 * order. */
static void die(struct node *n)
{
    CHECK(n, loco_fence_thread(n->mgr) == 0);
    if (where_is(n) == ON_PROCESSES)
        node_end(n);
}

/* Node 2 receives one message and dies. */
static void leave(struct node *n, struct ring_test *t)
{
    struct loco_message m;

    CHECK(n, loco_ringbuffer_receive_wait(&t->rb, &m, TEST_TIMEOUT) == 0);
    loco_ringbuffer_acknowledge(&t->rb, m.position);
    die(n);
}

static void lost_receiver_body(struct node *n)
{
    struct ring_test t;
    uint64_t count = rounds(n, 200, 60);

    open_ring(n, &t, 0);
    CHECK(n, loco_barrier_wait(&t.bar) == 0); /* a node not ready yet would miss it */
    if (n->id == 2)
        leave(n, &t);
    for (uint64_t i = 1; n->id != 2 && i <= count && n->failures < 10; i++) {
        if (n->id == 0)
            send_one(n, &t.rb, i);
        else
            receive_one(n, &t.rb, i);
    }
    if (n->id == 0) {
        CHECK(n, loco_ringbuffer_wait(&t.rb, t.rb.position, TEST_TIMEOUT) == 0);
        CHECK(n, loco_peer_lost(n->mgr, 2));
    } else if (n->id == 1) {
        loco_ringbuffer_acknowledge(&t.rb, t.rb.position);
        struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);
        while (!loco_peer_lost(n->mgr, 0) && !loco_relax(n->mgr, &wait))
            ;
    }
    close_ring(&t);
}

ON_EACH_FABRIC(ringbuffer, lost_receiver_is_not_waited_for, 3, lost_receiver_body)
UNDER_CHAOS(ringbuffer, lost_receiver_is_not_waited_for, 10, 3, lost_receiver_body)

/* The sender's messages are still received after its death. Then the loss is reported. */
static void lost_sender_body(struct node *n)
{
    struct ring_test t;

    open_ring(n, &t, 0);
    CHECK(n, loco_barrier_wait(&t.bar) == 0); /* a node not ready yet would miss it */
    if (n->id == 0) {
        for (uint64_t i = 1; i <= 4; i++)
            send_one(n, &t.rb, i);
        die(n);
    } else {
        struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);
        struct loco_message m;
        while (!loco_peer_lost(n->mgr, 0) && !loco_relax(n->mgr, &wait))
            ;
        for (uint64_t i = 1; i <= 4; i++)
            receive_one(n, &t.rb, i);
        CHECK(n, loco_ringbuffer_receive(&t.rb, &m) == -ECONNRESET);
        CHECK(n, loco_ringbuffer_receive_wait(&t.rb, &m, UINT64_MAX) == -ECONNRESET);
    }
    close_ring(&t);
}

ON_EACH_FABRIC(ringbuffer, lost_sender_is_heard_out, 3, lost_sender_body)
UNDER_CHAOS(ringbuffer, lost_sender_is_heard_out, 10, 3, lost_sender_body)

/* --- ringbuffer: errors ----------------------------------------------------------------------- */

static void spoiled_body(struct node *n)
{
    struct ring_test t;
    struct loco_message m;

    open_ring(n, &t, 0);
    if (n->id == 1) {
        uint64_t *ring = t.rb.ring->memory;
        CHECK(n, loco_ringbuffer_receive(&t.rb, &m) == -EAGAIN);
        ring[1] = ring[2] = ring[RING / 8 - 1] = UINT64_MAX; /* the receiver does not read these */
        CHECK(n, loco_ringbuffer_receive(&t.rb, &m) == -EAGAIN);
        ring[0] = (uint64_t)1 << 32 | 8; /* a header for another place */
        CHECK(n, loco_ringbuffer_receive(&t.rb, &m) == -EBADMSG);
        ring[0] = MESSAGE_MAX + 1;
        CHECK(n, loco_ringbuffer_receive(&t.rb, &m) == -EBADMSG);
        ring[0] = 0;
        CHECK(n, loco_ringbuffer_receive(&t.rb, &m) == -EAGAIN);
    }
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    close_ring(&t);
}

ON_EACH_FABRIC(ringbuffer, spoiled_ring_is_found_out, 2, spoiled_body)

static void refuse_unattached(struct helper *h)
{
    struct loco_ringbuffer *rb = h->object;

    loco_thread_detach(h->node->mgr);
    CHECK(h->node, loco_ringbuffer_send(rb, "x", 1, NULL) == -EPERM);
    CHECK(h->node, loco_thread_attach(h->node->mgr) == 0);
}

static void ring_errors_body(struct node *n)
{
    struct loco_ringbuffer bad;
    struct ring_test t;
    unsigned char message[MESSAGE_MAX + 1] = {0};
    const struct loco_members all = LOCO_ALL;

    CHECK(n, loco_ringbuffer_init(&bad, n->mgr, NULL, "bad", 0, all, RING, MESSAGE_MAX + 1) ==
                 -EINVAL);
    CHECK(n, loco_ringbuffer_init(&bad, n->mgr, NULL, "bad", 0, all, RING, 0) == -EINVAL);
    CHECK(n, loco_ringbuffer_init(&bad, n->mgr, NULL, "b/d", 0, all, RING, 8) == -EINVAL);
    if (n->id == 0) {
        CHECK(n, loco_ringbuffer_init(&bad, n->mgr, NULL, "lonely", 0, all, RING - 9, 8) == 0);
        CHECK(n, bad.capacity == RING);
        CHECK(n, loco_ringbuffer_send(&bad, message, 8, NULL) == -ENOTCONN);
        loco_ringbuffer_fini(&bad);
    }
    open_ring(n, &t, 0);
    if (n->id == 0) {
        struct helper other = {.node = n, .object = &t.rb, .body = refuse_unattached};
        CHECK(n, loco_ringbuffer_send(&t.rb, message, 0, NULL) == -EMSGSIZE);
        CHECK(n, loco_ringbuffer_send(&t.rb, message, sizeof message, NULL) == -EMSGSIZE);
        start_helper(&other);
        end_helper(&other);
    } else {
        struct loco_message m;
        CHECK(n, loco_ringbuffer_receive_wait(&t.rb, &m, 1000000) == -ETIMEDOUT);
    }
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    close_ring(&t);
}

ON_EACH_FABRIC(ringbuffer, errors, 2, ring_errors_body)

/* --- ringbuffer: two threads take turns in sending, and in acknowledging ---------------------- */

struct relay {
    struct ring_test ring;
    _Atomic uint64_t next; /* the message whose turn it is; the helper sends the even ones */
    uint64_t count;
};

static void relay(struct node *n, struct relay *r, uint64_t mine)
{
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);

    for (uint64_t i = mine; i <= r->count && n->failures < 10; i += 2) {
        while (r->next != i && !loco_relax(n->mgr, &wait))
            ;
        if (n->id == 0)
            send_one(n, &r->ring.rb, i);
        else
            receive_one(n, &r->ring.rb, i);
        r->next = i + 1;
        wait = loco_wait_for(n->mgr, TEST_TIMEOUT);
    }
}

static void relay_helper(struct helper *h)
{
    relay(h->node, h->object, 2);
}

static void relay_body(struct node *n)
{
    struct relay r = {.next = 1, .count = rounds(n, 400, 40)};
    struct helper other = {.node = n, .object = &r, .body = relay_helper};

    open_ring(n, &r.ring, 0);
    start_helper(&other);
    relay(n, &r, 1);
    end_helper(&other);
    if (n->id != 0)
        loco_ringbuffer_acknowledge(&r.ring.rb, r.ring.rb.position);
    else
        CHECK(n, loco_ringbuffer_wait(&r.ring.rb, r.ring.rb.position, TEST_TIMEOUT) == 0);
    CHECK(n, loco_barrier_wait(&r.ring.bar) == 0);
    close_ring(&r.ring);
}

ON_EACH_FABRIC(ringbuffer, threads_take_turns, 2, relay_body)
UNDER_CHAOS(ringbuffer, threads_take_turns, 30, 2, relay_body)

/* --- shared_queue: who pushed what, and that each is popped once ------------------------------ */

enum { THREADS = 2, NODES = 3, MAKERS = NODES * THREADS, EACH_MAX = 300 };

/* An entry names its maker; the rest of it follows from that. */
struct entry {
    uint32_t maker, number;
    uint64_t rest[]; /* as many as fit */
};

static struct entry *make_entry(size_t size, uint32_t maker, uint32_t number)
{
    struct entry *e = malloc(size);

    e->maker = maker;
    e->number = number;
    for (size_t i = 0; i < size / 8 - 1; i++)
        e->rest[i] = mix((uint64_t)maker << 32 | number) + i;
    return e;
}

static bool entry_fits(const struct entry *e, size_t size)
{
    for (size_t i = 0; i < size / 8 - 1; i++)
        if (e->rest[i] != mix((uint64_t)e->maker << 32 | e->number) + i)
            return false;
    return true;
}

/* How often each entry was popped, at every node and gathered at node 0. */
struct tally {
    uint8_t popped[NODES][MAKERS][EACH_MAX];
};

struct queue_test {
    struct loco_shared_queue queue;
    struct loco_shared_region tally;
    struct loco_barrier bar;
    size_t size; /* of an entry */
    uint32_t each;
};

static void open_queue(struct node *n, struct queue_test *t, uint32_t capacity, size_t size)
{
    uint32_t host = n->count - 1;

    t->size = size;
    CHECK(n, loco_shared_queue_init(&t->queue, n->mgr, NULL, "q", host, LOCO_ALL, capacity, size) ==
                 0);
    CHECK(n, loco_shared_region_init(&t->tally, n->mgr, NULL, "t", LOCO_ALL,
                                     sizeof(struct tally)) == 0);
    CHECK(n, loco_barrier_init(&t->bar, n->mgr, NULL, "bar", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
}

static void close_queue(struct queue_test *t)
{
    loco_barrier_fini(&t->bar);
    loco_shared_region_fini(&t->tally);
    loco_shared_queue_fini(&t->queue);
}

/* Uses the three forms in turn. A timed call that gives up is repeated; its ticket must not be
 * lost. */
static int push_some_way(struct node *n, struct loco_shared_queue *q, const void *entry,
                         uint32_t way)
{
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);

    for (;;) {
        int rc = way % 3 == 0   ? loco_shared_queue_push(q, entry, UINT64_MAX)
                 : way % 3 == 1 ? loco_shared_queue_push(q, entry, 1000)
                                : loco_shared_queue_try_push(q, entry);
        if (rc != -EAGAIN && rc != -ETIMEDOUT)
            return rc;
        CHECK(n, rc == (way % 3 == 1 ? -ETIMEDOUT : -EAGAIN));
        if (loco_relax(n->mgr, &wait))
            return rc;
    }
}

static int pop_some_way(struct node *n, struct loco_shared_queue *q, void *entry, uint32_t way)
{
    struct loco_wait wait = loco_wait_for(n->mgr, TEST_TIMEOUT);

    for (;;) {
        int rc = way % 3 == 0   ? loco_shared_queue_pop(q, entry, UINT64_MAX)
                 : way % 3 == 1 ? loco_shared_queue_pop(q, entry, 1000)
                                : loco_shared_queue_try_pop(q, entry);
        if (rc != -EAGAIN && rc != -ETIMEDOUT)
            return rc;
        CHECK(n, rc == (way % 3 == 1 ? -ETIMEDOUT : -EAGAIN));
        if (loco_relax(n->mgr, &wait))
            return rc;
    }
}

static void count_entry(struct node *n, struct queue_test *t, const struct entry *e, uint32_t *last)
{
    struct tally *tally = loco_shared_region_local(&t->tally);

    CHECK(n, e->maker < MAKERS && e->number < EACH_MAX);
    CHECK(n, entry_fits(e, t->size));
    if (e->maker >= MAKERS || e->number >= EACH_MAX)
        return;
    CHECK(n, e->number + 1 > last[e->maker]); /* in the order of their pushes */
    last[e->maker] = e->number + 1;
    __atomic_fetch_add(&tally->popped[n->id][e->maker][e->number], 1, __ATOMIC_RELAXED);
}

/* Each thread makes as many pushes as pops, so all of them end. */
static void push_and_pop(struct node *n, struct queue_test *t, uint32_t thread)
{
    uint32_t maker = n->id * THREADS + thread, last[MAKERS] = {0};
    struct entry *got = malloc(t->size);

    for (uint32_t i = 0; i < t->each && n->failures < 10; i++) {
        struct entry *e = make_entry(t->size, maker, i);
        CHECK(n, push_some_way(n, &t->queue, e, maker + i) == 0);
        CHECK(n, pop_some_way(n, &t->queue, got, maker + i / 3) == 0);
        count_entry(n, t, got, last);
        free(e);
    }
    free(got);
}

static void push_and_pop_helper(struct helper *h)
{
    push_and_pop(h->node, h->object, h->index);
}

/* Sends this node's counts to node 0, which adds them up. */
static void check_tally(struct node *n, struct queue_test *t)
{
    struct tally *tally = loco_shared_region_local(&t->tally);
    size_t part = sizeof tally->popped[0];

    if (n->id != 0)
        loco_shared_region_write(&t->tally, 0, n->id * part, tally->popped[n->id], part);
    CHECK(n, loco_barrier_wait(&t->bar) == 0);
    for (uint32_t maker = 0; n->id == 0 && maker < n->count * THREADS; maker++) {
        for (uint32_t i = 0; i < t->each; i++) {
            unsigned count = 0;
            for (uint32_t node = 0; node < n->count; node++)
                count += tally->popped[node][maker][i];
            CHECK(n, count == 1);
        }
    }
    CHECK(n, loco_barrier_wait(&t->bar) == 0);
}

static void many_to_many(struct node *n, uint32_t capacity, size_t size, uint64_t each)
{
    struct queue_test t = {.each = (uint32_t)each};
    struct helper others[THREADS - 1];

    open_queue(n, &t, capacity, size);
    for (uint32_t i = 0; i < THREADS - 1; i++) {
        others[i] =
            (struct helper){.node = n, .object = &t, .body = push_and_pop_helper, .index = i + 1};
        start_helper(&others[i]);
    }
    push_and_pop(n, &t, 0);
    for (uint32_t i = 0; i < THREADS - 1; i++)
        end_helper(&others[i]);
    check_tally(n, &t);
    close_queue(&t);
}

static void many_body(struct node *n)
{
    many_to_many(n, 8, 8, rounds(n, EACH_MAX, 8));
}

/* Entries as large as the manager's mem_refs allow. */
static void large_body(struct node *n)
{
    many_to_many(n, 4, n->mgr->config.block_size - 16, rounds(n, EACH_MAX, 8));
}

static void one_slot_body(struct node *n)
{
    many_to_many(n, 1, 16, rounds(n, EACH_MAX, 4));
}

ON_EACH_FABRIC(shared_queue, many_to_many, NODES, many_body)
ON_EACH_FABRIC(shared_queue, large_entries, NODES, large_body)
ON_EACH_FABRIC(shared_queue, one_slot, NODES, one_slot_body)
ON_EACH_FABRIC(shared_queue, one_node, 1, many_body)
UNDER_CHAOS(shared_queue, many_to_many, 20, NODES, many_body)
UNDER_CHAOS(shared_queue, large_entries, 20, NODES, large_body)
UNDER_CHAOS(shared_queue, one_slot, 10, NODES, one_slot_body)

/* Node 0 only pushes and the others only pop, so either it waits for room or they wait for entries.
 */
static void one_way(struct node *n, bool slow_pops)
{
    struct queue_test t = {.each = (uint32_t)rounds(n, EACH_MAX, 10)};
    uint32_t last[MAKERS] = {0}, pops = t.each * THREADS * NODES / (NODES - 1);

    open_queue(n, &t, 4, 24);
    for (uint32_t maker = 0; n->id == 0 && maker < MAKERS; maker++) {
        for (uint32_t i = 0; i < t.each && n->failures < 10; i++) {
            struct entry *e = make_entry(t.size, maker, i);
            CHECK(n, push_some_way(n, &t.queue, e, i / 4) == 0);
            free(e);
            struct loco_wait wait = loco_wait_for(n->mgr, 2000);
            while (!slow_pops && i % 8 == 0 && !loco_relax(n->mgr, &wait))
                ;
        }
    }
    for (uint32_t i = 0; n->id != 0 && i < pops && n->failures < 10; i++) {
        struct entry *got = malloc(t.size);
        CHECK(n, pop_some_way(n, &t.queue, got, i / 4) == 0);
        count_entry(n, &t, got, last);
        free(got);
        struct loco_wait wait = loco_wait_for(n->mgr, 2000);
        while (slow_pops && i % 8 == 0 && !loco_relax(n->mgr, &wait))
            ;
    }
    check_tally(n, &t);
    close_queue(&t);
}

static void slow_pops_body(struct node *n)
{
    one_way(n, true);
}

static void slow_pushes_body(struct node *n)
{
    one_way(n, false);
}

ON_EACH_FABRIC(shared_queue, slow_pops, NODES, slow_pops_body)
ON_EACH_FABRIC(shared_queue, slow_pushes, NODES, slow_pushes_body)
UNDER_CHAOS(shared_queue, slow_pops, 10, NODES, slow_pops_body)
UNDER_CHAOS(shared_queue, slow_pushes, 10, NODES, slow_pushes_body)

/* --- shared_queue: full, empty, and giving up ------------------------------------------------- */

/* Node 0 alone fills and empties the queue, including the slots at other nodes. */
static void bounds_body(struct node *n)
{
    struct queue_test t = {0};
    uint64_t got = 0;

    open_queue(n, &t, 5, sizeof got);
    CHECK(n, t.queue.capacity == 8);
    for (uint64_t lap = 0; n->id == 0 && lap < 3; lap++) {
        CHECK(n, loco_shared_queue_try_pop(&t.queue, &got) == -EAGAIN);
        CHECK(n, loco_shared_queue_pop(&t.queue, &got, 5000) == -ETIMEDOUT);
        for (uint64_t i = 0; i < 8; i++)
            CHECK(n, loco_shared_queue_try_push(&t.queue, &i) == 0);
        CHECK(n, loco_shared_queue_try_push(&t.queue, &got) == -EAGAIN);
        CHECK(n, loco_shared_queue_push(&t.queue, &got, 5000) == -ETIMEDOUT);
        for (uint64_t i = 0; i < 8; i++)
            CHECK(n,
                  loco_shared_queue_pop(&t.queue, &got, i % 2 ? 0 : TEST_TIMEOUT) == 0 && got == i);
    }
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    close_queue(&t);
}

ON_EACH_FABRIC(shared_queue, bounds, 3, bounds_body)
UNDER_CHAOS(shared_queue, bounds, 5, 3, bounds_body)

/* The tickets overflow their word. */
static void ticket_wrap_body(struct node *n)
{
    enum { CAPACITY = 8 };
    const uint64_t start = (uint64_t)0 - 3 * CAPACITY;
    struct queue_test t = {.each = (uint32_t)rounds(n, 100, 10)};

    open_queue(n, &t, CAPACITY, 8);
    unsigned char *slot = t.queue.slots->memory;
    for (uint64_t s = 0; s < CAPACITY; s++) {
        if ((s >> t.queue.run_shift) % n->count != n->id)
            continue;
        *(uint64_t *)(void *)slot = 2 * (start + s);
        slot += t.queue.slot_size;
    }
    if (n->id == n->count - 1) {
        CHECK(n, loco_atomic_store(loco_atomic_of(&t.queue.head), start) == 0);
        CHECK(n, loco_atomic_store(loco_atomic_of(&t.queue.tail), start) == 0);
    }
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    push_and_pop(n, &t, 0);
    push_and_pop(n, &t, 1);
    check_tally(n, &t);
    uint64_t tail = 0;
    CHECK(n, loco_atomic_load(loco_atomic_of(&t.queue.tail), &tail) == 0);
    CHECK(n, tail == start + n->count * THREADS * t.each);
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    close_queue(&t);
}

ON_EACH_FABRIC(shared_queue, tickets_wrap, NODES, ticket_wrap_body)
UNDER_CHAOS(shared_queue, tickets_wrap, 5, NODES, ticket_wrap_body)

/* --- shared_queue: errors --------------------------------------------------------------------- */

/* A pop without a time limit ends with an error when a participant is lost. */
static void queue_leaver_body(struct node *n)
{
    struct queue_test t = {0};
    uint64_t got;

    open_queue(n, &t, 4, sizeof got);
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    if (n->id == 1)
        die(n);
    if (n->id != 1) {
        CHECK(n, loco_shared_queue_pop(&t.queue, &got, UINT64_MAX) == -ECONNRESET);
        CHECK(n, loco_shared_queue_try_pop(&t.queue, &got) == -ECONNRESET);
        CHECK(n, loco_shared_queue_push(&t.queue, &got, UINT64_MAX) == -ECONNRESET);
        CHECK(n, loco_shared_queue_push(&t.queue, &got, TEST_TIMEOUT) == -ECONNRESET);
    }
    close_queue(&t);
}

ON_EACH_FABRIC(shared_queue, leaver_ends_waits, 3, queue_leaver_body)

/* The thread's mem_refs. On coherent memory the queue needs none of them. */
struct blocks {
    void *at[256];
    unsigned count;
};

static void take_blocks(const struct node *n, struct blocks *b)
{
    for (b->count = 0; b->count < 256; b->count++)
        if (!(b->at[b->count] = loco_mem_ref_take(n->mgr)))
            return;
}

static void put_blocks(const struct node *n, const struct blocks *b)
{
    for (unsigned i = 0; i < b->count; i++)
        loco_mem_ref_put(n->mgr, b->at[i]);
}

/* Node 0 pushes before node 1 has constructed its endpoint, which it does when node 0 says so. A
 * push without a time limit has taken its ticket, so it waits. */
static void early_push_body(struct node *n)
{
    enum { CAPACITY = 8 };
    struct loco_shared_queue queue;
    struct loco_shared_region r;
    struct blocks blocks = {.count = 0};
    const uint64_t go = 1;
    uint64_t entry = 0;

    CHECK(n, loco_shared_region_init(&r, n->mgr, NULL, "r", LOCO_ALL, 8) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    const uint64_t *told = loco_shared_region_local(&r);
    if (n->id == 1)
        AWAIT(n, __atomic_load_n(told, __ATOMIC_ACQUIRE));
    CHECK(n, loco_shared_queue_init(&queue, n->mgr, NULL, "q", 0, LOCO_ALL, CAPACITY, 8) == 0);
    if (n->id == 0) {
        for (; entry >> queue.run_shift == 0; entry++) /* the slots of the first run are here */
            CHECK(n, loco_shared_queue_push(&queue, &entry, 0) == 0);
        CHECK(n, loco_shared_queue_push(&queue, &entry, TEST_TIMEOUT) == -ENOTCONN);
        loco_shared_region_write(&r, 1, 0, &go, sizeof go);
        if (queue.coherent)
            take_blocks(n, &blocks);
        for (; entry < CAPACITY; entry++)
            CHECK(n, loco_shared_queue_push(&queue, &entry, UINT64_MAX) == 0);
        put_blocks(n, &blocks);
    }
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    for (uint64_t got = CAPACITY, next = 0; n->id == 1 && next < CAPACITY; next++)
        CHECK(n, loco_shared_queue_pop(&queue, &got, TEST_TIMEOUT) == 0 && got == next);
    if (n->id == 1)
        loco_shared_region_write(&r, 0, 0, &go, sizeof go);
    else
        AWAIT(n, __atomic_load_n(told, __ATOMIC_ACQUIRE)); /* node 1 pops what is here */
    loco_shared_queue_fini(&queue);
    loco_shared_region_fini(&r);
}

ON_EACH_FABRIC(shared_queue, early_pushes_wait, 2, early_push_body)

/* Ticket 1 uses the slot at node 1, where another thread changes a byte of the entry. */
static void spoiled_slot_body(struct node *n)
{
    struct queue_test t = {0};
    uint64_t value = 7, got = 0;

    open_queue(n, &t, 4, sizeof value);
    for (int i = 0; n->id == 0 && i < 2; i++)
        CHECK(n, loco_shared_queue_push(&t.queue, &value, UINT64_MAX) == 0);
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    if (n->id == 1)
        ((uint64_t *)t.queue.slots->memory)[2] ^= 1;
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    if (n->id == 0) {
        CHECK(n, loco_shared_queue_pop(&t.queue, &got, UINT64_MAX) == 0 && got == 7);
        CHECK(n, loco_shared_queue_try_pop(&t.queue, &got) == -EBADMSG);
    }
    CHECK(n, loco_barrier_wait(&t.bar) == 0);
    close_queue(&t);
}

/* Coherent memory needs no checksum, and has none. */
Test(shared_queue, spoiled_slot_is_found_out_sim)
{
    cr_assert_eq(run_nodes(ON_SIM, 2, spoiled_slot_body, &here[0]), 0);
}

static void refuse_to_pop(struct helper *h)
{
    uint64_t got;

    loco_thread_detach(h->node->mgr);
    CHECK(h->node, loco_shared_queue_try_pop(h->object, &got) == -EPERM);
    CHECK(h->node, loco_thread_attach(h->node->mgr) == 0);
}

/* A queue that no machine has room for is refused before its memory is touched, with a message that
 * gives its size. */
static void too_many_body(struct node *n)
{
    struct loco_shared_queue q;
    struct loco_shared_region region;
    const struct loco_members all = LOCO_ALL;
    const size_t block = n->mgr->config.block_size;
    const double bytes = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    char text[120];

    CHECK(n, loco_shared_region_init(&region, n->mgr, NULL, "r", all, (size_t)1 << 50) == -ENOMEM);
    CHECK(n, node_logged(n, "an arena of 1073741824 MiB, and this machine has "));
    if (bytes > (double)block * (1 << 30))
        return; /* this machine has room even for this */
    CHECK(n, loco_shared_queue_init(&q, n->mgr, NULL, "q", 0, all, 1 << 30, block - 16) == -ENOMEM);
    snprintf(text, sizeof text, "channel q: 1073741824 entries of %zu bytes take %zu MiB",
             block - 16, block << 10);
    CHECK(n, node_logged(n, text));
}

ON_EACH_FABRIC(shared_queue, more_than_there_is_room_for, 1, too_many_body)

static void queue_errors_body(struct node *n)
{
    struct loco_shared_queue q;
    const struct loco_members all = LOCO_ALL;
    size_t block = n->mgr->config.block_size;
    const bool coherent = n->mgr->fabric->capabilities & LOCO_COHERENT;
    uint64_t got;

    CHECK(n, loco_shared_queue_init(&q, n->mgr, NULL, "q", 0, all, 0, 8) == -EINVAL);
    CHECK(n, loco_shared_queue_init(&q, n->mgr, NULL, "q", 0, all, UINT32_MAX, 8) == -EINVAL);
    CHECK(n, loco_shared_queue_init(&q, n->mgr, NULL, "q", 0, all, 4, 0) == -EINVAL);
    CHECK(n, loco_shared_queue_init(&q, n->mgr, NULL, "q", 0, all, 4, block - 15) == -EINVAL);
    CHECK(n, node_logged(n, "block_size"));
    CHECK(n, loco_shared_queue_init(&q, n->mgr, NULL, "q", 0, all, 4, block - 16) == 0);
    loco_shared_queue_fini(&q);
    CHECK(n, loco_shared_queue_init(&q, n->mgr, NULL, "q", 0, all, 4, 8) == 0);
    CHECK(n, q.slot_size == (coherent ? 16 : 24));
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);

    struct helper other = {.node = n, .object = &q, .body = refuse_to_pop};
    start_helper(&other);
    end_helper(&other);

    void *blocks[64];
    size_t taken = 0;
    while (taken < 64 && (blocks[taken] = loco_mem_ref_take(n->mgr)))
        taken++;
    CHECK(n, loco_shared_queue_pop(&q, &got, 0) == (coherent ? -ETIMEDOUT : -ENOBUFS));
    while (taken > 0)
        loco_mem_ref_put(n->mgr, blocks[--taken]);
    CHECK(n, loco_shared_queue_pop(&q, &got, 0) == -ETIMEDOUT);
    loco_shared_queue_fini(&q);
}

ON_EACH_FABRIC(shared_queue, errors, 1, queue_errors_body)
