/* What is done to ringbuffers and shared_queues. */
#include <errno.h>
#include <string.h>

#include "tests/sim/workload.h"

static struct model no_model(void)
{
    return model_word(0);
}

/* --- ringbuffer: node 0 sends, the others receive all of it, whole and in order ------------------
 */

enum { CAPACITY = 512, MESSAGE_MAX = 96, MESSAGES = 40 };

static int ring_open(struct loco_manager *m, void *object)
{
    return loco_ringbuffer_init(object, m, NULL, "ring", 0, LOCO_ALL, CAPACITY, MESSAGE_MAX);
}

static void ring_close(void *object)
{
    loco_ringbuffer_fini(object);
}

/* Message number n, of a size and a content that follow from n. */
static size_t make_message(unsigned n, unsigned char *bytes)
{
    size_t size = 1 + n * 37 % MESSAGE_MAX;

    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(n + i * 7);
    return size;
}

static void send_all(struct actor *a)
{
    unsigned char bytes[MESSAGE_MAX];
    uint64_t position = 0;

    for (unsigned n = 0; n < MESSAGES; n++) {
        size_t size = make_message(n, bytes);
        EXPECT(a, loco_ringbuffer_send_wait(a->object, bytes, size, &position, UINT64_MAX) == 0);
    }
    EXPECT(a, loco_ringbuffer_wait(a->object, position, UINT64_MAX) == 0);
}

static void receive_all(struct actor *a)
{
    unsigned char expected[MESSAGE_MAX];
    struct loco_message m;

    for (unsigned n = 0; n < MESSAGES; n++) {
        size_t size = make_message(n, expected);
        EXPECT(a, loco_ringbuffer_receive_wait(a->object, &m, UINT64_MAX) == 0);
        EXPECT(a, m.size == size && memcmp(m.data, expected, size) == 0);
        if (actor_draw(a, 2) || n == MESSAGES - 1)
            loco_ringbuffer_acknowledge(a->object, m.position);
        else
            loco_ringbuffer_release(a->object, m.position);
    }
}

static void ring_act(struct actor *a)
{
    if (a->node == 0)
        send_all(a);
    else
        receive_all(a);
}

const struct workload workload_ringbuffer = {
    .name = "ringbuffer",
    .nodes = 3,
    .threads = 1,
    .model = no_model,
    .object_size = sizeof(struct loco_ringbuffer),
    .open = ring_open,
    .close = ring_close,
    .act = ring_act,
};

/* --- shared_queue: everybody pushes and pops
 * ------------------------------------------------------ */

enum { ENTRIES = 4, ENTRY_WORDS = 3 };

static struct model queue_model(void)
{
    return model_queue(ENTRIES);
}

static int queue_open(struct loco_manager *m, void *object)
{
    return loco_shared_queue_init(object, m, NULL, "queue", 0, LOCO_ALL, ENTRIES,
                                  ENTRY_WORDS * sizeof(uint64_t));
}

static void queue_close(void *object)
{
    loco_shared_queue_fini(object);
}

static void push(struct actor *a, uint64_t value)
{
    const uint64_t entry[ENTRY_WORDS] = {value, value, value};
    int op = history_invoke(a->history, a->index, OP_PUSH, 0, value, 0);
    int rc = loco_shared_queue_try_push(a->object, entry);

    EXPECT(a, rc == 0 || rc == -EAGAIN);
    history_return(a->history, op, rc == 0, 0);
}

static void pop(struct actor *a)
{
    uint64_t entry[ENTRY_WORDS] = {0};
    int op = history_invoke(a->history, a->index, OP_POP, 0, 0, 0);
    int rc = loco_shared_queue_try_pop(a->object, entry);

    EXPECT(a, rc == 0 || rc == -EAGAIN);
    EXPECT(a, entry[0] == entry[1] && entry[1] == entry[2]);
    history_return(a->history, op, rc == 0, entry[0]);
}

static void queue_act(struct actor *a)
{
    for (uint64_t i = 1; i <= 6; i++) {
        if (actor_draw(a, 2))
            push(a, 100 * (a->index + 1) + i);
        else
            pop(a);
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

/* The forms that wait: as many pushes as pops, so that all end. */
static void waiting_act(struct actor *a)
{
    for (uint64_t i = 1; i <= 5; i++) {
        uint64_t value = 100 * (a->index + 1) + i, entry[ENTRY_WORDS] = {value, value, value};
        if (a->index % 2 == 0) {
            int op = history_invoke(a->history, a->index, OP_PUSH, 0, value, 0);
            EXPECT(a, loco_shared_queue_push(a->object, entry, UINT64_MAX) == 0);
            history_return(a->history, op, true, 0);
        } else {
            int op = history_invoke(a->history, a->index, OP_POP, 0, 0, 0);
            EXPECT(a, loco_shared_queue_pop(a->object, entry, UINT64_MAX) == 0);
            EXPECT(a, entry[0] == entry[1] && entry[1] == entry[2]);
            history_return(a->history, op, true, entry[0]);
        }
    }
}

const struct workload workload_queue_waiting = {
    .name = "shared_queue_waiting",
    .nodes = 2,
    .threads = 2,
    .model = queue_model,
    .object_size = sizeof(struct loco_shared_queue),
    .open = queue_open,
    .close = queue_close,
    .act = waiting_act,
};
