#include "workload.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t SETUP_NS = 1000000000000;

struct node {
    struct stage *stage;
    struct loco_manager *mgr;
    void *object;
    uint32_t id, acting; /* actors that have not ended */
    bool polling, stop_polling;
    bool crashed;
    unsigned lives; /* ended by a crash */
};

/* An actor and where it acts. */
struct part {
    struct loco_sim_actor actor;
    struct node *node;
};

struct stage {
    const struct loco_sim_workload *workload;
    struct loco_fabric *sim;
    uint64_t seed;
    struct loco_sim_director *director; /* or NULL: the seed chooses */
    struct loco_sim_history history;
    _Atomic uint32_t acting;
    int failures;
    struct node nodes[LOCO_SIM_NODES_MAX];
    struct part parts[LOCO_SIM_ACTORS_MAX];
    uint32_t ready, ended; /* nodes */
    uint32_t idle;         /* nodes whose actors have ended */
};

uint64_t loco_sim_actor_draw(struct loco_sim_actor *a, uint64_t below)
{
    a->random ^= a->random << 13;
    a->random ^= a->random >> 7;
    a->random ^= a->random << 17;
    return a->random % below;
}

void loco_sim_actor_dawdle(struct loco_sim_actor *a, uint64_t most)
{
    struct loco_wait wait = loco_wait_for(a->mgr, loco_sim_actor_draw(a, most));

    while (!loco_relax(a->mgr, &wait))
        ;
}

static void actor_thread(void *arg)
{
    struct part *p = arg;

    LOCO_SIM_EXPECT(&p->actor, loco_thread_attach(p->actor.mgr) == 0);
    p->node->stage->workload->act(&p->actor);
    loco_thread_detach(p->actor.mgr);
    p->node->acting--;
}

static struct part *part_make(struct node *n, uint32_t thread)
{
    struct stage *s = n->stage;
    uint32_t index = n->id * s->workload->threads + thread;
    struct part *p = &s->parts[index];

    p->node = n;
    p->actor = (struct loco_sim_actor){
        .mgr = n->mgr,
        .history = &s->history,
        .object = n->object,
        .node = n->id,
        .index = index,
        .random = (s->seed + 1 + n->lives) * 0x9e3779b97f4a7c15u + index + 1,
        .acting = &s->acting,
        .failures = &s->failures,
        .crashed = &n->crashed,
        .life = n->lives,
    };
    return p;
}

/* With a director, what happens before all are ready is of no interest. */
static void node_wait_for_ready(struct node *n)
{
    struct loco_wait wait = loco_wait_for(n->mgr, UINT64_MAX);
    struct stage *s = n->stage;

    while (s->director->together && s->ready < s->workload->nodes)
        loco_relax(n->mgr, &wait);
    s->director->acting = s->idle < s->workload->nodes;
}

/* The node's first thread: it sets up, acts with the others, and waits for them. */
static void node_act(struct node *n)
{
    const struct loco_sim_workload *w = n->stage->workload;
    struct loco_wait wait = loco_wait_for(n->mgr, UINT64_MAX);
    struct part *own = part_make(n, 0);

    n->acting = w->threads - 1;
    for (uint32_t t = 1; t < w->threads; t++)
        LOCO_SIM_EXPECT(&own->actor,
                        loco_sim_spawn(n->stage->sim, actor_thread, part_make(n, t)) == 0);
    w->act(&own->actor);
    while (n->acting > 0)
        loco_relax(n->mgr, &wait);
}

/* The paper's polling thread. */
static void node_poll_completions(void *arg)
{
    struct node *n = arg;

    while (!n->stop_polling) {
        struct loco_wait wait = loco_wait_for(n->mgr, 20);
        loco_manager_poll(n->mgr);
        loco_relax(n->mgr, &wait);
    }
    n->polling = false;
}

static void node_stop_polling(struct node *n)
{
    struct loco_wait wait = loco_wait_for(n->mgr, UINT64_MAX);

    n->stop_polling = true;
    while (n->polling)
        loco_relax(n->mgr, &wait);
    n->mgr->config.completions = LOCO_INLINE; /* closing waits once more */
}

/* Lets the node die at a random time soon after all nodes are set up. Before that, the setup of the
 * others would fail. */
static void node_crasher(void *arg)
{
    struct node *n = arg;
    struct stage *s = n->stage;
    uint64_t random = s->seed * 7 + n->lives;
    uint64_t within_ns = s->workload->within_ns ? s->workload->within_ns : 3000;

    while (s->ready < s->workload->nodes)
        loco_sim_sleep(s->sim, loco_sim_now(s->sim) + 100, LOCO_SIM_FIRST);
    loco_sim_sleep(s->sim, loco_sim_now(s->sim) + random * 0x9e3779b97f4a7c15u % within_ns,
                   LOCO_SIM_FIRST);
    n->crashed = true;
    loco_sim_crash(s->sim, n->id);
}

/* A barrier would not survive a crash. So the nodes, which share a process, count themselves. */
static void node_wait_for_all(struct node *n)
{
    struct loco_wait wait = loco_wait_for(n->mgr, UINT64_MAX);

    n->stage->ended++;
    while (n->stage->ended < n->stage->workload->nodes)
        loco_relax(n->mgr, &wait);
}

/* Channels want whole cache lines. */
static void *node_object_new(size_t size)
{
    const size_t room = (size + LOCO_CACHE_LINE - 1) / LOCO_CACHE_LINE * LOCO_CACHE_LINE;
    void *object = aligned_alloc(LOCO_CACHE_LINE, room);

    return object ? memset(object, 0, room) : NULL;
}

/* Opens the node's endpoint. If that fails, so does the run, and nobody acts. */
static void node_open_object(struct node *n)
{
    const struct loco_sim_workload *w = n->stage->workload;

    n->object = node_object_new(w->object_size);
    int rc = n->object ? w->open(n->mgr, n->object) : -ENOMEM;
    if (!rc)
        return;
    fprintf(stderr, "workload %s: node %u cannot open: %s\n", w->name, n->id, strerror(-rc));
    n->stage->failures++;
    free(n->object);
    n->object = NULL;
}

static void node_close_object(struct node *n)
{
    if (!n->object)
        return;
    n->stage->workload->close(n->object);
    free(n->object);
}

/* A node from its opening to its end, or its crash. */
static void node_live(struct node *n)
{
    struct stage *s = n->stage;
    const struct loco_sim_workload *w = s->workload;
    bool crashes = n->id == w->nodes - 1 && (w->dies || n->lives < w->crashes);
    const bool anyone_crashes = w->dies || w->crashes;
    const struct loco_manager_config config = {
        .node = n->id,
        .node_count = w->nodes,
        .arena_size = 256 << 10,
        .block_size = 128,
        .block_count = 64,
        .completions = s->seed % 4 == 0 ? LOCO_POLLED : LOCO_INLINE,
    };
    struct loco_sim_actor self = {.failures = &s->failures};
    struct loco_wait dying = {.until = UINT64_MAX};
    struct loco_barrier end;

    LOCO_SIM_EXPECT(&self, loco_manager_open(&n->mgr, s->sim, &config) == 0);
    n->polling = config.completions == LOCO_POLLED;
    n->stop_polling = n->crashed = false;
    if (n->polling)
        LOCO_SIM_EXPECT(&self, loco_sim_spawn(s->sim, node_poll_completions, n) == 0);
    node_open_object(n);
    if (!anyone_crashes)
        LOCO_SIM_EXPECT(&self,
                        loco_barrier_init(&end, n->mgr, NULL, "workload-end", LOCO_ALL) == 0);
    LOCO_SIM_EXPECT(&self, loco_manager_ready(n->mgr, SETUP_NS) == 0);
    s->ready++;
    if (crashes)
        LOCO_SIM_EXPECT(&self, loco_sim_spawn(s->sim, node_crasher, n) == 0);
    if (s->director)
        node_wait_for_ready(n);
    if (s->failures == 0)
        node_act(n);
    if (++s->idle >= w->nodes && s->director)
        s->director->acting = false;
    while (crashes && !n->crashed)
        loco_relax(n->mgr, &dying);
    if (!anyone_crashes)
        loco_barrier_wait(&end);
    else if (!crashes)
        node_wait_for_all(n);
    node_close_object(n);
    if (!anyone_crashes)
        loco_barrier_fini(&end);
    node_stop_polling(n);
    loco_manager_close(n->mgr);
}

static void node_body(void *arg)
{
    struct node *n = arg;

    for (node_live(n); n->crashed && n->stage->failures == 0; node_live(n)) {
        if (n->stage->workload->dies) {
            n->stage->ended++;
            return;
        }
        n->lives++;
    }
}

static void stage_explain(const struct stage *s, struct loco_sim_linear *linear,
                          const struct loco_sim_model *model)
{
    struct loco_sim_history small;
    struct loco_sim_linear_report report;

    if (loco_sim_history_init(&small, LOCO_SIM_OPS_MAX) == 0) {
        bool shrunk = loco_sim_linear_shrink(linear, &s->history, model, &small) == 0;
        const struct loco_sim_history *shown = shrunk ? &small : &s->history;
        loco_sim_linear_check(linear, shown, model, &report);
        loco_sim_linear_print(stderr, shown, &report);
        loco_sim_history_fini(&small);
    }
}

/* Whether the model explains the history. */
static bool stage_check_history(const struct stage *s, bool loud)
{
    static struct loco_sim_linear *linear; /* its memory serves every seed */
    struct loco_sim_model model = s->workload->model();
    struct loco_sim_linear_report report;

    if (!linear && loco_sim_linear_open(&linear, LOCO_SIM_OPS_MAX, LOCO_SIM_CONFIGS))
        return false;
    if (loco_sim_linear_check(linear, &s->history, &model, &report) == LOCO_SIM_LINEARIZABLE)
        return true;
    if (loud && report.verdict == LOCO_SIM_NOT_LINEARIZABLE)
        stage_explain(s, linear, &model);
    else if (loud)
        fprintf(stderr, "the checker gave up: %s\n", report.why);
    return false;
}

/* Who waits for what: threads, then recorded operations. */
static void stage_explain_wait(const struct stage *s, int error)
{
    fprintf(stderr, "%s:\n", error == -EDEADLK ? "all threads wait for ever" : "no end in sight");
    loco_sim_explain(s->sim, stderr);
    for (uint32_t i = 0; i < s->history.ops; i++)
        if (loco_sim_history_pending(&s->history.op[i]))
            loco_sim_history_print_op(stderr, &s->history.op[i]);
}

static int stage_run(struct stage *s, enum loco_sim_chaos chaos, bool loud)
{
    const struct loco_sim_config config = {.seed = s->seed, .chaos = chaos, .steps_max = 2000000};
    const struct loco_sim_workload *w = s->workload;

    s->sim = loco_sim_open(&config);
    if (s->director) {
        s->director->sim = s->sim;
        s->director->history = &s->history;
        s->director->acting = false;
        loco_sim_choose_by(s->sim, &s->director->chooser);
    }
    s->acting = w->nodes * w->threads;
    for (uint32_t i = 0; i < w->nodes; i++) {
        s->nodes[i] = (struct node){.stage = s, .id = i};
        loco_sim_spawn(s->sim, node_body, &s->nodes[i]);
    }
    int rc = loco_sim_run(s->sim);
    if (rc && loud)
        stage_explain_wait(s, rc);
    if (!rc && !s->failures && !stage_check_history(s, loud))
        rc = -EILSEQ;
    loco_sim_close(s->sim);
    return rc || s->failures;
}

static bool workload_is_sound(const struct loco_sim_workload *w)
{
    return w->nodes > 0 && w->nodes <= LOCO_SIM_NODES_MAX && w->threads > 0 &&
           w->threads <= LOCO_SIM_ACTORS_MAX / w->nodes;
}

int loco_sim_workload_run(const struct loco_sim_workload *w, uint64_t seed,
                          enum loco_sim_chaos chaos, bool loud)
{
    return loco_sim_workload_run_by(w, seed, chaos, loud, NULL);
}

int loco_sim_workload_run_by(const struct loco_sim_workload *w, uint64_t seed,
                             enum loco_sim_chaos chaos, bool loud,
                             struct loco_sim_director *director)
{
    if (!workload_is_sound(w)) {
        if (loud)
            fprintf(stderr, "workload %s: it has 1 to %d nodes, and 1 to %d threads in all\n",
                    w->name, LOCO_SIM_NODES_MAX, LOCO_SIM_ACTORS_MAX);
        return 1;
    }
    struct stage *s = calloc(1, sizeof *s);
    if (!s)
        return 1;
    s->workload = w;
    s->seed = seed;
    s->director = director;
    int failed =
        loco_sim_history_init(&s->history, LOCO_SIM_OPS_MAX) ? 1 : stage_run(s, chaos, loud);
    if (failed && loud)
        fprintf(stderr, "workload %s fails with seed %llu at chaos %d\n", w->name,
                (unsigned long long)seed, (int)chaos);
    loco_sim_history_fini(&s->history);
    free(s);
    return failed != 0;
}

uint64_t loco_sim_workload_run_seeds(const struct loco_sim_workload *w, uint64_t first,
                                     uint64_t count, enum loco_sim_chaos chaos, bool loud)
{
    for (uint64_t i = 0; i < count; i++)
        if (loco_sim_workload_run(w, first + i, chaos, loud))
            return i;
    return count;
}
