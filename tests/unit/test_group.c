/*
 * Tests the common start of a run's nodes, with a common clock and without.
 */
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/run/group.h"
#include "test_scenario.h"
#include "tests/temporary.h"

static const uint64_t TIMEOUT_NS = 20000000000;

/* How far the converters' clock is ahead of the controller's, if there are two clocks. */
static const uint64_t AHEAD_NS = 1000000000000;

/* One process's part of the run; here it is a thread. */
struct part {
    const struct hil_run *run;
    const char *directory;
    struct hil_executor_config nodes;
    bool shared_clock;
    int result;
    uint64_t start_ns; /* on the part's own clock */
};

static uint64_t (*true_clock)(struct loco_node *node);

static uint64_t clock_of_its_own(struct loco_node *node)
{
    return true_clock(node) + (node->id == 0 ? 0 : AHEAD_NS);
}

static void *run_part(void *arg)
{
    struct part *p = arg;
    struct loco_fabric *fabric;
    struct hil_group group = {0};

    p->result = loco_shm_open(&fabric, p->directory);
    if (p->result)
        return NULL;
    struct loco_fabric_ops skewed = *fabric->ops;
    if (!p->shared_clock) {
        skewed.clock = clock_of_its_own;
        fabric->ops = &skewed;
        fabric->capabilities &= ~(unsigned)LOCO_SHARED_CLOCK;
    }
    p->result = hil_group_start(&group, p->run, fabric, &p->nodes, TIMEOUT_NS);
    for (unsigned i = 0; !p->result && i < group.count; i++)
        if (group.nodes[i]->start_ns != group.nodes[0]->start_ns)
            p->result = -EPROTO;
    p->start_ns = p->result ? 0 : group.nodes[0]->start_ns;
    hil_group_end(&group, HIL_DONE);
    hil_group_close(&group);
    loco_shm_close(fabric);
    return NULL;
}

/* Starts a controller and three converters. Returns the starts of the two parts, each by its own
 * clock. */
static void start_both(bool shared_clock, uint64_t starts[2])
{
    char directory[TEMPORARY_SIZE];
    struct hil_scenario *s = load(SMALL, NULL);
    struct hil_run runs[] = {{.scenario = s, .executor = 0}, {.scenario = s, .executor = 1}};
    pthread_t threads[2];

    cr_assert_not_null(temporary_folder(directory));
    cr_assert_eq(hil_state_open(&runs[0].state, s), 0);
    runs[1].state = runs[0].state;
    struct part parts[] = {
        {&runs[0], directory, s->executors[0], shared_clock, 0, 0},
        {&runs[1], directory, s->executors[1], shared_clock, 0, 0},
    };
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run_part, &parts[i]);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        cr_expect_eq(parts[i].result, 0, "part %d: %s", i, strerror(-parts[i].result));
        starts[i] = parts[i].start_ns;
    }
    hil_state_close(runs[0].state);
    hil_scenario_free(s);
}

static void remember_clock(void)
{
    struct loco_fabric *fabric;
    char directory[TEMPORARY_SIZE];

    cr_assert_not_null(temporary_folder(directory));
    cr_assert_eq(loco_shm_open(&fabric, directory), 0);
    true_clock = fabric->ops->clock;
    loco_shm_close(fabric);
    rmdir(directory);
}

Test(group, with_a_clock_in_common_all_start_at_one_time)
{
    uint64_t starts[2];

    start_both(true, starts);
    cr_expect_eq(starts[0], starts[1]);
}

/* It does not start at the time of the controller's clock. */
Test(group, without_one_each_starts_on_its_own_clock)
{
    uint64_t starts[2];

    remember_clock();
    start_both(false, starts);
    uint64_t converters = starts[1] - AHEAD_NS;
    uint64_t apart = converters > starts[0] ? converters - starts[0] : starts[0] - converters;
    cr_expect_lt(apart, TIMEOUT_NS, "%.3f s apart", (double)apart * 1e-9);
}
