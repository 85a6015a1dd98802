/* Workloads of queue_lock. */
#include <errno.h>

#include "channels/loco/queue_lock.h"
#include "tests/sim/parted.h"
#include "tests/sim/workloads.h"

/* A plain counter at another node than the lock's host, kept by the lock. */
struct guarded {
    struct loco_queue_lock lock;
    struct loco_shared_region memory;
};

enum { HOST = 0, AT = 1, SECTIONS = 5, MORTAL = 2, MORTAL_THREADS = 3 };

static struct loco_sim_model word_model(void)
{
    return loco_sim_model_word(0);
}

static int open_with(struct loco_manager *m, void *object, unsigned handover)
{
    struct guarded *g = object;
    int rc = loco_queue_lock_init(&g->lock, m, NULL, "lock", HOST, LOCO_ALL, handover);

    return rc ? rc : loco_shared_region_init(&g->memory, m, NULL, "memory", LOCO_ALL, 64);
}

static int open_strict(struct loco_manager *m, void *object)
{
    return open_with(m, object, 0);
}

static int open_handover(struct loco_manager *m, void *object)
{
    return open_with(m, object, 2);
}

static void close_both(void *object)
{
    struct guarded *g = object;

    loco_queue_lock_fini(&g->lock);
    loco_shared_region_fini(&g->memory);
}

/* As the holder reads and writes it: plainly, through the network. */
static uint64_t counter(struct loco_sim_actor *a, struct guarded *g)
{
    uint64_t *block = loco_mem_ref_take(a->mgr);
    const unsigned member =
        a->node == AT ? LOCO_SELF : (unsigned)loco_channel_member(&g->memory.channel, AT);
    struct loco_ack ack = loco_region_read(g->memory.region, member, 0, block, 8);

    LOCO_SIM_EXPECT(a, loco_ack_wait(&ack, UINT64_MAX) == 0 || *a->crashed);
    const uint64_t value = *block;
    loco_mem_ref_put(a->mgr, block);
    return value;
}

static void set_counter(struct loco_sim_actor *a, struct guarded *g, uint64_t value)
{
    const unsigned member =
        a->node == AT ? LOCO_SELF : (unsigned)loco_channel_member(&g->memory.channel, AT);

    if (loco_region_write(g->memory.region, member, 0, &value, 8).error)
        LOCO_SIM_EXPECT(a, *a->crashed);
}

/* Returns 0, or an error that is none of a try's or a timed call's. */
static int take(struct loco_sim_actor *a, struct guarded *g)
{
    int rc;

    do {
        const uint64_t way = loco_sim_actor_draw(a, 4);
        rc = way == 0   ? loco_queue_lock_try(&g->lock)
             : way == 1 ? loco_queue_lock_timed(&g->lock, 200)
                        : loco_queue_lock_acquire(&g->lock);
    } while (rc == -EBUSY || rc == -ETIMEDOUT);
    return rc;
}

/* Releases at once, or repeats the release as often as it times out. */
static int give(struct loco_sim_actor *a, struct guarded *g)
{
    const uint64_t timeout_ns =
        loco_sim_actor_draw(a, 2) ? UINT64_MAX : loco_sim_actor_draw(a, 200);
    int rc;

    do
        rc = loco_queue_lock_release_timed(&g->lock, LOCO_FENCE_THREAD, timeout_ns);
    while (rc == -ETIMEDOUT);
    return rc;
}

/* The counter's values are the history: the lock makes each section a fetch-add. Without a loss all
 * sections end. After one the lock ends, for everybody. */
static void act_with(struct loco_sim_actor *a, bool mortal)
{
    struct guarded *g = a->object;

    for (int i = 0; i < SECTIONS; i++) {
        int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_FETCH_ADD, 0, 1, 0);
        int rc = take(a, g);
        if (rc) {
            LOCO_SIM_EXPECT(a, mortal && (rc == -ECONNRESET || *a->crashed));
            return;
        }
        const uint64_t value = counter(a, g);
        loco_sim_actor_dawdle(a, 100);
        set_counter(a, g, value + 1);
        rc = give(a, g);
        LOCO_SIM_EXPECT(a, rc == 0 || mortal);
        if (rc || *a->crashed)
            return; /* it stays pending */
        loco_sim_history_return(a->history, op, true, value);
    }
}

static void act(struct loco_sim_actor *a)
{
    act_with(a, false);
}

/* A dead node need not learn that it is dead, so its threads may wait for ever. In a process they
 * would be gone. Here one of them wakes the others, as a peer's word of a loss would. */
static void wake_the_dead(struct loco_sim_actor *a)
{
    const struct guarded *g = a->object;
    const struct loco_region *words = g->lock.words.region;

    while (!*a->crashed)
        loco_sim_actor_dawdle(a, 100);
    for (size_t i = 0; i < g->lock.words.count; i++)
        __atomic_store_n((uint64_t *)words->memory + i, UINT64_MAX, __ATOMIC_RELEASE);
}

static void act_mortal(struct loco_sim_actor *a)
{
    if (a->node == MORTAL && a->index % MORTAL_THREADS == 0)
        wake_the_dead(a);
    else
        act_with(a, true);
}

const struct loco_sim_workload queue_lock_strict = {
    .name = "queue_lock_strict",
    .nodes = 3,
    .threads = 1,
    .model = word_model,
    .object_size = sizeof(struct guarded),
    .open = open_strict,
    .close = close_both,
    .act = act,
};

const struct loco_sim_workload queue_lock_handover = {
    .name = "queue_lock",
    .nodes = 2,
    .threads = 3,
    .model = word_model,
    .object_size = sizeof(struct guarded),
    .open = open_handover,
    .close = close_both,
    .act = act,
};

/* The last node dies, maybe with the lock, or while it waits. */
const struct loco_sim_workload queue_lock_mortal = {
    .name = "queue_lock_mortal",
    .nodes = MORTAL + 1,
    .threads = MORTAL_THREADS,
    .model = word_model,
    .object_size = sizeof(struct guarded),
    .open = open_handover,
    .close = close_both,
    .act = act_mortal,
    .dies = true,
};

/* --- two participants lose each other, and a third loses neither --------------------------------
 */

static int parted_open(struct loco_manager *m, void *object)
{
    parted_begin();
    return loco_queue_lock_init(object, m, NULL, "lock", PARTED_THIRD, LOCO_ALL, 0);
}

static void parted_close(void *object)
{
    loco_queue_lock_fini(object);
}

static void parted_act(struct loco_sim_actor *a)
{
    if (a->node == PARTED_HOLDER) {
        LOCO_SIM_EXPECT(a, loco_queue_lock_acquire(a->object) == 0);
        parted_hold(a);
        loco_queue_lock_release(a->object, LOCO_FENCE_NONE);
        return;
    }
    parted_await(a);
    const int waited = loco_queue_lock_acquire(a->object);
    parted_give_up(a, waited, loco_queue_lock_try(a->object));
}

const struct loco_sim_workload queue_lock_parted = {
    .name = "queue_lock_parted",
    .nodes = 3,
    .threads = 1,
    .model = word_model,
    .object_size = sizeof(struct loco_queue_lock),
    .open = parted_open,
    .close = parted_close,
    .act = parted_act,
    .parts = true,
};
