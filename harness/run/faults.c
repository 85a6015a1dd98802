#include "faults.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../../channels/loco/fabric/sim.h"
#include "awaited.h"
#include "clock.h"
#include "fault_links.h"
#include "faulted_parts.h"
#include "note.h"
#include "rehearsal.h"

/* --- opening --------------------------------------------------------------------------------- */

static const struct hil_system *faults_system(const struct hil_faults *f)
{
    return f->step->node->run->scenario->system;
}

static void faults_open_now(struct hil_faults *f)
{
    const struct hil_node_config *c = f->step->node->config;
    const struct hil_system *system = faults_system(f);

    for (unsigned i = 0; i < f->count; i++) {
        const struct hil_fault_here *here = &system->faults_here[c->first_fault + i];
        f->now[i] = (struct hil_fault_now){
            .fault = &system->faults[here->fault], .here = here, .number = c->first_fault + i};
        if (f->now[i].fault->waits == HIL_WAITS_LEVEL)
            f->now[i].level = &f->step->values[hil_step_signal_at(f->step, &here->level)];
    }
}

int hil_faults_open(struct hil_step *s)
{
    const unsigned count = s->node->config->fault_count;
    struct hil_faults *f;

    if (!count)
        return 0;
    f = s->faults = calloc(1, sizeof *f);
    s->faulted = f != NULL;
    if (!f)
        return -ENOMEM;
    *f = (struct hil_faults){.step = s, .count = count, .now = calloc(count, sizeof *f->now)};
    if (!f->now)
        return -ENOMEM;
    faults_open_now(f);
    int rc = hil_faulted_parts_open(f);
    return rc ? rc : hil_fault_links_open(f);
}

void hil_faults_close(struct hil_step *s)
{
    if (!s->faults)
        return;
    hil_faulted_parts_close(s->faults);
    hil_fault_links_close(s->faults);
    free(s->faults->now);
    free(s->faults);
}

void hil_faults_begin(struct hil_step *s)
{
    struct hil_faults *f = s->faults;

    for (unsigned i = 0; i < f->count; i++)
        f->now[i].on = f->now[i].before = f->now[i].begins = false;
    f->stepped = false;
    f->busy_until = 0;
    hil_faulted_parts_begin(f);
    hil_fault_links_begin(f);
}

/* --- when a fault is on ----------------------------------------------------------------------- */

static bool faults_dies(const struct hil_fault *fault)
{
    return fault->kind == HIL_FAULT_CRASH || fault->kind == HIL_FAULT_RESTART;
}

static bool faults_real(const struct hil_faults *f)
{
    return f->step->node->run->scenario->mode == HIL_REALTIME;
}

static struct hil_fault_state *faults_state(const struct hil_faults *f,
                                            const struct hil_fault_now *now)
{
    return &f->step->node->run->state->faults[now->number];
}

static bool faults_reached(const struct hil_fault_now *now)
{
    const struct hil_fault_level *level = &now->fault->level;

    return level->above ? *now->level > level->level : *now->level < level->level;
}

/* Whether the condition that the fault waits for has occurred, and when. */
static bool faults_awaited(const struct hil_faults *f, const struct hil_fault_now *now,
                           uint64_t *since_ns)
{
    *since_ns = 0;
    switch (now->fault->waits) {
    case HIL_WAITS_LEVEL:
        *since_ns = f->due;
        return faults_reached(now);
    case HIL_WAITS_EVENT:
        return hil_awaited_was(f->step->node->run->state, now->here->fault, since_ns);
    default:
        return true;
    }
}

/* Finds out when the fault begins, if that can be known by now. A node that comes back finds the
 * time in the run's state. */
static void faults_look(const struct hil_faults *f, struct hil_fault_now *now)
{
    _Atomic uint64_t *known = &faults_state(f, now)->due_ns;
    uint64_t due = atomic_load_explicit(known, memory_order_relaxed), since_ns;

    if (now->begins || (!due && !faults_awaited(f, now, &since_ns)))
        return;
    if (!due)
        due = now->fault->at_ns + since_ns + 1;
    now->begins = true;
    now->begin_ns = due - 1;
    atomic_store_explicit(known, due, memory_order_relaxed);
}

static void faults_tell(const struct hil_faults *f, const struct hil_fault_now *now, bool on,
                        uint64_t now_ns)
{
    const struct hil_event_of of = hil_event_of_fault(faults_system(f), now->here->fault);
    struct hil_fault_state *state = faults_state(f, now);

    if (on) {
        if (!state->begun)
            state->begin_ns = now_ns;
        atomic_fetch_add_explicit(&state->begun, 1, memory_order_release);
        hil_note(f->step->node, f->n, now_ns, HIL_EVENT_FAULT_BEGINS, of, 0);
    } else {
        state->end_ns = now_ns;
        atomic_fetch_add_explicit(&state->ended, 1, memory_order_release);
        hil_note_ns(f->step->node, f->n, now_ns, HIL_EVENT_FAULT_ENDS, of,
                    now_ns - state->begin_ns);
    }
}

/* A node whose process was started again has died of this fault before, and does not die again. */
static bool faults_was_dead(const struct hil_faults *f, const struct hil_fault_now *now)
{
    return faults_real(f) && faults_dies(now->fault) && faults_state(f, now)->begun;
}

/* Whether the last thing told about the fault is that it began. A fault that was on when its
 * process died goes on in the next process, or is then told to have ended. */
static bool faults_is_told(const struct hil_faults *f, const struct hil_fault_now *now)
{
    const struct hil_fault_state *state = faults_state(f, now);

    return state->begun != state->ended;
}

static void faults_turn(struct hil_faults *f, struct hil_fault_now *now, uint64_t now_ns)
{
    faults_look(f, now);
    now->before = now->on;
    now->on = now->begins && hil_fault_is_on(now->fault, now->begin_ns, f->due) &&
              !faults_was_dead(f, now);
    if (now->on != faults_is_told(f, now))
        faults_tell(f, now, now->on, now_ns);
}

/* --- faults of nodes -------------------------------------------------------------------------- */

static const struct hil_fault *faults_find(const struct hil_faults *f,
                                           bool (*is)(const struct hil_fault *))
{
    for (unsigned i = 0; i < f->count; i++)
        if (f->now[i].on && is(f->now[i].fault))
            return f->now[i].fault;
    return NULL;
}

static bool faults_stalls(const struct hil_fault *fault)
{
    return fault->kind == HIL_FAULT_STALL;
}

static bool faults_slows(const struct hil_fault *fault)
{
    return fault->kind == HIL_FAULT_SLOW;
}

/* Against the clock the process kills itself. In virtual time only the node dies. */
static void faults_die(struct hil_faults *f)
{
    const struct hil_node *node = f->step->node;

    if (faults_real(f))
        kill(getpid(), SIGKILL);
    if (!f->away)
        loco_sim_crash(node->mgr->fabric, node->id);
    f->away = true;
}

/* In virtual time: makes the node anew; it then connects while others go on. Returns 1 if it is
 * back, 0 if not yet, or a negative errno. */
static int faults_come_back(struct hil_node *node, uint64_t n)
{
    struct hil_faults *f = node->step->faults;
    int rc = 0;

    if (!f->returns) {
        rc = hil_node_reopen(node);
        if (rc)
            return rc;
        f = node->step->faults;
        f->away = f->returns = true;
    }
    rc = hil_node_connected(node);
    if (rc != 1)
        return rc;
    node->loop.first = n;
    hil_node_report(node, HIL_RUNNING);
    f->away = f->returns = false;
    return 1;
}

/* Against the clock the step really takes longer. In virtual time, where a step takes no time, the
 * node leaves out the steps that are due while it would be busy. */
static void faults_slow(struct hil_faults *f, uint64_t delay_ns, uint64_t due)
{
    const uint64_t begin = hil_clock_monotonic();

    if (!faults_real(f)) {
        f->busy_until = due + delay_ns;
        return;
    }
    while (hil_clock_monotonic() - begin < delay_ns &&
           !atomic_load_explicit(&f->step->node->run->state->stop, memory_order_relaxed))
        hil_clock_pause();
}

/* Until when, by the run's time, the fault keeps the node away; 0: it does not. */
static uint64_t faults_away_until(const struct hil_run *run, unsigned number)
{
    const struct hil_system *s = run->scenario->system;
    const struct hil_fault *fault = &s->faults[s->faults_here[number].fault];
    const struct hil_fault_state *state = &run->state->faults[number];

    if (!faults_dies(fault) || !state->begun || state->ended)
        return 0;
    return fault->duration_ns == UINT64_MAX ? UINT64_MAX : state->begin_ns + fault->duration_ns;
}

void hil_faults_stay_away(const struct hil_run *run, const struct hil_executor_config *nodes)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    struct hil_executor_state *executor = &run->state->executors[run->executor];
    uint64_t until = 0;

    for (unsigned i = 0; i < nodes->count; i++) {
        const struct hil_node_config *n = &run->scenario->system->nodes[nodes->nodes[i]];
        for (unsigned k = n->first_fault; k < n->first_fault + n->fault_count; k++) {
            const uint64_t away = faults_away_until(run, k);
            until = away > until ? away : until;
        }
    }
    while (until && !atomic_load(&run->state->stop) &&
           hil_clock_monotonic() - executor->start_ns < until) {
        hil_beat(&executor->heartbeat);
        nanosleep(&nap, NULL);
    }
}

/* --- a step with faults ----------------------------------------------------------------------- */

static void faults_next(struct hil_faults *f, uint64_t n, uint64_t now_ns)
{
    f->n = n;
    f->due = hil_loop_due(&f->step->node->loop, n);
    for (unsigned i = 0; i < f->count; i++)
        if (!f->away || faults_dies(f->now[i].fault)) /* a dead node has no other faults */
            faults_turn(f, &f->now[i], now_ns);
}

int hil_faults_run(void *arg, uint64_t n, uint64_t now)
{
    struct hil_node *node = arg;
    struct hil_faults *f = node->step->faults;

    if (n == HIL_REHEARSED_STEP)
        return hil_step_run(node, n, now);
    faults_next(f, n, now);
    if (faults_find(f, faults_dies))
        faults_die(f);
    else if (f->away) {
        int rc = faults_come_back(node, n);
        if (rc < 0)
            return rc;
        f = node->step->faults;
        if (rc == 1)
            faults_next(f, n, now);
    }
    if (f->away || f->due < f->busy_until || faults_find(f, faults_stalls)) {
        hil_step_stand(node, n, now);
        return 0;
    }
    if (!f->stepped)
        hil_faulted_parts_first(f);
    f->stepped = true;
    const int rc = hil_step_run(node, n, now);
    const struct hil_fault *slow = faults_find(f, faults_slows);
    if (slow && !rc)
        faults_slow(f, slow->delay_ns, f->due);
    return rc;
}
