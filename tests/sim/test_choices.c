/*
 * Tests what chooses in the simulator besides the seed: a run is recorded, replayed and shrunk;
 * depth first and PCT find a bug of depth two; and a run that does not end says who waits for what.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <string.h>

#include "channels/loco-sim/explore.h"
#include "tests/sim/workloads.h"

static struct loco_sim_model word_model(void)
{
    return loco_sim_model_word(0);
}

static int region_open(struct loco_manager *m, void *object)
{
    return loco_shared_region_init(object, m, NULL, "region", LOCO_ALL, 64);
}

static void region_close(void *object)
{
    loco_shared_region_fini(object);
}

static uint64_t word(struct loco_sim_actor *a, size_t i)
{
    const uint64_t *local = loco_shared_region_local(a->object);

    return __atomic_load_n(&local[i], __ATOMIC_ACQUIRE);
}

static void put(struct loco_sim_actor *a, uint32_t node, size_t i, uint64_t value)
{
    LOCO_SIM_EXPECT(a, !loco_shared_region_write(a->object, node, 8 * i, &value, 8).error);
}

static uint64_t get(struct loco_sim_actor *a, uint32_t node, size_t i)
{
    uint64_t *block = loco_mem_ref_take(a->mgr);
    struct loco_ack ack = loco_shared_region_read(a->object, node, 8 * i, block, 8);

    LOCO_SIM_EXPECT(a, loco_ack_wait(&ack, UINT64_MAX) == 0);
    const uint64_t value = *block;
    loco_mem_ref_put(a->mgr, block);
    return value;
}

#define REGION_WORKLOAD(called, of_nodes, acts)                                                    \
    (struct loco_sim_workload)                                                                     \
    {                                                                                              \
        .name = called, .nodes = of_nodes, .threads = 1, .model = word_model,                      \
        .object_size = sizeof(struct loco_shared_region), .open = region_open,                     \
        .close = region_close, .act = acts                                                         \
    }

/* --- a bug of depth two ------------------------------------------------------------------------
 */

/* Node 0 writes a word at node 1, reads from node 2 for a while, and writes a word there, which
 * node 2 passes on to node 1. The bug: nothing waits until the first word is placed. So it shows if
 * that word comes after all the others. */
enum { FIRST = 0, SECOND = 1, OTHER = 2, MANY = 30 };

static void relay_act(struct loco_sim_actor *a)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    if (a->node == 0) {
        put(a, 1, FIRST, 1);
        for (unsigned i = 0; i < MANY; i++)
            get(a, 2, OTHER);
        put(a, 2, SECOND, 1);
        return;
    }
    while (!word(a, SECOND))
        loco_relax(a->mgr, &wait);
    if (a->node == 2) {
        put(a, 1, SECOND, 1);
        return;
    }
    LOCO_SIM_EXPECT(a, word(a, FIRST) == 1);
}

static const struct loco_sim_workload relay = REGION_WORKLOAD("relay", 3, relay_act);
static const struct loco_sim_case relay_case = {&relay, 1, LOCO_SIM_DEFERRED};

enum { RANDOM_SEEDS = 300, PCT_SEEDS = 300 };

Test(choices, a_bug_of_depth_two_is_not_found_by_few_seeds)
{
    cr_redirect_stderr();
    cr_assert_eq(loco_sim_workload_run_seeds(&relay, 1, RANDOM_SEEDS, LOCO_SIM_DEFERRED, false),
                 RANDOM_SEEDS);
}

Test(choices, pct_finds_it)
{
    struct loco_sim_answers answers = {0};
    struct loco_sim_size size = {0};
    int rc = 0;

    cr_redirect_stderr();
    for (uint64_t seed = 1; !rc && seed <= PCT_SEEDS; seed++)
        rc = loco_sim_pct(&(struct loco_sim_case){&relay, seed, LOCO_SIM_DEFERRED}, 2, &size,
                          &answers);
    cr_assert_eq(rc, 1);
    loco_sim_answers_free(&answers);
}

Test(choices, depth_first_finds_it_and_it_is_shrunk_and_replayed)
{
    struct loco_sim_answers answers, read;
    char text[256] = "";
    uint64_t runs;

    cr_redirect_stderr();
    cr_assert_eq(loco_sim_depth_first(&relay_case, (struct loco_sim_budget){0, 0}, &answers, &runs),
                 0);
    cr_assert_eq(runs, 1);
    cr_assert_eq(loco_sim_depth_first(&relay_case, (struct loco_sim_budget){0, 1}, &answers, &runs),
                 1);
    cr_assert_eq(loco_sim_shrink(&relay_case, &answers), 1);
    cr_assert_eq(answers.count, 1);

    FILE *file = fmemopen(text, sizeof text, "w");
    loco_sim_answers_print(&answers, file);
    fclose(file);
    cr_assert_eq(loco_sim_answers_read(&read, text), 0, "%s", text);
    cr_assert_eq(read.count, 1);
    cr_assert_eq(loco_sim_replay(&relay_case, &read, false), 1, "%s", text);
    loco_sim_answers_free(&read);
    loco_sim_answers_free(&answers);
}

/* --- depth first makes each run once -----------------------------------------------------------
 */

Test(choices, small_workloads_pass_every_run_with_two_deviations)
{
    static const struct loco_sim_budget budgets[] = {{2, 0}, {1, 1}, {0, 2}};
    const struct loco_sim_case small = {&small_put, 1, LOCO_SIM_DEFERRED};
    struct loco_sim_answers answers;
    uint64_t runs;

    for (int i = 0; i < 3; i++) {
        cr_assert_eq(loco_sim_depth_first(&small, budgets[i], &answers, &runs), 0);
        cr_assert_eq(answers.count, 0);
        cr_assert_gt(runs, 5);
        loco_sim_answers_free(&answers);
    }
}

/* --- a run of a seed is recorded and shrunk -----------------------------------------------------
 */

/* Both nodes add 1 to a word at node 2, without a lock. */
static void add_act(struct loco_sim_actor *a)
{
    struct loco_wait wait = loco_wait_for(a->mgr, 5);

    if (a->node == 2)
        return;
    int op = loco_sim_history_invoke(a->history, a->index, LOCO_SIM_FETCH_ADD, 0, 1, 0);
    const uint64_t old = get(a, 2, FIRST);
    put(a, 2, FIRST, old + 1);
    LOCO_SIM_EXPECT(a, loco_fence_pair(a->mgr, 2) == 0);
    loco_sim_history_return(a->history, op, true, old);
    loco_relax(a->mgr, &wait);
}

static const struct loco_sim_workload adds = REGION_WORKLOAD("adds", 3, add_act);

static uint64_t seed_that_fails(const struct loco_sim_workload *w)
{
    uint64_t seed = 1;

    while (loco_sim_workload_run(w, seed, LOCO_SIM_DEFERRED, false) == 0)
        seed++;
    return seed;
}

Test(choices, a_seed_that_fails_is_recorded_and_shrunk_to_a_few_answers)
{
    const struct loco_sim_case c = {&adds, seed_that_fails(&adds), LOCO_SIM_DEFERRED};
    struct loco_sim_answers answers = {0};

    cr_assert_eq(loco_sim_record(&c, &answers), 1);
    cr_assert(answers.drawn);
    cr_assert_eq(loco_sim_replay(&c, &answers, false), 1);
    cr_assert_gt(answers.count, 100);
    cr_assert_eq(loco_sim_shrink(&c, &answers), 1);
    cr_assert_eq(loco_sim_replay(&c, &answers, false), 1);
    cr_assert_leq(answers.count, 2);
    loco_sim_answers_free(&answers);
}

Test(choices, a_recorded_run_is_the_run_of_the_seed)
{
    struct loco_sim_answers answers = {0};

    for (uint64_t seed = 1; seed <= 40; seed++) {
        const struct loco_sim_case c = {&adds, seed, LOCO_SIM_DEFERRED};
        const int rc = loco_sim_workload_run(&adds, seed, LOCO_SIM_DEFERRED, false);
        cr_assert_eq(loco_sim_record(&c, &answers), rc);
        cr_assert_eq(loco_sim_replay(&c, &answers, false), rc);
    }
    loco_sim_answers_free(&answers);
}

/* --- a run that does not end --------------------------------------------------------------------
 */

/* Node 1 waits for a word that nobody writes. */
static void waiting_act(struct loco_sim_actor *a)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    if (a->node == 0)
        return;
    loco_sim_history_invoke(a->history, a->index, LOCO_SIM_LOAD, 0, 0, 0);
    while (!word(a, FIRST))
        loco_relax(a->mgr, &wait);
}

/* Both nodes write to each other for ever. */
static void chattering_act(struct loco_sim_actor *a)
{
    struct loco_wait wait = loco_wait_for(a->mgr, UINT64_MAX);

    loco_sim_history_invoke(a->history, a->index, LOCO_SIM_STORE, 0, 7, 0);
    for (uint64_t i = 0; !word(a, FIRST); i++) {
        put(a, 1 - a->node, SECOND, i);
        loco_relax(a->mgr, &wait);
    }
}

static void expect_said(const struct loco_sim_workload *w, const char *const *texts)
{
    static char said[16384];
    size_t size = 0, got;

    cr_redirect_stderr();
    cr_assert_eq(loco_sim_workload_run(w, 1, LOCO_SIM_DEFERRED, true), 1);
    fflush(stderr);
    FILE *file = cr_get_redirected_stderr();
    while ((got = fread(said + size, 1, sizeof said - 1 - size, file)) > 0)
        size += got;
    said[size] = 0;
    for (; *texts; texts++)
        cr_assert(strstr(said, *texts), "there is no '%s' in:\n%s", *texts, said);
}

Test(choices, a_hang_names_who_waits)
{
    const struct loco_sim_workload waits = REGION_WORKLOAD("waits", 2, waiting_act);
    static const char *const texts[] = {"all threads wait for ever", "of node 1 waits without end",
                                        "looks at byte", "load()  pending", NULL};

    expect_said(&waits, texts);
}

Test(choices, a_run_without_end_names_who_goes_on)
{
    const struct loco_sim_workload chatters = REGION_WORKLOAD("chatters", 2, chattering_act);
    static const char *const texts[] = {"no end in sight", " waits for room in its send queue",
                                        " more after it on its link", "store(7)  pending", NULL};

    expect_said(&chatters, texts);
}

/* Whatever can be held up is; the end of a run is fair all the same. */
static uint64_t hold_up(struct loco_sim_chooser *chooser, enum loco_choice what, uint64_t bound,
                        uint64_t usual, uint64_t drawn)
{
    const bool holds =
        what == LOCO_CHOICE_SWITCH || what == LOCO_CHOICE_DELAY || what == LOCO_CHOICE_RANK;

    (void)chooser;
    (void)drawn;
    return holds ? bound - 1 : usual;
}

Test(choices, a_run_that_is_held_up_ends_all_the_same)
{
    struct loco_sim_director director = {.chooser.choose = hold_up};

    cr_assert_eq(loco_sim_workload_run_by(&small_kvstore, 1, LOCO_SIM_DEFERRED, true, &director),
                 0);
}
