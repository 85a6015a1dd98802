/* Workloads of ringbuffers. */
#include <errno.h>
#include <string.h>

#include "channels/loco/ringbuffer.h"
#include "tests/sim/workloads.h"

/* --- ringbuffer: node 0's two threads take turns in sending to the others --------------------- */

enum { RING = 512, MESSAGE_MAX = 120, MESSAGES = 24, THREADS = 2 };

struct ring {
    struct loco_ringbuffer rb;
    _Atomic uint64_t turn; /* the thread of this node whose message is next */
};

static struct loco_sim_model no_model(void)
{
    return loco_sim_model_word(0);
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

/* Every word of a message is the header of a message that would begin there one lap later. */
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

static void send_number(struct loco_sim_actor *a, struct loco_ringbuffer *rb, uint64_t number)
{
    unsigned char message[MESSAGE_MAX];
    size_t size = message_size(number);

    compose(number, begin_of(rb->position, size), message);
    LOCO_SIM_EXPECT(a, loco_ringbuffer_send_wait(rb, message, size, NULL, UINT64_MAX) == 0);
    memset(message, 0xee, sizeof message);
}

static void receive_number(struct loco_sim_actor *a, struct loco_ringbuffer *rb, uint64_t number)
{
    unsigned char expected[MESSAGE_MAX];
    uint64_t before = rb->position;
    struct loco_message m;

    int rc = loco_ringbuffer_receive_wait(rb, &m, UINT64_MAX);
    LOCO_SIM_EXPECT(a, rc == 0);
    if (rc)
        return;
    compose(number, begin_of(before, message_size(number)), expected);
    LOCO_SIM_EXPECT(a, m.size == message_size(number));
    LOCO_SIM_EXPECT(a, m.size == message_size(number) && memcmp(m.data, expected, m.size) == 0);
    if (number % 3)
        loco_ringbuffer_release(rb, m.position);
    else
        loco_ringbuffer_acknowledge(rb, m.position);
}

static void ring_act(struct loco_sim_actor *a)
{
    struct ring *r = a->object;
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    for (uint64_t i = a->index % THREADS; i < MESSAGES && *a->failures == 0; i += THREADS) {
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
        LOCO_SIM_EXPECT(a, loco_ringbuffer_receive(&r->rb, &m) == -EAGAIN);
    if (a->node == 0 && r->turn == MESSAGES)
        LOCO_SIM_EXPECT(a, loco_ringbuffer_wait(&r->rb, r->rb.position, UINT64_MAX) == 0);
}

const struct loco_sim_workload workload_ringbuffer = {
    .name = "ringbuffer",
    .nodes = 3,
    .threads = THREADS,
    .model = no_model,
    .object_size = sizeof(struct ring),
    .open = ring_open,
    .close = ring_close,
    .act = ring_act,
};

/* --- the same with slow receivers: the ring is full ------------------------------------------- */

/* Sizes in whole words, so that the ring is often full to the last word. */
static size_t whole_words(uint64_t number)
{
    return 8 * (1 + number * 7 % (MESSAGE_MAX / 8));
}

/* Sends all messages, and checks that an acknowledged message stays acknowledged. */
static void send_all(struct loco_sim_actor *a, struct loco_ringbuffer *rb)
{
    unsigned char message[MESSAGE_MAX];
    uint64_t acknowledged = 0, position;

    for (uint64_t i = 0; i < MESSAGES; i++) {
        memset(message, (int)(i + 1), sizeof message);
        LOCO_SIM_EXPECT(
            a, loco_ringbuffer_send_wait(rb, message, whole_words(i), &position, UINT64_MAX) == 0);
        LOCO_SIM_EXPECT(a, loco_ringbuffer_acknowledged(rb, acknowledged));
        if (loco_ringbuffer_acknowledged(rb, position))
            acknowledged = position;
    }
    LOCO_SIM_EXPECT(a, loco_ringbuffer_wait(rb, rb->position, UINT64_MAX) == 0);
}

static void receive_one(struct loco_sim_actor *a, struct loco_ringbuffer *rb, uint64_t number)
{
    unsigned char expected[MESSAGE_MAX];
    struct loco_message m;

    memset(expected, (int)(number + 1), sizeof expected);
    LOCO_SIM_EXPECT(a, loco_ringbuffer_receive_wait(rb, &m, UINT64_MAX) == 0);
    LOCO_SIM_EXPECT(a, m.size == whole_words(number) && memcmp(m.data, expected, m.size) == 0);
    loco_ringbuffer_acknowledge(rb, m.position);
}

/* A receiver's threads acknowledge in turn, each right after the other. */
static void receive_in_turns(struct loco_sim_actor *a, struct ring *r)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);
    uint64_t own = a->index % THREADS;

    for (uint64_t i = own; i < MESSAGES; i += THREADS) {
        while (r->turn != i)
            loco_relax(a->mgr, &wait);
        if (loco_sim_actor_draw(a, 4) == 0)
            loco_sim_actor_dawdle(a, 400);
        receive_one(a, &r->rb, i);
        r->turn = i + 1;
    }
}

static void full_act(struct loco_sim_actor *a)
{
    struct ring *r = a->object;

    if (a->node != 0)
        receive_in_turns(a, r);
    else if (a->index == 0)
        send_all(a, &r->rb);
}

const struct loco_sim_workload workload_ring_full = {
    .name = "ring_full",
    .nodes = 3,
    .threads = THREADS,
    .model = no_model,
    .object_size = sizeof(struct ring),
    .open = ring_open,
    .close = ring_close,
    .act = full_act,
};

/* --- a receiver dies while the sender's threads take turns ---------------------------------------
 */

enum { TURNS = 60 };

/* A receiver that is lost does not count as one that has not connected yet. */
static void send_in_turns(struct loco_sim_actor *a, struct ring *r)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);
    const uint64_t message = 1;

    for (uint64_t i = a->index % THREADS; i < TURNS; i += THREADS) {
        while (r->turn != i)
            loco_relax(a->mgr, &wait);
        LOCO_SIM_EXPECT(a, loco_ringbuffer_send(&r->rb, &message, sizeof message, NULL) == 0);
        r->turn = i + 1;
    }
}

static int roomy_open(struct loco_manager *m, void *object)
{
    return loco_ringbuffer_init(object, m, NULL, "ring", 0, LOCO_ALL, TURNS * 16, 8);
}

static void mortal_act(struct loco_sim_actor *a)
{
    struct ring *r = a->object;
    struct loco_message m;

    if (a->node == 0)
        send_in_turns(a, r);
    for (int i = 0; a->node == 1 && a->index % THREADS == 0 && i < TURNS; i++)
        LOCO_SIM_EXPECT(a, loco_ringbuffer_receive_wait(&r->rb, &m, UINT64_MAX) == 0);
}

const struct loco_sim_workload workload_ring_mortal = {
    .name = "ring_mortal",
    .nodes = 3,
    .threads = THREADS,
    .dies = true,
    .within_ns = 4000,
    .model = no_model,
    .object_size = sizeof(struct ring),
    .open = roomy_open,
    .close = ring_close,
    .act = mortal_act,
};
