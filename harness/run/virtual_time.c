#include "virtual_time.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../channels/loco/fabric/timeline.h"
#include "../scenario/system.h"
#include "group.h"
#include "privileges.h"
#include "step_lines.h"
#include "step_parts.h"

enum { CONTINUOUS_CLASS = LOCO_SIM_FIRST, SAMPLED_CLASS };

/* Limit for each wait, in virtual time; slow simulated networks get more. */
static const uint64_t SETUP_TIMEOUT_NS = 60000000000;

/* One fiber: it runs the nodes with continuous components, or all other nodes. The second fiber
 * sees at an instant what the first sends at the same instant. */
struct virtual_executor {
    const struct hil_run *run;
    struct loco_fabric *sim;
    struct hil_executor_config nodes;
    unsigned class;
    int result;
    struct virtual_shared *shared;
};

/* What both executors share. */
struct virtual_shared {
    uint64_t instant; /* the newest that either has reached */
    uint64_t stop_ns; /* when the run was stopped; UINT64_MAX: it was not */
};

/* Loops with the same timing and their next step: one timeline entry for all of them. Of entries
 * due at the same instant, the one with the lowest first node runs first. */
struct pending {
    struct hil_node **nodes;
    unsigned first, count; /* first: its index in the group */
    uint64_t n;
};

/* Pairs of nodes without a link exchange data only at the start, without delay. */
static struct loco_sim_link link_of(void *arg, uint32_t from, uint32_t to)
{
    const struct hil_scenario *s = arg;
    const int link = hil_link_find(s->system, from, to);

    return (struct loco_sim_link){
        .latency_ns = link < 0 ? 0 : s->system->links[link].latency_ns,
        .jitter_ns = s->network.jitter_ns,
    };
}

static uint64_t due_of(const struct pending *p)
{
    return hil_loop_due(&p->nodes[0]->loop, p->n);
}

/* Before node i's step: prefetches the lines that the step after the next one touches, and the
 * place of the next step's tap row. The address of that place comes from the ring, which is in the
 * cache by now. */
static inline void fetch_ahead(const struct pending *p, const struct hil_step_lines *lines,
                               unsigned i)
{
    const unsigned next = i + 1 < p->count ? i + 1 : 0;
    struct hil_tap_ring *ring = p->nodes[next]->step->tap;

    if (ring)
        hil_tap_fetch(ring);
    hil_step_lines_fetch(lines, p->first + (next + 1 < p->count ? next + 1 : 0));
}

static int run_step(struct pending *p, const struct hil_step_lines *lines, uint64_t due)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < p->count; i++) {
        const struct hil_loop *loop = &p->nodes[i]->loop;
        if (lines->at)
            fetch_ahead(p, lines, i);
        rc = loop->step(loop->arg, p->n, due);
    }
    p->n++;
    return rc;
}

static bool is_over(const struct pending *p)
{
    return due_of(p) >= p->nodes[0]->loop.end_ns;
}

/* The first executor that is told to stop says when that was. */
static void stop_all(const struct virtual_executor *v, struct pending *all, int count, uint64_t now)
{
    struct virtual_shared *shared = v->shared;

    if (shared->stop_ns == UINT64_MAX)
        shared->stop_ns = now;
    for (int i = 0; i < count; i++)
        for (unsigned k = 0; k < all[i].count; k++)
            hil_loop_stop(&all[i].nodes[k]->loop, shared->stop_ns, all[i].n);
}

static void begin_instant(const struct virtual_executor *v, uint64_t start, uint64_t now)
{
    struct hil_state *state = v->run->state;

    loco_sim_sleep(v->sim, start + now, v->class);
    if (v->shared->instant != now) {
        struct hil_between *between = v->run->between;
        hil_pace_wait(state);
        if (between && now >= between->at_ns)
            between->call(between, now);
    }
    v->shared->instant = now;
    hil_beat(&state->executors[v->run->executor].heartbeat);
}

static int run_pending(const struct virtual_executor *v, struct pending *all, int count,
                       struct loco_timeline *line, const struct hil_step_lines *lines)
{
    struct loco_timeline_entry next;
    uint64_t now = UINT64_MAX;
    int rc = 0;

    for (bool more = loco_timeline_take(line, &next); !rc && more;) {
        struct pending *p = next.what;
        if (!is_over(p) && next.time != now) {
            now = next.time;
            begin_instant(v, p->nodes[0]->start_ns, now);
            if (atomic_load_explicit(&v->run->state->stop, memory_order_relaxed))
                stop_all(v, all, count, now);
        }
        if (is_over(p)) {
            more = loco_timeline_take(line, &next);
            continue;
        }
        rc = run_step(p, lines, now);
        loco_timeline_exchange(line, due_of(p), p->nodes[0]->id, p, &next);
    }
    return rc;
}

static void account(const struct hil_loop *loop, uint64_t steps)
{
    loop->state->steps = steps;
    loop->state->begin_ns = steps ? hil_loop_due(loop, steps - 1) : 0;
}

static bool same_times(const struct hil_node *a, const struct hil_node *b)
{
    return a->loop.timing.period_ns == b->loop.timing.period_ns &&
           a->loop.timing.phase_ns == b->loop.timing.phase_ns;
}

/* Sorts the group's loops into timeline entries. Returns the number of entries, or a negative
 * errno. */
static int plan(struct hil_group *g, struct pending *all, struct loco_timeline *line)
{
    int count = 0;

    for (unsigned i = 0; i < g->count; i++) {
        if (i > 0 && same_times(g->nodes[i - 1], g->nodes[i])) {
            all[count - 1].count++;
            continue;
        }
        all[count] = (struct pending){&g->nodes[i], i, 1, 0};
        int rc = loco_timeline_put(line, due_of(&all[count]), g->nodes[i]->id, &all[count]);
        if (rc)
            return rc;
        count++;
    }
    return count;
}

static int run_loops(struct virtual_executor *v, struct hil_group *g)
{
    struct pending *all = calloc(g->count, sizeof *all);
    struct hil_step_lines lines;
    struct loco_timeline line = {0};
    int count = all ? plan(g, all, &line) : -ENOMEM;
    int rc = hil_step_lines_open(&lines, g->nodes, g->count);
    rc = count < 0 ? count : rc;
    if (!rc)
        rc = run_pending(v, all, count, &line, &lines);

    for (int i = 0; i < count; i++)
        for (unsigned k = 0; k < all[i].count; k++)
            account(&all[i].nodes[k]->loop, all[i].n);
    loco_timeline_free(&line);
    hil_step_lines_close(&lines);
    free(all);
    return rc;
}

static void executor_body(void *arg)
{
    struct virtual_executor *v = arg;
    uint64_t timeout_ns = SETUP_TIMEOUT_NS + hil_group_meeting_ns(v->run->scenario);
    struct hil_group group;

    if (v->run->between)
        v->run->between->groups[v->class == SAMPLED_CLASS] = &group;
    v->result = hil_group_start(&group, v->run, v->sim, &v->nodes, timeout_ns);
    if (!v->result) {
        atomic_store(&v->run->state->executors[0].stage, HIL_RUNNING);
        v->result = run_loops(v, &group);
    }
    if (v->result)
        hil_state_stop(v->run->state, group.count ? loco_clock(group.nodes[0]->mgr) : 0, 0);
    hil_group_explain(&group, v->result);
    hil_group_end(&group, v->result ? HIL_FAILED : HIL_DONE);
    hil_group_close(&group);
}

static int first_failure(const struct hil_run *run, const struct virtual_executor *v)
{
    struct hil_executor_state *executor = &run->state->executors[0];

    for (unsigned i = 0; i < 2; i++) {
        if (!v[i].result || v[i].result == -EINTR)
            continue;
        if (!executor->message[0])
            snprintf(executor->message, sizeof executor->message, "%s", strerror(-v[i].result));
        if (v[i].result == -ESTALE)
            hil_stale_describe(&executor->stale, run->scenario->system, executor->message,
                               sizeof executor->message);
        if (v[i].result == -ESTALE)
            hil_age_describe(run->state, run->scenario->system, executor->message,
                             sizeof executor->message);
        if (v[i].result == -ENOTRECOVERABLE)
            hil_failure_describe(&executor->failures, executor->message, sizeof executor->message);
        return v[i].result;
    }
    return 0;
}

/* Sorts the nodes into those with continuous components and those without. The caller frees
 * *nodes. */
static int virtual_sides(const struct hil_system *s, unsigned **nodes,
                         struct hil_executor_config sides[2])
{
    unsigned *at = *nodes = calloc(s->node_count, sizeof *at);

    for (unsigned side = 0; at && side < 2; side++) {
        sides[side] = (struct hil_executor_config){.nodes = at};
        for (unsigned n = 0; n < s->node_count; n++)
            if ((s->nodes[n].continuous == 0) == (side == 1))
                at[sides[side].count++] = n;
        at += sides[side].count;
    }
    return at ? 0 : -ENOMEM;
}

int hil_virtual_run(const struct hil_run *run)
{
    const struct loco_sim_config config = {
        .seed = run->scenario->network.seed, .link = link_of, .arg = (void *)run->scenario};
    struct hil_executor_config sides[2] = {{0}};
    unsigned *nodes;
    struct virtual_shared shared = {.instant = UINT64_MAX, .stop_ns = UINT64_MAX};
    int rc = virtual_sides(run->scenario->system, &nodes, sides);
    struct loco_fabric *sim = rc ? NULL : loco_sim_open(&config);
    struct virtual_executor executors[] = {
        {run, sim, sides[1], SAMPLED_CLASS, 0, &shared},
        {run, sim, sides[0], CONTINUOUS_CLASS, 0, &shared},
    };

    hil_flush_denormals();
    for (unsigned i = 0; sim && !rc && i < 2; i++)
        if (executors[i].nodes.count)
            rc = loco_sim_spawn(sim, executor_body, &executors[i]);
    if (!rc)
        rc = sim ? loco_sim_run(sim) : -ENOMEM;
    if (!rc)
        rc = first_failure(run, executors);
    atomic_store(&run->state->executors[0].stage, rc ? HIL_FAILED : HIL_DONE);
    if (sim)
        loco_sim_close(sim);
    free(nodes);
    return rc;
}
