/*
 * The workloads of tests/sim with real threads, on real memory: each node a process, the history in
 * memory that they share. Its order of events is that of a lock, taken before an operation begins
 * and after it ended: so an operation that came before another in time does so in the history.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/nodes.h"
#include "tests/sim/workloads.h"

enum { OPS_MAX = 512, THREADS_MAX = 4 };

/* What the processes of one run share. */
struct stage {
    const struct loco_sim_workload *workload;
    uint64_t seed;
    struct loco_sim_history history;
    pthread_mutex_t lock;
    _Atomic uint32_t acting;
    struct loco_sim_history_op op[OPS_MAX];
    uint32_t event[2 * OPS_MAX];
};

static struct stage *open_stage(const struct loco_sim_workload *w, uint64_t seed)
{
    struct stage *s =
        mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t shared;

    cr_assert(s != MAP_FAILED);
    pthread_mutexattr_init(&shared);
    pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&s->lock, &shared);
    pthread_mutexattr_destroy(&shared);
    s->workload = w;
    s->seed = seed;
    s->acting = w->nodes * w->threads;
    s->history = (struct loco_sim_history){
        .op = s->op, .event = s->event, .ops_max = OPS_MAX, .lock = &s->lock};
    return s;
}

static void close_stage(struct stage *s)
{
    pthread_mutex_destroy(&s->lock);
    munmap(s, sizeof *s);
}

/* --- a node ----------------------------------------------------------------------------- */

struct part {
    struct loco_sim_actor actor;
    const struct loco_sim_workload *workload;
    pthread_t thread;
    int failures;
};

static struct part make_part(struct node *n, void *object, uint32_t thread)
{
    static const bool crashed = false;
    struct stage *s = n->arg;
    uint32_t index = n->id * s->workload->threads + thread;

    return (struct part){.workload = s->workload,
                         .actor = {.mgr = n->mgr,
                                   .history = &s->history,
                                   .object = object,
                                   .node = n->id,
                                   .index = index,
                                   .random = (s->seed + 1) * 0x9e3779b97f4a7c15u + index + 1,
                                   .acting = &s->acting,
                                   .crashed = &crashed}};
}

static void *further_thread(void *arg)
{
    struct part *p = arg;

    LOCO_SIM_EXPECT(&p->actor, loco_thread_attach(p->actor.mgr) == 0);
    p->workload->act(&p->actor);
    loco_thread_detach(p->actor.mgr);
    return NULL;
}

static void act_all(struct node *n, void *object)
{
    const struct stage *s = n->arg;
    const uint32_t count = s->workload->threads;
    struct part parts[THREADS_MAX];

    for (uint32_t t = 0; t < count; t++) {
        parts[t] = make_part(n, object, t);
        parts[t].actor.failures = &parts[t].failures;
        if (t > 0)
            pthread_create(&parts[t].thread, NULL, further_thread, &parts[t]);
    }
    s->workload->act(&parts[0].actor);
    for (uint32_t t = 1; t < count; t++)
        pthread_join(parts[t].thread, NULL);
    for (uint32_t t = 0; t < count; t++)
        n->failures += parts[t].failures;
}

static void node_body(struct node *n)
{
    const struct loco_sim_workload *w = ((const struct stage *)n->arg)->workload;
    void *object = calloc(1, w->object_size);
    struct loco_barrier together;

    CHECK(n, w->open(n->mgr, object) == 0);
    CHECK(n, loco_barrier_init(&together, n->mgr, NULL, "together", LOCO_ALL) == 0);
    CHECK(n, loco_manager_ready(n->mgr, TEST_TIMEOUT) == 0);
    if (n->failures == 0) {
        CHECK(n, loco_barrier_wait(&together) == 0);
        act_all(n, object);
        CHECK(n, loco_barrier_wait(&together) == 0);
    }
    w->close(object);
    loco_barrier_fini(&together);
    free(object);
}

/* --- the verdict ------------------------------------------------------------------------ */

static bool explained(const struct stage *s)
{
    const struct loco_sim_model model = s->workload->model();
    struct loco_sim_linear_report report;
    struct loco_sim_linear *linear;

    cr_assert(loco_sim_linear_open(&linear, OPS_MAX, LOCO_SIM_CONFIGS) == 0);
    bool good =
        loco_sim_linear_check(linear, &s->history, &model, &report) == LOCO_SIM_LINEARIZABLE;
    if (!good)
        loco_sim_linear_print(stderr, &s->history, &report);
    loco_sim_linear_close(linear);
    return good;
}

static bool run(const struct loco_sim_workload *w, uint64_t seed, enum where where)
{
    struct stage *s = open_stage(w, seed);
    int failures = run_nodes(where, w->nodes, node_body, s);
    bool good = failures == 0 && explained(s);

    close_stage(s);
    test_moved();
    printf("    %s: workload %s, completions %s\n", good ? "explained" : "FAILED", w->name,
           where == ON_PROCESSES ? "inline" : "polled");
    return good;
}

/* Only there a node can be made to die, or a connection to break, within an operation. */
static bool needs_the_simulator(const struct loco_sim_workload *w)
{
    return w->crashes || w->dies || w->parts;
}

/* In turn, completions are looked for inline, and by a polling thread. */
Test(histories, are_explained)
{
    const enum where where[] = {ON_PROCESSES, ON_POLLED_PROCESSES};
    const uint64_t rounds = effort(2, 1);

    for (size_t i = 0; workloads[i]; i++)
        for (uint64_t seed = 0; seed < rounds && !needs_the_simulator(workloads[i]); seed++)
            cr_expect(run(workloads[i], seed, where[(i + seed) % 2]), "%s", workloads[i]->name);
}
