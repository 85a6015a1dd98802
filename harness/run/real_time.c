#include "real_time.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "group.h"
#include "privileges.h"

/* A loop's next step. */
struct pending {
    struct hil_loop *loop;
    uint64_t n, due;
};

struct real_time {
    const struct hil_run *run;
    const struct hil_clock *clock;
    uint64_t start_ns; /* on the clock */
    uint64_t end_ns;   /* after it */
    struct pending *loops;
    unsigned count;
};

static struct pending *most_urgent(const struct real_time *e)
{
    struct pending *first = &e->loops[0];

    for (unsigned i = 1; i < e->count; i++)
        if (e->loops[i].due < first->due)
            first = &e->loops[i];
    return first;
}

static bool told_to_stop(const struct real_time *e)
{
    return atomic_load_explicit(&e->run->state->stop, memory_order_relaxed);
}

/* Spins until `t_ns`; returns what time it is then. */
static uint64_t spin_until(const struct real_time *e, uint64_t t_ns)
{
    uint64_t now;

    while ((now = hil_clock_now(e->clock)) < t_ns && !told_to_stop(e))
        hil_clock_pause();
    return now;
}

/* Runs the step when it is due, and finds the next. -EINTR: told to stop. */
static int run_step(const struct real_time *e, struct pending *p)
{
    uint64_t begin = spin_until(e, e->start_ns + p->due), next;

    if (told_to_stop(e))
        return -EINTR;
    int rc = p->loop->step(p->loop->arg, p->n, begin - e->start_ns);
    if (rc)
        return rc;
    uint64_t end = hil_clock_now(e->clock);
    rc = hil_loop_account(p->loop, p->n, begin - e->start_ns, end - e->start_ns, &next);
    p->n = next;
    p->due = hil_loop_due(p->loop, next);
    return rc;
}

static int run_loops(const struct real_time *e)
{
    int rc = 0;

    for (struct pending *p = most_urgent(e); !rc && p->due < e->end_ns; p = most_urgent(e))
        rc = run_step(e, p);
    return rc;
}

/* The counters prove what the loop claims: no fault, no preemption. */
static int run_measured(const struct real_time *e, struct hil_executor_state *state)
{
    struct rusage before, after;

    getrusage(RUSAGE_THREAD, &before);
    int rc = run_loops(e);
    getrusage(RUSAGE_THREAD, &after);
    state->page_faults =
        (uint64_t)(after.ru_minflt - before.ru_minflt + after.ru_majflt - before.ru_majflt);
    state->involuntary_switches = (uint64_t)(after.ru_nivcsw - before.ru_nivcsw);
    return rc;
}

static int gather_loops(struct real_time *e, const struct hil_group *g)
{
    e->loops = calloc(g->count, sizeof *e->loops);
    if (!e->loops)
        return -ENOMEM;
    e->count = g->count;
    for (unsigned i = 0; i < g->count; i++)
        e->loops[i] = (struct pending){&g->roles[i]->loop, 0, hil_loop_due(&g->roles[i]->loop, 0)};
    return 0;
}

static void explain(struct hil_executor_state *state, int rc)
{
    const char *why = rc == -ETIMEDOUT    ? "the other nodes did not come"
                      : rc == -ECONNRESET ? "a peer was lost"
                      : rc == -ETIME      ? "a step missed its deadline and the policy is halt"
                      : rc == -EPROTO     ? "the other nodes run another scenario"
                      : rc == -EADDRINUSE ? "another run holds this node's place"
                                          : strerror(-rc);

    snprintf(state->message, sizeof state->message, "%s", why);
}

static int run_group(const struct hil_run *run, unsigned index, const struct hil_clock *clock,
                     struct loco_fabric *fabric, unsigned wait_s)
{
    const struct hil_executor_config *config = &run->scenario->executors[index];
    struct hil_executor_state *state = &run->state->executors[index];
    struct real_time e = {.run = run, .clock = clock, .end_ns = run->scenario->duration_ns};
    struct hil_group group;

    int rc = hil_group_start(&group, run, fabric, config, wait_s * 1000000000ull);
    if (!rc)
        rc = gather_loops(&e, &group);
    if (!rc) {
        e.start_ns = group.roles[0]->start_ns;
        atomic_store(&state->stage, HIL_RUNNING);
        hil_schedule_real_time(config, state);
        rc = run_measured(&e, state);
        hil_schedule_ordinary();
    }
    if (rc == -EINTR)
        rc = 0;
    hil_group_end(&group, rc ? HIL_FAILED : HIL_DONE);
    hil_group_close(&group);
    free(e.loops);
    return rc;
}

int hil_real_time_run(const struct hil_run *run, unsigned index, const struct hil_clock *clock,
                      const char *run_directory, unsigned wait_s)
{
    struct hil_executor_state *state = &run->state->executors[index];
    struct loco_fabric *fabric;
    int rc = loco_shm_open(&fabric, run_directory);

    if (!rc) {
        /* The fabric's own thread is there already, and stays off the loop's core. */
        hil_settle(&run->scenario->executors[index], state);
        rc = run_group(run, index, clock, fabric, wait_s);
        loco_shm_close(fabric);
    }
    if (rc)
        explain(state, rc);
    atomic_store(&state->stage, rc ? HIL_FAILED : HIL_DONE);
    return rc;
}
