/* Workloads of atomic_vars and ticket_locks. */
#include <errno.h>

#include "tests/sim/workloads.h"

/* --- atomic_var: every operation, by everybody, on one word ----------------------------------- */

static struct loco_sim_model word_model(void)
{
    return loco_sim_model_word(0);
}

static int word_open(struct loco_manager *m, void *object)
{
    return loco_atomic_var_init(object, m, NULL, "word", 1, LOCO_ALL, 0);
}

static void word_close(void *object)
{
    loco_atomic_var_fini(object);
}

static void word_act(struct loco_sim_actor *a)
{
    static const enum loco_sim_history_code codes[] = {
        LOCO_SIM_LOAD, LOCO_SIM_STORE, LOCO_SIM_FETCH_ADD, LOCO_SIM_CAS, LOCO_SIM_EXCHANGE};
    const struct loco_atomic_word word = loco_atomic_of(a->object);
    uint64_t old = 0;

    for (int i = 0; i < 8; i++) {
        enum loco_sim_history_code code = codes[loco_sim_actor_draw(a, 5)];
        uint64_t x = loco_sim_actor_draw(a, 4), y = loco_sim_actor_draw(a, 4);
        int rc = 0, op = loco_sim_history_invoke(a->history, a->index, code, 0, x, y);
        const bool timed = i == 4; /* few, as each that is given up may take effect at any time */
        if (code == LOCO_SIM_LOAD && loco_sim_actor_draw(a, 2))
            rc = loco_atomic_load_timed(word, &old, 100);
        else if (code == LOCO_SIM_LOAD)
            rc = loco_atomic_load(word, &old);
        else if (code == LOCO_SIM_STORE)
            rc = loco_atomic_store(word, x);
        else if (code == LOCO_SIM_FETCH_ADD && timed)
            rc = loco_atomic_fetch_add_timed(word, x, &old, 100);
        else if (code == LOCO_SIM_CAS && timed)
            rc = loco_atomic_compare_swap_timed(word, x, y, &old, 100);
        else if (code == LOCO_SIM_EXCHANGE && timed)
            rc = loco_atomic_exchange_timed(word, x, &old, 100);
        else if (code == LOCO_SIM_FETCH_ADD)
            rc = loco_atomic_fetch_add(word, x, &old);
        else if (code == LOCO_SIM_CAS)
            rc = loco_atomic_compare_swap(word, x, y, &old);
        else
            rc = loco_atomic_exchange(word, x, &old);
        LOCO_SIM_EXPECT(a, rc == 0 || ((timed || code == LOCO_SIM_LOAD) && rc == -ETIMEDOUT));
        if (!rc)
            loco_sim_history_return(a->history, op, true, code == LOCO_SIM_STORE ? 0 : old);
    }
}

const struct loco_sim_workload workload_atomic_var = {
    .name = "atomic_var",
    .nodes = 3,
    .threads = 2,
    .model = word_model,
    .object_size = sizeof(struct loco_atomic_var),
    .open = word_open,
    .close = word_close,
    .act = word_act,
};

/* --- ticket_lock: a plain counter at another node than the lock's host, kept by the lock ------ */

struct guarded {
    struct loco_ticket_lock lock;
    struct loco_shared_region memory;
};

enum { HOST = 0, AT = 1, SECTIONS = 5 };

static int guarded_open(struct loco_manager *m, void *object, unsigned handover)
{
    struct guarded *g = object;
    int rc = loco_ticket_lock_init(&g->lock, m, NULL, "lock", HOST, LOCO_ALL, handover);

    return rc ? rc : loco_shared_region_init(&g->memory, m, NULL, "memory", LOCO_ALL, 64);
}

static int guarded_open_strict(struct loco_manager *m, void *object)
{
    return guarded_open(m, object, LOCO_HANDOVER_STRICT);
}

static int guarded_open_handover(struct loco_manager *m, void *object)
{
    return guarded_open(m, object, 3);
}

static void guarded_close(void *object)
{
    struct guarded *g = object;

    loco_ticket_lock_fini(&g->lock);
    loco_shared_region_fini(&g->memory);
}

/* A word that the lock protects, as the holder reads and writes it: plainly, through the network.
 */
static uint64_t guarded_word(struct loco_sim_actor *a, struct guarded *g, size_t i)
{
    const uint64_t *local = loco_shared_region_local(&g->memory);

    if (a->node == AT)
        return __atomic_load_n(&local[i], __ATOMIC_RELAXED);
    uint64_t *block = loco_mem_ref_take(a->mgr);
    struct loco_ack ack = loco_shared_region_read(&g->memory, AT, 8 * i, block, 8);
    LOCO_SIM_EXPECT(a, loco_ack_wait(&ack, UINT64_MAX) == 0 || *a->crashed);
    uint64_t value = *block;
    loco_mem_ref_put(a->mgr, block);
    return value;
}

static void set_guarded_word(struct loco_sim_actor *a, struct guarded *g, size_t i, uint64_t value)
{
    uint64_t *local = loco_shared_region_local(&g->memory);

    if (a->node == AT)
        __atomic_store_n(&local[i], value, __ATOMIC_RELAXED);
    else if (loco_shared_region_write(&g->memory, AT, 8 * i, &value, 8).error)
        LOCO_SIM_EXPECT(a, *a->crashed);
}

static uint64_t counter(struct loco_sim_actor *a, struct guarded *g)
{
    return guarded_word(a, g, 0);
}

static void set_counter(struct loco_sim_actor *a, struct guarded *g, uint64_t value)
{
    set_guarded_word(a, g, 0, value);
}

static bool take_lock(struct loco_sim_actor *a, struct guarded *g)
{
    int rc;

    switch (loco_sim_actor_draw(a, 4)) {
    case 0:
        rc = loco_ticket_lock_try(&g->lock);
        LOCO_SIM_EXPECT(a, rc == 0 || rc == -EBUSY);
        break;
    case 1:
        rc = loco_ticket_lock_timed(&g->lock, 200);
        LOCO_SIM_EXPECT(a, rc == 0 || rc == -ETIMEDOUT);
        break;
    default:
        rc = loco_ticket_lock_acquire(&g->lock);
        LOCO_SIM_EXPECT(a, rc == 0);
    }
    return rc == 0;
}

/* Releases at once, or repeats the release as often as it times out. */
static void release_lock(struct loco_sim_actor *a, struct guarded *g)
{
    uint64_t timeout_ns = loco_sim_actor_draw(a, 2) ? UINT64_MAX : loco_sim_actor_draw(a, 200);
    int rc;

    do
        rc = loco_ticket_lock_release_timed(&g->lock, LOCO_FENCE_THREAD, timeout_ns);
    while (rc == -ETIMEDOUT);
    LOCO_SIM_EXPECT(a, rc == 0);
}

/* The counter's values are the history: the lock makes each section a fetch-add. */
static void guarded_act(struct loco_sim_actor *a)
{
    struct guarded *g = a->object;

    for (int i = 0; i < SECTIONS; i++) {
        int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_FETCH_ADD, 0, 1, 0);
        while (!take_lock(a, g))
            ;
        uint64_t value = counter(a, g);
        set_counter(a, g, value + 1);
        release_lock(a, g);
        loco_sim_history_return(a->history, op, true, value);
    }
}

const struct loco_sim_workload workload_lock_strict = {
    .name = "ticket_lock_strict",
    .nodes = 3,
    .threads = 1,
    .model = word_model,
    .object_size = sizeof(struct guarded),
    .open = guarded_open_strict,
    .close = guarded_close,
    .act = guarded_act,
};

const struct loco_sim_workload workload_lock_handover = {
    .name = "ticket_lock",
    .nodes = 2,
    .threads = 3,
    .model = word_model,
    .object_size = sizeof(struct guarded),
    .open = guarded_open_handover,
    .close = guarded_close,
    .act = guarded_act,
};

/* --- ticket_lock: the last node dies, maybe with the lock or a ticket ------------------------- */

/*
 * The survivors' sections exclude one another and those of the dead node, and all end. The counter
 * may include the dead node's last section or not, as the model says of an operation that did not
 * return; but that section may not take effect after the next one began.
 */
enum { MORTAL = 2, BEATS = 30 };

static bool take_mortal_lock(struct loco_sim_actor *a, struct guarded *g)
{
    int rc = loco_sim_actor_draw(a, 2) ? loco_ticket_lock_acquire(&g->lock)
                                       : loco_ticket_lock_timed(&g->lock, 1000);

    LOCO_SIM_EXPECT(a, rc == 0 || rc == -ETIMEDOUT || *a->crashed);
    return rc == 0;
}

/* The node that will die writes all the time. The next holder of the lock must not see more of
 * these writes. */
static void beat(struct loco_sim_actor *a, struct guarded *g)
{
    uint64_t before = guarded_word(a, g, 1);

    for (uint64_t i = 1; a->node == MORTAL && i <= BEATS; i++)
        set_guarded_word(a, g, 1, before + i);
    loco_sim_actor_dawdle(a, 500);
    if (a->node != MORTAL)
        LOCO_SIM_EXPECT(a, guarded_word(a, g, 1) == before);
}

static void mortal_act(struct loco_sim_actor *a)
{
    struct guarded *g = a->object;

    for (int i = 0; i < SECTIONS && !*a->crashed; i++) {
        int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_FETCH_ADD, 0, 1, 0);
        while (!take_mortal_lock(a, g))
            if (*a->crashed)
                return;
        uint64_t value = counter(a, g);
        beat(a, g);
        set_counter(a, g, value + 1);
        int rc = loco_ticket_lock_release(&g->lock, LOCO_FENCE_THREAD);
        if (*a->crashed)
            return; /* it stays pending */
        LOCO_SIM_EXPECT(a, rc == 0 || rc == -ECONNRESET);
        loco_sim_history_return(a->history, op, true, value);
    }
}

const struct loco_sim_workload workload_lock_mortal = {
    .name = "ticket_lock_mortal",
    .nodes = 3,
    .threads = 2,
    .model = word_model,
    .object_size = sizeof(struct guarded),
    .open = guarded_open_handover,
    .close = guarded_close,
    .act = mortal_act,
    .dies = true,
};

const struct loco_sim_workload workload_lock_mortal_strict = {
    .name = "ticket_lock_mortal_strict",
    .nodes = 3,
    .threads = 2,
    .model = word_model,
    .object_size = sizeof(struct guarded),
    .open = guarded_open_strict,
    .close = guarded_close,
    .act = mortal_act,
    .dies = true,
};

/* --- ticket_lock: tries that fail, while a bystander dies ------------------------------------- */

/*
 * At each node one thread acquires the lock, and one tries. A failed try has claimed a ticket that
 * it did not get. If the end of that claim came late, it would erase the claim of the thread that
 * acquires next. Then the last node dies, and the waiting threads free the turns that no living
 * node claims.
 */
enum { TRIERS = 5, BYSTANDER = TRIERS };

static void tried_section(struct loco_sim_actor *a, int op)
{
    struct guarded *g = a->object;
    const uint64_t value = counter(a, g);

    loco_sim_actor_dawdle(a, 500);
    set_counter(a, g, value + 1);
    LOCO_SIM_EXPECT(a, loco_ticket_lock_release(&g->lock, LOCO_FENCE_THREAD) == 0);
    loco_sim_history_return(a->history, op, true, value);
}

static void acquire_often(struct loco_sim_actor *a)
{
    struct guarded *g = a->object;

    for (int i = 0; i < SECTIONS; i++) {
        loco_sim_actor_dawdle(a, 500);
        int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_FETCH_ADD, 0, 1, 0);
        LOCO_SIM_EXPECT(a, loco_ticket_lock_acquire(&g->lock) == 0);
        tried_section(a, op);
    }
    --*a->acting;
}

static void try_all_the_time(struct loco_sim_actor *a)
{
    struct guarded *g = a->object;
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    while (*a->acting > TRIERS) {
        if (loco_ticket_lock_try(&g->lock) == 0)
            tried_section(
                a, loco_sim_history_invoke(a->history, a->index, LOCO_SIM_FETCH_ADD, 0, 1, 0));
        loco_relax(a->mgr, &wait);
    }
}

static void tries_act(struct loco_sim_actor *a)
{
    if (a->node == BYSTANDER)
        --*a->acting;
    else if (a->index % 2)
        try_all_the_time(a);
    else
        acquire_often(a);
}

const struct loco_sim_workload workload_lock_mortal_tries = {
    .name = "ticket_lock_mortal_tries",
    .nodes = TRIERS + 1,
    .threads = 2,
    .model = word_model,
    .object_size = sizeof(struct guarded),
    .open = guarded_open_strict,
    .close = guarded_close,
    .act = tries_act,
    .dies = true,
    .weight = 4,
};

/* --- ticket_lock: the holder is lost to one node only, and lives ------------------------------ */

/* Nodes CUT_OFF and HOLDER lose each other, while both still reach the lock's host. The holder
 * keeps the lock until it releases it, since its writes still arrive at the host. */
enum { CUT_OFF = 0, THIRD = 1, HOLDER = 2, HOLDS_NS = 8000 };

/* Static, as all nodes of the simulator are in one process. */
static bool is_held, is_cut;

static int parted_open(struct loco_manager *m, void *object)
{
    is_held = is_cut = false;
    return loco_ticket_lock_init(object, m, NULL, "lock", THIRD, LOCO_ALL, LOCO_HANDOVER_STRICT);
}

static void parted_close(void *object)
{
    loco_ticket_lock_fini(object);
}

static void hold_while_cut(struct loco_sim_actor *a)
{
    LOCO_SIM_EXPECT(a, loco_ticket_lock_acquire(a->object) == 0);
    is_held = true;
    loco_sim_cut(a->mgr->fabric, CUT_OFF, HOLDER);
    is_cut = true;
    struct loco_wait wait = loco_wait_for(a->mgr, HOLDS_NS);
    while (!loco_relax(a->mgr, &wait))
        ;
    is_held = false;
    LOCO_SIM_EXPECT(a, loco_ticket_lock_release(a->object, LOCO_FENCE_NONE) == 0);
}

static void parted_act(struct loco_sim_actor *a)
{
    if (a->node == HOLDER) {
        hold_while_cut(a);
        return;
    }
    while (!is_cut)
        loco_sim_actor_dawdle(a, 100);
    LOCO_SIM_EXPECT(a, loco_ticket_lock_acquire(a->object) == 0 && !is_held);
    LOCO_SIM_EXPECT(a, loco_ticket_lock_release(a->object, LOCO_FENCE_NONE) == 0);
}

const struct loco_sim_workload workload_lock_parted = {
    .name = "ticket_lock_parted",
    .nodes = 3,
    .threads = 1,
    .model = word_model,
    .object_size = sizeof(struct loco_ticket_lock),
    .open = parted_open,
    .close = parted_close,
    .act = parted_act,
    .parts = true,
};
