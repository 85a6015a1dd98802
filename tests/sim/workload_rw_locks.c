/* Workloads of rw_lock. */
#include <errno.h>

#include "channels/loco/rw_lock.h"
#include "tests/sim/parted.h"
#include "tests/sim/workloads.h"

/* A number in two words, at another node than the lock's host, kept by the lock. */
struct guarded {
    struct loco_rw_lock lock;
    struct loco_shared_region memory;
};

enum { HOST = 0, AT = 1, SECTIONS = 3, WORDS = 2 };

static struct loco_sim_model word_model(void)
{
    return loco_sim_model_word(0);
}

static int open_both(struct loco_manager *m, void *object)
{
    struct guarded *g = object;
    int rc = loco_rw_lock_init(&g->lock, m, NULL, "lock", HOST, LOCO_ALL);

    return rc ? rc : loco_shared_region_init(&g->memory, m, NULL, "memory", LOCO_ALL, 64);
}

static void close_both(void *object)
{
    struct guarded *g = object;

    loco_rw_lock_fini(&g->lock);
    loco_shared_region_fini(&g->memory);
}

static unsigned member_of(const struct loco_sim_actor *a, const struct guarded *g)
{
    return a->node == AT ? LOCO_SELF : (unsigned)loco_channel_member(&g->memory.channel, AT);
}

/* The words are read one after the other, so a writer that is in shows. */
static uint64_t number(struct loco_sim_actor *a, struct guarded *g)
{
    uint64_t *block = loco_mem_ref_take(a->mgr), seen[WORDS];

    for (size_t i = 0; i < WORDS; i++) {
        struct loco_ack ack = loco_region_read(g->memory.region, member_of(a, g), 8 * i, block, 8);
        LOCO_SIM_EXPECT(a, loco_ack_wait(&ack, UINT64_MAX) == 0 || *a->crashed);
        seen[i] = *block;
        loco_sim_actor_dawdle(a, 50);
    }
    loco_mem_ref_put(a->mgr, block);
    LOCO_SIM_EXPECT(a, seen[0] == seen[1] || *a->crashed);
    return seen[0];
}

static void set_number(struct loco_sim_actor *a, struct guarded *g, uint64_t value)
{
    for (size_t i = 0; i < WORDS; i++)
        if (loco_region_write(g->memory.region, member_of(a, g), 8 * i, &value, 8).error)
            LOCO_SIM_EXPECT(a, *a->crashed);
}

/* Return 0, or an error that is none of a try's or a timed call's. */
static int take_to_read(struct loco_sim_actor *a, struct guarded *g)
{
    int rc;

    do {
        const uint64_t way = loco_sim_actor_draw(a, 4);
        rc = way == 0   ? loco_rw_lock_try_read(&g->lock)
             : way == 1 ? loco_rw_lock_read_timed(&g->lock, 200)
                        : loco_rw_lock_read(&g->lock);
    } while (rc == -EBUSY || rc == -ETIMEDOUT);
    return rc;
}

static int take_to_write(struct loco_sim_actor *a, struct guarded *g)
{
    int rc;

    do {
        const uint64_t way = loco_sim_actor_draw(a, 4);
        rc = way == 0   ? loco_rw_lock_try_write(&g->lock)
             : way == 1 ? loco_rw_lock_write_timed(&g->lock, 200)
                        : loco_rw_lock_write(&g->lock);
    } while (rc == -EBUSY || rc == -ETIMEDOUT);
    return rc;
}

static int read_once(struct loco_sim_actor *a, struct guarded *g)
{
    int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_LOAD, 0, 0, 0);
    int rc = take_to_read(a, g);

    if (rc)
        return rc;
    const uint64_t value = number(a, g);
    rc = loco_rw_lock_release_read(&g->lock);
    if (!rc && !*a->crashed)
        loco_sim_history_return(a->history, op, true, value);
    return rc;
}

static int write_once(struct loco_sim_actor *a, struct guarded *g)
{
    int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_FETCH_ADD, 0, 1, 0);
    int rc = take_to_write(a, g);

    if (rc)
        return rc;
    const uint64_t value = number(a, g);
    set_number(a, g, value + 1);
    const uint64_t timeout_ns =
        loco_sim_actor_draw(a, 2) ? UINT64_MAX : loco_sim_actor_draw(a, 200);
    do
        rc = loco_rw_lock_release_write_timed(&g->lock, LOCO_FENCE_THREAD, timeout_ns);
    while (rc == -ETIMEDOUT);
    if (!rc && !*a->crashed)
        loco_sim_history_return(a->history, op, true, value);
    return rc;
}

/* Without a loss all sections end. After one the lock ends, for everybody. */
static void act_with(struct loco_sim_actor *a, bool mortal)
{
    for (int i = 0; i < SECTIONS; i++) {
        int rc = loco_sim_actor_draw(a, 2) ? read_once(a, a->object) : write_once(a, a->object);
        LOCO_SIM_EXPECT(a, rc == 0 || (mortal && (rc == -ECONNRESET || *a->crashed)));
        if (rc || *a->crashed)
            return;
    }
}

static void act(struct loco_sim_actor *a)
{
    act_with(a, false);
}

static void act_mortal(struct loco_sim_actor *a)
{
    act_with(a, true);
}

const struct loco_sim_workload rw_lock = {
    .name = "rw_lock",
    .nodes = 3,
    .threads = 2,
    .model = word_model,
    .object_size = sizeof(struct guarded),
    .open = open_both,
    .close = close_both,
    .act = act,
    .weight = 4,
};

/* The last node dies, maybe with the lock, or while it waits. */
const struct loco_sim_workload rw_lock_mortal = {
    .name = "rw_lock_mortal",
    .nodes = 3,
    .threads = 2,
    .model = word_model,
    .object_size = sizeof(struct guarded),
    .open = open_both,
    .close = close_both,
    .act = act_mortal,
    .dies = true,
};

/* --- two participants lose each other, and a third loses neither --------------------------------
 */

static int parted_open(struct loco_manager *m, void *object)
{
    parted_begin();
    return loco_rw_lock_init(object, m, NULL, "lock", PARTED_THIRD, LOCO_ALL);
}

static void parted_close(void *object)
{
    loco_rw_lock_fini(object);
}

static void parted_act(struct loco_sim_actor *a)
{
    if (a->node == PARTED_HOLDER) {
        LOCO_SIM_EXPECT(a, loco_rw_lock_write(a->object) == 0);
        parted_hold(a);
        loco_rw_lock_release_write(a->object, LOCO_FENCE_NONE);
        return;
    }
    parted_await(a);
    const int waited =
        loco_sim_actor_draw(a, 2) ? loco_rw_lock_read(a->object) : loco_rw_lock_write(a->object);
    parted_give_up(a, waited, loco_rw_lock_try_read(a->object));
}

const struct loco_sim_workload rw_lock_parted = {
    .name = "rw_lock_parted",
    .nodes = 3,
    .threads = 1,
    .model = word_model,
    .object_size = sizeof(struct loco_rw_lock),
    .open = parted_open,
    .close = parted_close,
    .act = parted_act,
    .parts = true,
};
