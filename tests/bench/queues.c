/* Compares messages from one core to another with a raw ring of Concurrency Kit: one producer, one
 * consumer, each message copied in and out. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "pair.h"

#if __has_include(<ck_ring.h>)
#include <ck_ring.h>
#define HAVE_CK 1
#else
#define HAVE_CK 0
#endif

enum {
    SIZE_MAX_BYTES = 8192,
    RING_BYTES = 512 << 10, /* room for messages in every ring */
    TURN_BYTES = 2 << 20,
    TURN_MAX = 4000, /* messages in one go */
    TURNS_MAX = 4096,
};

/* A turn ends when the last message is consumed; the sender waits for that. */
struct wire {
    unsigned size;     /* of a message, bytes */
    unsigned capacity; /* messages in the ring; a power of two */
    unsigned times;    /* messages in a turn */
    alignas(8) unsigned char message[SIZE_MAX_BYTES];
    struct raw *raw;
    struct loco_ringbuffer ringbuffer;
    struct loco_shared_queue queue;
};

static void stamp(struct wire *w, uint64_t i)
{
    memcpy(w->message, &i, sizeof i);
}

/* --- the raw ring --------------------------------------------------------------------------- */

#if HAVE_CK

struct raw {
    alignas(128) ck_ring_t ring;
    alignas(128) ck_ring_buffer_t entries[RING_BYTES / 8];
    /* There are twice as many as entries, as the consumer still reads an entry after it was
     * dequeued. */
    alignas(128) unsigned char messages[2 * RING_BYTES];
};

static void open_raw(struct wire *w)
{
    ck_ring_init(&w->raw->ring, w->capacity);
}

static unsigned char *place_of(struct wire *w, uint64_t i)
{
    return w->raw->messages + i % (2 * w->capacity) * w->size;
}

static void raw_send(struct wire *w)
{
    for (unsigned i = 0; i < w->times; i++) {
        unsigned char *place = place_of(w, i);
        stamp(w, i);
        while (ck_ring_size(&w->raw->ring) >= w->capacity - 1)
            ck_pr_stall();
        memcpy(place, w->message, w->size);
        ck_ring_enqueue_spsc(&w->raw->ring, w->raw->entries, (void *)(uintptr_t)(i + 1));
    }
}

static int raw_receive(struct wire *w)
{
    void *entry;
    uint64_t got;

    for (unsigned i = 0; i < w->times; i++) {
        while (!ck_ring_dequeue_spsc(&w->raw->ring, w->raw->entries, &entry))
            ck_pr_stall();
        memcpy(w->message, place_of(w, (uintptr_t)entry - 1), w->size);
        memcpy(&got, w->message, sizeof got);
        if (got != i)
            return -EPROTO;
    }
    return 0;
}

#else

struct raw {
    char unused;
};

static void open_raw(struct wire *w)
{
    (void)w;
}

static void raw_send(struct wire *w)
{
    (void)w;
}

static int raw_receive(struct wire *w)
{
    (void)w;
    return 0;
}

#endif

/* --- ours ------------------------------------------------------------------------------------- */

static void ringbuffer_send(struct wire *w)
{
    for (unsigned i = 0; i < w->times; i++) {
        stamp(w, i);
        loco_ringbuffer_send_wait(&w->ringbuffer, w->message, w->size, NULL, UINT64_MAX);
    }
}

static int ringbuffer_receive(struct wire *w)
{
    struct loco_message message;
    uint64_t got;

    for (unsigned i = 0; i < w->times; i++) {
        int rc = loco_ringbuffer_receive_wait(&w->ringbuffer, &message, UINT64_MAX);
        if (rc)
            return rc;
        memcpy(w->message, message.data, message.size);
        loco_ringbuffer_release(&w->ringbuffer, message.position);
        memcpy(&got, w->message, sizeof got);
        if (got != i)
            return -EPROTO;
    }
    return 0;
}

static void queue_send(struct wire *w)
{
    for (unsigned i = 0; i < w->times; i++) {
        stamp(w, i);
        loco_shared_queue_push(&w->queue, w->message, UINT64_MAX);
    }
}

static int queue_receive(struct wire *w)
{
    uint64_t got;

    for (unsigned i = 0; i < w->times; i++) {
        int rc = loco_shared_queue_pop(&w->queue, w->message, UINT64_MAX);
        if (rc)
            return rc;
        memcpy(&got, w->message, sizeof got);
        if (got != i)
            return -EPROTO;
    }
    return 0;
}

/* --- a run ------------------------------------------------------------------------------------ */

enum { SENDER, RECEIVER }; /* the sides */

enum { QUEUE = 1 }; /* added to benchmark.parameter, which is the size, for the queue */

struct way {
    void (*send)(struct wire *w);
    int (*receive)(struct wire *w);
};

static int take_turn(struct pair *p, struct wire *w, const struct way *way, double *ns)
{
    uint64_t begin = bench_now();
    int rc = 0;

    if (p->side == SENDER) {
        way->send(w);
        pair_hear(p);
    } else {
        rc = way->receive(w);
        pair_tell(p);
    }
    *ns = (double)(bench_now() - begin) / w->times;
    return rc;
}

static int take_turns(struct pair *p, struct wire *w, const struct way *ours)
{
    static const struct way raw_way = {raw_send, raw_receive};
    static double values[TURNS_MAX], raw[TURNS_MAX], unused;
    size_t turns = 0;
    int rc = take_turn(p, w, ours, &unused);

    while (!rc && pair_again(p, turns < TURNS_MAX)) {
        rc = take_turn(p, w, &raw_way, &raw[turns]);
        pair_tell(p);
        pair_hear(p);
        if (!rc)
            rc = take_turn(p, w, ours, &values[turns++]);
    }
    /* Returns messages per microsecond. */
    if (p->side == SENDER)
        p->shared->sample = (struct bench_sample){.value = 1000 / bench_quartile(values, turns),
                                                  .against = 1000 / bench_quartile(raw, turns)};
    return rc;
}

static int open_ours(struct wire *w, struct loco_manager *m, bool queue)
{
    static const uint32_t receivers[] = {RECEIVER};
    int rc;

    if (queue)
        rc = loco_shared_queue_init(&w->queue, m, NULL, "queue", SENDER, LOCO_ALL, w->capacity,
                                    w->size);
    else
        rc = loco_ringbuffer_init(&w->ringbuffer, m, NULL, "ring", SENDER,
                                  (struct loco_members){.nodes = receivers, .count = 1},
                                  w->capacity * (w->size + sizeof(uint64_t)), w->size);
    return rc ? rc : loco_manager_ready(m, PAIR_TIMEOUT_NS);
}

static int wire_body(struct pair *p)
{
    static const struct way ways[] = {{ringbuffer_send, ringbuffer_receive},
                                      {queue_send, queue_receive}};
    const bool queue = p->benchmark->parameter & QUEUE;
    static struct wire w;
    struct loco_fabric *fabric;
    struct loco_manager *m;

    w.size = p->benchmark->parameter & ~(unsigned)QUEUE;
    w.raw = p->arg;
    w.capacity = RING_BYTES / w.size < 1024 ? RING_BYTES / w.size : 1024;
    w.times = TURN_BYTES / w.size < TURN_MAX ? TURN_BYTES / w.size : TURN_MAX;
    if (p->side == SENDER)
        open_raw(&w);
    p->arena_size = 8 << 20;
    p->block_size = SIZE_MAX_BYTES + 64;
    int rc = pair_open_node(p, &fabric, &m);
    if (!rc)
        rc = open_ours(&w, m, queue);
    if (!rc)
        rc = take_turns(p, &w, &ways[queue]);
    if (rc)
        return rc;
    if (queue)
        loco_shared_queue_fini(&w.queue);
    else
        loco_ringbuffer_fini(&w.ringbuffer);
    pair_close_node(p, fabric, m);
    return 0;
}

static int measure_wire(const struct benchmark *b, const struct bench_options *o,
                        struct bench_sample *sample)
{
    struct raw *raw =
        mmap(NULL, sizeof *raw, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (raw == MAP_FAILED)
        return -ENOMEM;
    int rc = pair_run(b, o, wire_body, raw, sample);
    if (!HAVE_CK)
        sample->absent = "not installed";
    munmap(raw, sizeof *raw);
    return rc;
}

#define WIRE(row, target, bytes)                                                                   \
    {                                                                                              \
        .name = row, .unit = "M/s", .against = "ck_ring", .target_ratio = target, .more = true,    \
        .cores = 2, .parameter = bytes, .measure = measure_wire                                    \
    }

const struct benchmark queue_benchmarks[] = {
    WIRE("ringbuffer_8", 0.5, 8),
    WIRE("ringbuffer_64", 0.5, 64),
    WIRE("ringbuffer_1024", 0.5, 1024),
    WIRE("ringbuffer_8192", 0.5, 8192),
    WIRE("shared_queue_8", 0.8, 8 | QUEUE),
    WIRE("shared_queue_64", 0.5, 64 | QUEUE),
    WIRE("shared_queue_1024", 0.5, 1024 | QUEUE),
    WIRE("shared_queue_8192", 0.5, 8192 | QUEUE),
    {0},
};
