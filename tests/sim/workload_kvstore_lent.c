/*
 * A workload of the kvstore's windows that two threads of a node move on in turn, as a watch does
 * for an event loop: one starts operations and lends the window to the other, which looks.
 */
#include "tests/sim/workload_kvstore.h"

enum { TRACKS, STARTS, LOOKS, LENT_THREADS };
enum { LENT_KEYS = 2, LENT_WINDOW = 3, LENT_ROUNDS = 4, LENT_TURNS = 8 };

struct lent {
    struct loco_kvstore kv; /* the first member */
    struct loco_kv_window *window;
    enum { NOT_LENT, LENT, OVER } state;
};

/* A turn of a wait places what the thread has stored, before the other one goes on. */
static void lent_give(struct loco_sim_actor *a, int state)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);
    struct lent *l = a->object;

    loco_relax(a->mgr, &wait);
    __atomic_store_n(&l->state, state, __ATOMIC_RELEASE);
}

static int lent_await_other_than(struct loco_sim_actor *a, int state)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);
    struct lent *l = a->object;
    int now;

    while ((now = __atomic_load_n(&l->state, __ATOMIC_ACQUIRE)) == state)
        loco_relax(a->mgr, &wait);
    return now;
}

static void lent_look(struct loco_sim_actor *a)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);
    struct lent *l = a->object;

    while (lent_await_other_than(a, NOT_LENT) == LENT) {
        for (uint64_t turns = loco_sim_actor_draw(a, LENT_TURNS); turns > 0; turns--) {
            if (loco_kv_window_look(l->window))
                break;
            loco_relax(a->mgr, &wait);
        }
        lent_give(a, NOT_LENT);
    }
}

/* Returns how many operations have ended, of which `ended` had before. */
static unsigned lent_use(struct loco_sim_actor *a, unsigned ended)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);
    struct lent *l = a->object;
    uint64_t turns = loco_sim_actor_draw(a, LENT_TURNS);

    for (; turns > 0 && ended < LENT_WINDOW; turns--) {
        for (struct loco_kv_op *op; (op = loco_kv_window_next(l->window)); ended++)
            kv_work_report(a, op);
        loco_relax(a->mgr, &wait);
    }
    return ended;
}

static void lent_round(struct loco_sim_actor *a, uint64_t first)
{
    struct lent *l = a->object;
    int at[LENT_WINDOW];

    LOCO_SIM_EXPECT(a, loco_kv_window_open(&l->window, &l->kv, LENT_WINDOW) == 0);
    for (unsigned i = 0; i < LENT_WINDOW; i++)
        kv_work_start(a, loco_kv_window_op(l->window, i), &at[i], LENT_KEYS,
                      kv_work_fresh_value(a, first + i));
    for (unsigned ended = 0; ended < LENT_WINDOW;) {
        lent_give(a, LENT);
        lent_await_other_than(a, LENT);
        ended = lent_use(a, ended);
    }
    loco_kv_window_close(l->window);
}

static void lent_act(struct loco_sim_actor *a)
{
    switch (a->index % LENT_THREADS) {
    case TRACKS:
        kv_work_track(a);
        return;
    case STARTS:
        for (uint64_t i = 0; i < LENT_ROUNDS; i++)
            lent_round(a, i * LENT_WINDOW);
        lent_give(a, OVER);
        break;
    case LOOKS:
        lent_look(a);
    }
    --*a->acting;
}

static int lent_open(struct loco_manager *m, void *object)
{
    return kv_work_open(m, object,
                        (struct loco_kvstore_config){.value_size = 80, .capacity = 16, .locks = 2});
}

const struct loco_sim_workload kvstore_lent = {
    .name = "kvstore_lent",
    .nodes = 2,
    .threads = LENT_THREADS,
    .model = loco_sim_model_map,
    .object_size = sizeof(struct lent),
    .open = lent_open,
    .close = kv_work_close,
    .act = lent_act,
};
