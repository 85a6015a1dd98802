/* Workloads of shared_queues. */
#include <errno.h>
#include <string.h>

#include "channels/loco/shared_queue.h"
#include "tests/sim/workloads.h"

/* --- shared_queue: a queue of two entries, and three threads that push and pop --------------- */

enum { CAPACITY = 2, ROUNDS = 6 };

static struct loco_sim_model queue_model(void)
{
    return loco_sim_model_queue(CAPACITY);
}

static int queue_open(struct loco_manager *m, void *object)
{
    return loco_shared_queue_init(object, m, NULL, "queue", 0, LOCO_ALL, CAPACITY,
                                  m->config.block_size - 16);
}

/* Entries of one word: a slot then has so few words that a read often reads the turn last. */
static int queue_open_short(struct loco_manager *m, void *object)
{
    return loco_shared_queue_init(object, m, NULL, "queue", 0, LOCO_ALL, CAPACITY, 8);
}

static void queue_close(void *object)
{
    loco_shared_queue_fini(object);
}

/* An entry repeats its value in every word. */
static size_t entry_words(const struct loco_sim_actor *a)
{
    return ((const struct loco_shared_queue *)a->object)->entry_size / 8;
}

static int push(struct loco_sim_actor *a, uint64_t value, bool tries)
{
    uint64_t entry[64];

    for (size_t w = 0; w < entry_words(a); w++)
        entry[w] = value;
    int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_PUSH, 0, value, 0);
    int rc = tries ? loco_shared_queue_try_push(a->object, entry)
                   : loco_shared_queue_push(a->object, entry, UINT64_MAX);
    LOCO_SIM_EXPECT(a, rc == 0 || (tries && rc == -EAGAIN));
    loco_sim_history_return(a->history, op, rc == 0, 0);
    return rc;
}

static int pop(struct loco_sim_actor *a, bool tries)
{
    uint64_t entry[64];

    int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_POP, 0, 0, 0);
    int rc = tries ? loco_shared_queue_try_pop(a->object, entry)
                   : loco_shared_queue_pop(a->object, entry, UINT64_MAX);
    LOCO_SIM_EXPECT(a, rc == 0 || (tries && rc == -EAGAIN));
    for (size_t w = 1; rc == 0 && w < entry_words(a); w++)
        LOCO_SIM_EXPECT(a, entry[w] == entry[0]);
    loco_sim_history_return(a->history, op, rc == 0, rc == 0 ? entry[0] : 0);
    return rc;
}

/* Each thread makes as many pushes as pops, so that every waiting operation is served. */
static void queue_act(struct loco_sim_actor *a)
{
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        uint64_t value = (a->index + 1) * 100 + i;
        if (!loco_sim_actor_draw(a, 2) || push(a, value, true))
            push(a, value, false);
        if (!loco_sim_actor_draw(a, 2) || pop(a, true))
            pop(a, false);
    }
}

/* The same, but no operation waits for ever, to test refusals. */
static void tries_act(struct loco_sim_actor *a)
{
    for (uint64_t i = 1; i <= 2 * ROUNDS; i++) {
        if (loco_sim_actor_draw(a, 2))
            push(a, (a->index + 1) * 100 + i, true);
        else
            pop(a, true);
    }
}

const struct loco_sim_workload workload_queue = {
    .name = "shared_queue",
    .nodes = 2,
    .threads = 2,
    .model = queue_model,
    .object_size = sizeof(struct loco_shared_queue),
    .open = queue_open,
    .close = queue_close,
    .act = queue_act,
};

const struct loco_sim_workload workload_queue_tries = {
    .name = "shared_queue_tries",
    .nodes = 3,
    .threads = 1,
    .model = queue_model,
    .object_size = sizeof(struct loco_shared_queue),
    .open = queue_open,
    .close = queue_close,
    .act = tries_act,
};

const struct loco_sim_workload workload_queue_short = {
    .name = "shared_queue_short",
    .nodes = 3,
    .threads = 1,
    .model = queue_model,
    .object_size = sizeof(struct loco_shared_queue),
    .open = queue_open_short,
    .close = queue_close,
    .act = tries_act,
};
