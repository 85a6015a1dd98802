/* What is done to the two queues: ringbuffer and shared_queue. */
#include <errno.h>
#include <string.h>

#include "channels/ringbuffer.h"
#include "channels/shared_queue.h"
#include "tests/sim/workload.h"

/* --- shared_queue: a queue of two entries, and three threads that push and pop --------------- */

enum { CAPACITY = 2, ROUNDS = 6 };

static struct model queue_model(void)
{
    return model_queue(CAPACITY);
}

static int queue_open(struct loco_manager *m, void *object)
{
    return loco_shared_queue_init(object, m, NULL, "queue", 0, LOCO_ALL, CAPACITY,
                                  m->config.block_size - 16);
}

static void queue_close(void *object)
{
    loco_shared_queue_fini(object);
}

/* An entry is its value, over and over. */
static size_t entry_words(const struct actor *a)
{
    return a->mgr->config.block_size / 8 - 2;
}

static int push(struct actor *a, uint64_t value, bool tries)
{
    uint64_t entry[64];

    for (size_t w = 0; w < entry_words(a); w++)
        entry[w] = value;
    int op = history_invoke(a->history, a->index, OP_PUSH, 0, value, 0);
    int rc = tries ? loco_shared_queue_try_push(a->object, entry)
                   : loco_shared_queue_push(a->object, entry, UINT64_MAX);
    EXPECT(a, rc == 0 || (tries && rc == -EAGAIN));
    history_return(a->history, op, rc == 0, 0);
    return rc;
}

static int pop(struct actor *a, bool tries)
{
    uint64_t entry[64];

    int op = history_invoke(a->history, a->index, OP_POP, 0, 0, 0);
    int rc = tries ? loco_shared_queue_try_pop(a->object, entry)
                   : loco_shared_queue_pop(a->object, entry, UINT64_MAX);
    EXPECT(a, rc == 0 || (tries && rc == -EAGAIN));
    for (size_t w = 1; rc == 0 && w < entry_words(a); w++)
        EXPECT(a, entry[w] == entry[0]);
    history_return(a->history, op, rc == 0, rc == 0 ? entry[0] : 0);
    return rc;
}

/* Each pushes and pops as many, so that those who wait for ever are served. */
static void queue_act(struct actor *a)
{
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        uint64_t value = (a->index + 1) * 100 + i;
        if (!actor_draw(a, 2) || push(a, value, true))
            push(a, value, false);
        if (!actor_draw(a, 2) || pop(a, true))
            pop(a, false);
    }
}

/* The same, but nobody ever waits for ever: refusals are what is looked at. */
static void tries_act(struct actor *a)
{
    for (uint64_t i = 1; i <= 2 * ROUNDS; i++) {
        if (actor_draw(a, 2))
            push(a, (a->index + 1) * 100 + i, true);
        else
            pop(a, true);
    }
}

const struct workload workload_queue = {
    .name = "shared_queue",
    .nodes = 2,
    .threads = 2,
    .model = queue_model,
    .object_size = sizeof(struct loco_shared_queue),
    .open = queue_open,
    .close = queue_close,
    .act = queue_act,
};

const struct workload workload_queue_tries = {
    .name = "shared_queue_tries",
    .nodes = 3,
    .threads = 1,
    .model = queue_model,
    .object_size = sizeof(struct loco_shared_queue),
    .open = queue_open,
    .close = queue_close,
    .act = tries_act,
};

/* --- ringbuffer: node 0's two threads take turns in sending to the others --------------------- */

enum { RING = 512, MESSAGE_MAX = 120, MESSAGES = 24 };

struct ring {
    struct loco_ringbuffer rb;
    _Atomic uint64_t turn;
};

static struct model no_model(void)
{
    return model_word(0);
}

static int ring_open(struct loco_manager *m, void *object)
{
    return loco_ringbuffer_init(object, m, NULL, "ring", 0, LOCO_ALL, RING, MESSAGE_MAX);
}

static void ring_close(void *object)
{
    loco_ringbuffer_fini(object);
}

static size_t message_size(uint64_t number)
{
    return 1 + number * 53 % MESSAGE_MAX;
}

/* Every word of a message is the header of one that would begin there a lap later. */
static void compose(uint64_t number, uint64_t begin, unsigned char *message)
{
    for (size_t i = 0; i < message_size(number); i++) {
        uint64_t header = (begin + 8 + i / 8 * 8 + RING) / 8 << 32 | 8;
        message[i] = (unsigned char)(header >> 8 * (i % 8));
    }
    message[0] = (unsigned char)number;
}

static uint64_t begin_of(uint64_t position, size_t size)
{
    size_t left = RING - position % RING;

    return left < 16 + (size + 7) / 8 * 8 ? position + left : position;
}

static void send_number(struct actor *a, struct loco_ringbuffer *rb, uint64_t number)
{
    unsigned char message[MESSAGE_MAX];
    size_t size = message_size(number);

    compose(number, begin_of(rb->position, size), message);
    EXPECT(a, loco_ringbuffer_send_wait(rb, message, size, NULL, UINT64_MAX) == 0);
    memset(message, 0xee, sizeof message);
}

static void receive_number(struct actor *a, struct loco_ringbuffer *rb, uint64_t number)
{
    unsigned char expected[MESSAGE_MAX];
    uint64_t before = rb->position;
    struct loco_message m;

    int rc = loco_ringbuffer_receive_wait(rb, &m, UINT64_MAX);
    EXPECT(a, rc == 0);
    if (rc)
        return;
    compose(number, begin_of(before, message_size(number)), expected);
    EXPECT(a, m.size == message_size(number));
    EXPECT(a, m.size == message_size(number) && memcmp(m.data, expected, m.size) == 0);
    if (number % 3)
        loco_ringbuffer_release(rb, m.position);
    else
        loco_ringbuffer_acknowledge(rb, m.position);
}

static void ring_act(struct actor *a)
{
    struct ring *r = a->object;
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    for (uint64_t i = a->index % 2; i < MESSAGES && *a->failures == 0; i += 2) {
        while (r->turn != i)
            loco_relax(a->mgr, &wait);
        if (a->node == 0)
            send_number(a, &r->rb, i);
        else
            receive_number(a, &r->rb, i);
        r->turn = i + 1;
        wait = loco_wait_for(a->mgr, UINT64_MAX);
    }
    for (struct loco_message m;
         a->node != 0 && r->turn == MESSAGES && r->rb.told != r->rb.released;)
        EXPECT(a, loco_ringbuffer_receive(&r->rb, &m) == -EAGAIN);
    if (a->node == 0 && r->turn == MESSAGES)
        EXPECT(a, loco_ringbuffer_wait(&r->rb, r->rb.position, UINT64_MAX) == 0);
}

const struct workload workload_ringbuffer = {
    .name = "ringbuffer",
    .nodes = 3,
    .threads = 2,
    .model = no_model,
    .object_size = sizeof(struct ring),
    .open = ring_open,
    .close = ring_close,
    .act = ring_act,
};
