/* Workloads of channels that take a restarted member back: the last node crashes during whatever it
 * does, and repeats its work in its next life. */
#include <errno.h>

#include "tests/sim/workloads.h"

enum { NODES = 3, FIRST = 0, LAST = NODES - 1, CRASHES = 2 };

static struct loco_sim_model word_model(void)
{
    return loco_sim_model_word(0);
}

/* --- owned_var: values are whole, and none of an earlier life comes after one of a later ------ */

enum { WORDS = 12 }; /* more than a post reads inline */

struct wide {
    uint64_t words[WORDS];
};

static int owned_by_first(struct loco_manager *m, void *object)
{
    return loco_owned_var_init(object, m, NULL, "var", FIRST, LOCO_ALL, sizeof(struct wide));
}

static int owned_by_last(struct loco_manager *m, void *object)
{
    return loco_owned_var_init(object, m, NULL, "var", LAST, LOCO_ALL, sizeof(struct wide));
}

static void var_close(void *object)
{
    loco_owned_var_fini(object);
}

static void write_values(struct loco_sim_actor *a)
{
    struct wide wide;

    for (uint64_t i = 1; i <= 30 && !*a->crashed; i++) {
        for (int w = 0; w < WORDS; w++)
            wide.words[w] = 100 * a->life + i;
        loco_owned_var_store(a->object, &wide);
        struct loco_ack ack = loco_owned_var_push(a->object);
        int rc = loco_ack_wait(&ack, UINT64_MAX);
        LOCO_SIM_EXPECT(a, *a->crashed || rc == 0 || rc == -ECONNRESET); /* a reader may be away */
        if (rc)
            loco_fence_thread(a->mgr); /* waits for copies still in flight to other readers */
    }
}

/* Reads the owner's memory and waits for that late. The read gives the current value, or an error
 * if it did not get through, even when the owner is back by then. */
static void read_owner(struct loco_sim_actor *a)
{
    struct loco_owned_var *v = a->object;
    struct loco_wait later = loco_wait_for(a->mgr, loco_sim_actor_draw(a, 3000));
    uint64_t *block = loco_mem_ref_take(a->mgr);

    *block = UINT64_MAX;
    struct loco_ack ack = loco_region_read(v->region, 0, 0, block, sizeof *block);
    while (!loco_relax(a->mgr, &later))
        ;
    int rc = loco_ack_wait(&ack, UINT64_MAX);
    LOCO_SIM_EXPECT(a, *a->crashed || rc == -ECONNRESET || (rc == 0 && *block != UINT64_MAX));
    loco_mem_ref_put(a->mgr, block);
}

/* A value that the owner's death left half-written must be zero again. */
static void read_values(struct loco_sim_actor *a)
{
    struct wide wide;
    uint64_t last = 0;

    for (int i = 0; i < 60 && !*a->crashed; i++) {
        struct loco_wait wait = loco_wait_for(a->mgr, 5);
        if (loco_owned_var_load(a->object, &wide) == 0 && wide.words[0] != 0) {
            for (int w = 1; w < WORDS; w++)
                LOCO_SIM_EXPECT(a, wide.words[w] == wide.words[0]);
            LOCO_SIM_EXPECT(a, wide.words[0] >= last);
            last = wide.words[0];
        }
        loco_relax(a->mgr, &wait);
        if (i % 10 == 0)
            read_owner(a);
    }
}

static void var_act(struct loco_sim_actor *a)
{
    if (a->node == ((const struct loco_owned_var *)a->object)->owner)
        write_values(a);
    else
        read_values(a);
}

const struct loco_sim_workload restarted_reader = {
    .name = "restarted_reader",
    .nodes = NODES,
    .threads = 1,
    .model = word_model,
    .object_size = sizeof(struct loco_owned_var),
    .open = owned_by_first,
    .close = var_close,
    .act = var_act,
    .crashes = CRASHES,
};

const struct loco_sim_workload restarted_owner = {
    .name = "restarted_owner",
    .nodes = NODES,
    .threads = 1,
    .model = word_model,
    .object_size = sizeof(struct loco_owned_var),
    .open = owned_by_last,
    .close = var_close,
    .act = var_act,
    .crashes = CRASHES,
};

/* --- atomic_var: what a client was doing when it died took effect once, or never -------------- */

static int word_open(struct loco_manager *m, void *object)
{
    return loco_atomic_var_init(object, m, NULL, "word", FIRST, LOCO_ALL, 0);
}

static void word_close(void *object)
{
    loco_atomic_var_fini(object);
}

static void word_act(struct loco_sim_actor *a)
{
    const struct loco_atomic_word word = loco_atomic_of(a->object);

    for (int i = 0; i < 10 && !*a->crashed; i++) {
        enum loco_sim_history_code code = (enum loco_sim_history_code[]){
            LOCO_SIM_LOAD, LOCO_SIM_FETCH_ADD, LOCO_SIM_CAS}[loco_sim_actor_draw(a, 3)];
        uint64_t x = loco_sim_actor_draw(a, 4), y = loco_sim_actor_draw(a, 4), old = 0;
        int op = loco_sim_history_invoke(a->history, a->index, code, 0, x, y);
        int rc = code == LOCO_SIM_LOAD        ? loco_atomic_load(word, &old)
                 : code == LOCO_SIM_FETCH_ADD ? loco_atomic_fetch_add(word, x, &old)
                                              : loco_atomic_compare_swap(word, x, y, &old);
        if (*a->crashed)
            return; /* it stays pending */
        LOCO_SIM_EXPECT(a, rc == 0);
        loco_sim_history_return(a->history, op, true, old);
    }
}

const struct loco_sim_workload restarted_client = {
    .name = "restarted_client",
    .nodes = NODES,
    .threads = 1,
    .model = word_model,
    .object_size = sizeof(struct loco_atomic_var),
    .open = word_open,
    .close = word_close,
    .act = word_act,
    .crashes = CRASHES,
};
