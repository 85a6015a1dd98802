/*
 * The sim's chaotic physics: each turn chooses a fiber, or an operation that makes one of its steps
 * (sim_steps.c).
 */
#include <errno.h>
#include <stdlib.h>

#include "sim_internal.h"

enum {
    STEPS_MAX = 10000000, /* the default of the config's steps_max */
    DEPTH = 128,          /* size of a send queue */
    SHALLOW = 4,          /* size of some send queues */
};

/* --- fibers ----------------------------------------------------------------------------------- */

bool sim_may_go_on(const struct sim *s, const struct sim_fiber *f)
{
    return !f->waiting || f->seen != s->changes || f->wake_at <= s->now;
}

/* Chooses a fiber that can go on. A fiber that is held back lets others, or the network, go first.
 */
static struct sim_fiber *chaos_choose_fiber(struct sim *s, const struct sim_fiber *usual)
{
    unsigned k =
        (unsigned)sim_choose(s, LOCO_CHOICE_TURN, s->crowd_count, usual ? usual->place - 1 : 0);
    struct sim_fiber *held_back = NULL;

    for (unsigned left = s->crowd_count; left > 0; left--, k++) {
        if (k == s->crowd_count)
            k = 0;
        struct sim_fiber *f = s->crowd[k];
        if (!sim_may_go_on(s, f))
            continue;
        if (f->stall == 0)
            return f;
        f->stall--;
        held_back = f;
    }
    return s->active_count == 0 ? held_back : NULL;
}

/* Whether any fiber could go on, including those that are held back. */
static bool chaos_any_may_go_on(const struct sim *s)
{
    for (unsigned i = 0; i < s->crowd_count; i++)
        if (sim_may_go_on(s, s->crowd[i]))
            return true;
    return false;
}

/* All fibers wait, and the simulator has seen no change. But a fiber may have changed ordinary
 * memory that another fiber waits for. So before time is skipped, each fiber checks again three
 * times. Returns the next one to do so; NULL: all have. */
static struct sim_fiber *chaos_look_again(struct sim *s)
{
    if (s->idle_since != s->changes) {
        s->idle_since = s->changes;
        s->looks = 0;
    }
    return s->looks < 3 * s->crowd_count ? s->crowd[s->looks++ % s->crowd_count] : NULL;
}

/* Handles the timeline's entries that are due: wakes sleeping fibers, and delivers news. */
static void chaos_let_time_act(struct sim *s)
{
    struct loco_timeline_entry entry;

    while (s->timeline.count > 0 && s->timeline.heap[0].time <= s->now) {
        loco_timeline_take(&s->timeline, &entry);
        s->changes++;
        if (*(enum kind *)entry.what == FIBER)
            sim_awake(entry.what);
        else
            sim_news_come(entry.what);
    }
}

/* Skips to the next time at which something can go on; false when there is none. */
static bool chaos_skip_time(struct sim *s)
{
    uint64_t next = s->timeline.count > 0 ? s->timeline.heap[0].time : UINT64_MAX;

    for (unsigned i = 0; i < s->crowd_count; i++)
        if (s->crowd[i]->waiting && s->crowd[i]->wake_at < next)
            next = s->crowd[i]->wake_at;
    if (next == UINT64_MAX)
        return false;
    if (next > s->now)
        s->now = next;
    return true;
}

/* Lets operations make steps, and returns the fiber that runs next; NULL when none can. */
static struct sim_fiber *chaos_next_fiber(struct sim *s)
{
    const uint64_t steps_max = s->config.steps_max ? s->config.steps_max : STEPS_MAX;
    const struct sim_turn nobody = {0};

    for (;;) {
        if (++s->steps > steps_max) {
            s->result = -ETIME;
            return NULL;
        }
        if (s->steps > steps_max - steps_max / 5)
            s->asks = s->fair = true;
        s->now += 1 + sim_choose(s, LOCO_CHOICE_TIME, 8, 0);
        chaos_let_time_act(s);
        if (s->stores > 0)
            sim_let_stores_go(s);
        const struct sim_turn usual = s->chooser ? sim_usual_turn(s, NULL) : nobody;
        if (usual.operation && sim_is_delayed(s, usual.operation))
            continue;
        if (s->active_count > 0 && sim_choose(s, LOCO_CHOICE_TURN, 3, usual.operation != NULL)) {
            sim_step_link(s, usual.operation);
            continue;
        }
        struct sim_fiber *f = chaos_choose_fiber(s, usual.fiber);
        if (!f && s->active_count == 0 && !chaos_any_may_go_on(s)) {
            f = chaos_look_again(s);
            if (!f && !chaos_skip_time(s)) {
                s->result = -EDEADLK;
                return NULL;
            }
        }
        if (f)
            return f;
    }
}

static void chaos_pause(struct sim_fiber *self)
{
    struct sim *s = self->sim;
    struct sim_fiber *next = s->observing ? NULL : chaos_next_fiber(s);

    if (!next) {
        sim_switch(self, &s->main);
        return;
    }
    next->seen = s->changes;
    next->waiting = NULL;
    next->stall = sim_chance(s, LOCO_CHOICE_STALL, 32)
                      ? (unsigned)sim_choose(s, LOCO_CHOICE_STALL, 60, 0)
                      : 0;
    sim_note_run(s, self, next);
    sim_switch(self, next);
}

static void chaos_sleep(struct sim *s, uint64_t time, unsigned class)
{
    sim_drain(s->current);
    sim_asleep(s->current);
    loco_timeline_add(&s->timeline, time, class, s->current);
    chaos_pause(s->current);
}

static void chaos_relax(struct loco_node *node, struct loco_wait *wait)
{
    struct sim_node *n = (struct sim_node *)node;
    struct sim_fiber *self = n->sim->current;

    sim_drain(self);
    /* On the first turn of a wait, other fibers may wait for what this fiber has done before it;
     * and this fiber may not have checked its own condition yet. So the turn counts as a change
     * that this fiber has not seen. */
    const bool looked_away = wait->turns == 1 || wait->until != self->wake_at;
    n->sim->changes += looked_away;
    self->seen = n->sim->changes - looked_away;
    if (looked_away || sim_rank_is_chosen(self->rest))
        self->rest = sim_rank(n->sim, SIM_LAST);
    self->rank = self->rest; /* so it does not matter how often those that wait look */
    self->waiting = n;
    self->node = n;
    self->waits_for = NULL;
    self->wake_at = wait->until;
    if (wait->until != UINT64_MAX)
        sim_note(n->sim, self->number, LOCO_SIM_TIMES, 0);
    chaos_pause(self);
}

void sim_wait_for_change(struct sim *s, const char *what, const struct sim_fiber *whom)
{
    static struct sim_node nowhere;
    struct sim_fiber *self = s->current;

    self->waits_for = what;
    self->waits_on = whom;
    self->seen = s->changes;
    self->waiting = &nowhere;
    self->wake_at = UINT64_MAX;
    chaos_pause(self);
}

/* Pauses the running fiber: mostly for a short while, sometimes for longer than operations take. */
static void chaos_interrupt_now(struct sim *s)
{
    if (sim_chance(s, LOCO_CHOICE_STALL, 16))
        s->current->stall = (unsigned)sim_choose(s, LOCO_CHOICE_STALL, 200, 0);
    chaos_pause(s->current);
}

/* Draws when the running fiber is interrupted next: mostly late, sometimes soon, even repeatedly.
 */
static int chaos_draw_countdown(struct sim *s)
{
    const uint64_t most = 1ull << sim_choose(s, LOCO_CHOICE_COUNTDOWN, 12, 11);

    return 1 + (int)sim_choose(s, LOCO_CHOICE_COUNTDOWN, most, most - 1);
}

/* A chooser has a look at every access of a fiber to network memory. */
static void chaos_let_choose(struct sim *s, const void *at, size_t size, bool writes)
{
    s->announced |= at != NULL;
    if (s->current == &s->main || !at || !sim_is_network_memory(s, at))
        return;
    if (sim_is_switched(s, at))
        chaos_pause(s->current);
    sim_note_words(s, s->current->number, writes ? LOCO_SIM_WRITES : LOCO_SIM_READS, at, size);
}

void sim_preempt(struct sim *s, const void *at, size_t size, bool writes)
{
    /* A chooser, and one who observes, have a look at every access. */
    s->until_preempted = 1;
    if (s->observing) {
        sim_observe(s, at);
        return;
    }
    if (s->chooser)
        chaos_let_choose(s, at, size, writes);
    s->subject = NULL;
    s->subject_at = at;
    if (s->countdown > 0 && --s->countdown > 0)
        return;
    const int countdown = chaos_draw_countdown(s);
    *(s->chooser ? &s->countdown : &s->until_preempted) = countdown;
    if (s->current != &s->main && sim_ask(s, LOCO_CHOICE_INTERRUPT, 2, 0, 1))
        chaos_interrupt_now(s);
}

/* Interrupts a fiber inside the fabric: between an operation's number and its post, and while the
 * post reads an inline source. */
static void chaos_interrupt(struct sim *s)
{
    if (s->chooser && sim_is_switched(s, NULL))
        chaos_pause(s->current);
    if (s->config.chaos >= LOCO_SIM_DEFERRED && sim_chance(s, LOCO_CHOICE_INTERRUPT, 16))
        chaos_interrupt_now(s);
}

static void chaos_take_completion(struct sim *s, _Atomic uint64_t *known, uint64_t completed)
{
    if (atomic_load_explicit(known, memory_order_relaxed) >= completed)
        return;
    atomic_store_explicit(known, completed, memory_order_release);
    s->changes++;
}

static void chaos_poll(struct loco_link *link)
{
    struct sim_link *l = (struct sim_link *)link;

    sim_note(l->node->sim, l->node->sim->current->number, LOCO_SIM_READS,
             SIM_A_COMPLETION | l->number);
    chaos_take_completion(l->node->sim, &link->done, l->completed);
    chaos_take_completion(l->node->sim, &link->flushed, l->flushes_completed);
}

static unsigned chaos_draw_depth(struct sim *s)
{
    return s->config.chaos >= LOCO_SIM_DEFERRED && sim_chance(s, LOCO_CHOICE_ROOM, 4) ? SHALLOW
                                                                                      : DEPTH;
}

/* Waits while the link's send queue is full. Flushes do not come here, as a fence must not wait in
 * its post. */
static int chaos_wait_for_room(struct sim_link *l)
{
    if (l->depth == 0)
        l->depth = chaos_draw_depth(l->node->sim);
    while (l->queued >= l->depth) {
        l->node->sim->current->node = l->node;
        sim_wait_for_change(l->node->sim, "room in its send queue", NULL);
        if (!sim_hears(l))
            return -ECONNRESET;
        chaos_poll(&l->base);
    }
    return 0;
}

static int chaos_post(struct sim_link *l, struct operation *o)
{
    struct sim *s = l->node->sim;
    int rc = o->verb == FLUSH ? 0 : chaos_wait_for_room(l);

    if (!rc)
        rc = sim_activate(s, l);
    if (rc) {
        sim_operation_free(s, o);
        return rc;
    }
    sim_draw_course(s, o);
    sim_note(s, s->current->number, LOCO_SIM_POSTS, SIM_A_LINK | l->number);
    sim_append(l, o);
    l->queued++;
    s->changes++;
    /* A fence must not be paused in its post either. */
    if (o->verb != FLUSH && sim_chance(s, LOCO_CHOICE_INTERRUPT, 4))
        chaos_pause(s->current);
    return LOCO_POSTED;
}

const struct sim_physics sim_chaos = {
    .interrupt = chaos_interrupt,
    .post = chaos_post,
    .poll = chaos_poll,
    .relax = chaos_relax,
    .sleep = chaos_sleep,
    .pause = chaos_pause,
};
