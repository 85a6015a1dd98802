/*
 * A workload of an owned_var: several threads at once pull it, while its owner pushes it or only
 * stores. The variable accepts either pushes or pulls, and refuses the other to all nodes alike.
 * Loads never go back, are never torn for good, and give the last value when all is quiet.
 */
#include <errno.h>

#include "tests/sim/workloads.h"

enum { WORDS_MAX = 6, VALUES = 10, OWNER = 0 };

struct mixed {
    struct loco_owned_var var;
    struct loco_owned_var granted; /* from the owner: number of accepted pushes */
    struct loco_barrier quiet;
    uint64_t newest; /* newest value loaded here */
    unsigned pulled; /* number of accepted pulls here */
    unsigned acted;  /* threads of this node that have acted */
};

static int mixed_open(struct loco_manager *m, struct mixed *x, size_t size)
{
    int rc = loco_owned_var_init(&x->var, m, NULL, "var", OWNER, LOCO_ALL, size);

    if (!rc)
        rc = loco_owned_var_init(&x->granted, m, NULL, "granted", OWNER, LOCO_ALL, 8);
    return rc ? rc : loco_barrier_init(&x->quiet, m, NULL, "quiet", LOCO_ALL);
}

static int word_open(struct loco_manager *m, void *object)
{
    return mixed_open(m, object, sizeof(uint64_t));
}

static int long_open(struct loco_manager *m, void *object)
{
    return mixed_open(m, object, WORDS_MAX * sizeof(uint64_t));
}

static void mixed_close(void *object)
{
    struct mixed *x = object;

    loco_owned_var_fini(&x->var);
    loco_owned_var_fini(&x->granted);
    loco_barrier_fini(&x->quiet);
}

/* Returns whether the push was accepted. */
static bool push_value(struct loco_sim_actor *a)
{
    struct mixed *x = a->object;
    struct loco_ack ack = loco_owned_var_push(&x->var);
    int rc = loco_ack_wait(&ack, UINT64_MAX);

    LOCO_SIM_EXPECT(a, rc == 0 || rc == -EOPNOTSUPP);
    LOCO_SIM_EXPECT(a, loco_fence_thread(a->mgr) == 0);
    return rc == 0;
}

/* Rests for about as long as some pulls take. */
static void rest(struct loco_sim_actor *a)
{
    struct loco_wait wait = loco_wait_for(a->mgr, loco_sim_actor_draw(a, 1000));

    while (!loco_relax(a->mgr, &wait))
        ;
}

static void write_values(struct loco_sim_actor *a)
{
    struct mixed *x = a->object;
    const bool pushes = loco_sim_actor_draw(a, 2);
    uint64_t words[WORDS_MAX], granted = 0;

    for (uint64_t value = 1; value <= VALUES; value++) {
        for (int w = 0; w < WORDS_MAX; w++)
            words[w] = value;
        loco_owned_var_store(&x->var, words);
        if (pushes)
            granted += push_value(a);
        else
            rest(a);
    }
    LOCO_SIM_EXPECT(a, granted == 0 || granted == VALUES); /* a refused side stays refused */
    loco_owned_var_store(&x->granted, &granted);
}

/* Returns the value, or 0 when it is torn. */
static uint64_t load_value(struct loco_sim_actor *a)
{
    struct mixed *x = a->object;
    uint64_t words[WORDS_MAX], before = x->newest;

    if (loco_owned_var_load(&x->var, words))
        return 0;
    for (size_t w = 1; w < x->var.size / 8; w++)
        LOCO_SIM_EXPECT(a, words[w] == words[0]);
    LOCO_SIM_EXPECT(a, words[0] >= before);
    x->newest = words[0] > x->newest ? words[0] : x->newest;
    return words[0];
}

static void pull_value(struct loco_sim_actor *a)
{
    struct mixed *x = a->object;
    struct loco_ack ack = loco_owned_var_pull(&x->var);

    if (loco_sim_actor_draw(a, 2)) /* another pull before this one has arrived */
        ack = loco_ack_union(ack, loco_owned_var_pull(&x->var));
    int rc = loco_ack_wait(&ack, UINT64_MAX);
    LOCO_SIM_EXPECT(a, rc == 0 || rc == -EOPNOTSUPP);
    x->pulled += rc == 0;
}

static void read_values(struct loco_sim_actor *a)
{
    for (int i = 0; i < 20; i++) {
        struct loco_wait wait = loco_wait_for(a->mgr, 5);
        if (loco_sim_actor_draw(a, 3) == 0)
            pull_value(a);
        load_value(a);
        loco_relax(a->mgr, &wait);
    }
}

/* All is quiet now: pushed values are placed, and no pull is in flight. */
static void check_values(struct loco_sim_actor *a)
{
    struct mixed *x = a->object;
    uint64_t granted, words[WORDS_MAX], loaded = load_value(a);

    LOCO_SIM_EXPECT(a, loco_owned_var_read(&x->granted, &granted) == 0);
    LOCO_SIM_EXPECT(a, loco_owned_var_read(&x->var, words) == 0 && words[0] == VALUES);
    LOCO_SIM_EXPECT(a, granted == 0 || x->pulled == 0);
    LOCO_SIM_EXPECT(a, granted == 0 || loaded == VALUES);
    struct loco_ack ack = loco_owned_var_pull(&x->var);
    LOCO_SIM_EXPECT(a, loco_ack_wait(&ack, UINT64_MAX) == (granted ? -EOPNOTSUPP : 0));
    LOCO_SIM_EXPECT(a, load_value(a) == VALUES);
}

static void mixed_act(struct loco_sim_actor *a)
{
    struct mixed *x = a->object;
    const bool first = a->index % 2 == 0;
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    if (a->node != OWNER)
        read_values(a);
    else if (first)
        write_values(a);
    x->acted++;
    if (!first)
        return;
    while (x->acted < 2)
        loco_relax(a->mgr, &wait);
    LOCO_SIM_EXPECT(a, loco_barrier_wait(&x->quiet) == 0);
    if (a->node != OWNER)
        check_values(a);
}

static struct loco_sim_model no_model(void)
{
    return loco_sim_model_word(0);
}

const struct loco_sim_workload owned_var_mixed = {
    .name = "owned_var_mixed",
    .nodes = 3,
    .threads = 2,
    .model = no_model,
    .object_size = sizeof(struct mixed),
    .open = long_open,
    .close = mixed_close,
    .act = mixed_act,
};

const struct loco_sim_workload owned_var_mixed_word = {
    .name = "owned_var_mixed_word",
    .nodes = 3,
    .threads = 2,
    .model = no_model,
    .object_size = sizeof(struct mixed),
    .open = word_open,
    .close = mixed_close,
    .act = mixed_act,
};
