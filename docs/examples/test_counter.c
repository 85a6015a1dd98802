/*
 * Runs the counter on the simulator under full chaos, and asks of each history whether the
 * counter was linearizable in it.
 *
 *      test_counter --seeds 2000
 */
#include "counter.h"

#include <loco-sim/command.h>

/* What a single thread would see: an add has no result, and a sum gives all that was added. */
static bool counter_step(const struct loco_sim_model *model, struct loco_sim_model_state *state,
                         const struct loco_sim_history_op *op)
{
    (void)model;
    if (op->code == LOCO_SIM_LOAD)
        return loco_sim_history_pending(op) || op->value == state->word[0];
    state->word[0] += op->a;
    return op->code == LOCO_SIM_FETCH_ADD;
}

static struct loco_sim_model counter_model(void)
{
    return (struct loco_sim_model){
        .name = "counter", .initial = {.count = 1}, .step = counter_step};
}

static int counter_open(struct loco_manager *mgr, void *object)
{
    return counter_init(object, mgr, NULL, "counter", LOCO_ALL);
}

static void counter_close(void *object)
{
    counter_fini(object);
}

/* Each node adds to two digits of its own, so that a sum shows whose adds it contains. */
static void add(struct loco_sim_actor *a)
{
    static const uint64_t amounts[] = {1, 100, 10000};
    uint64_t amount = amounts[a->node];
    int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_FETCH_ADD, 0, amount, 0);

    counter_add(a->object, amount);
    loco_sim_history_return(a->history, op, true, 0);
}

static void sum(struct loco_sim_actor *a)
{
    uint64_t value;
    int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_LOAD, 0, 0, 0);

    LOCO_SIM_EXPECT(a, counter_sum(a->object, &value) == 0);
    loco_sim_history_return(a->history, op, true, value);
}

/* A history of few operations is easy to understand when it fails; the number of seeds makes up for
 * their small number. An add never waits, so the relax lets the others run in between. */
static void act(struct loco_sim_actor *a)
{
    for (int i = 0; i < 3; i++) {
        struct loco_wait wait = loco_wait_for(a->mgr, 5);
        if (loco_sim_actor_draw(a, 2))
            add(a);
        else
            sum(a);
        loco_relax(a->mgr, &wait);
    }
}

static const struct loco_sim_workload workload = {
    .name = "counter",
    .nodes = 3,
    .threads = 1,
    .model = counter_model,
    .object_size = sizeof(struct counter),
    .open = counter_open,
    .close = counter_close,
    .act = act,
};

int main(int argc, char **argv)
{
    static const struct loco_sim_workload *const workloads[] = {&workload, NULL};

    return loco_sim_main(argc, argv, workloads);
}
