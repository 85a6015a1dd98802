/*
 * The sim's ordinary physics: an operation arrives at the peer after the link's latency, and is
 * done after the latency of the way back. Network events come before other events of the same time.
 */
#include <errno.h>

#include "../../loco/fabric/atomic_copy.h"
#include "sim_internal.h"

/* A fiber may wait for another fiber of its own node, which no delivery announces. It may also
 * begin its wait before it has checked its condition. So it checks again after this time. */
enum { LOCAL_POLL_NS = 50 };

/* --- fibers ------------------------------------------------------------------------- */

static void timed_stop_waiting(struct sim_fiber *f)
{
    f->waiting->waiting--;
    f->waiting = NULL;
    f->sim->base.busy--;
}

void sim_wake(struct sim_node *node)
{
    struct sim *s = node->sim;

    s->changes++;
    for (struct sim_fiber *f = s->fibers; node->waiting && f; f = f->next) {
        if (f->waiting != node)
            continue;
        timed_stop_waiting(f);
        loco_timeline_add(&s->timeline, s->now, LOCO_SIM_WAITS, f);
    }
}

static void timed_set_alarm(struct sim_fiber *f)
{
    if (f->wake_at >= f->alarm_at)
        return; /* the alarm is due earlier, and will then be set again */
    f->alarm_at = f->wake_at;
    loco_timeline_add(&f->sim->timeline, f->wake_at, LOCO_SIM_WAITS, &f->alarm);
}

/* Whether the alarm that is due ends its fiber's wait. An alarm may be left from an earlier wait.
 */
static bool timed_ends_wait(struct sim_fiber *f)
{
    if (f->alarm_at != f->sim->now)
        return false;
    f->alarm_at = UINT64_MAX;
    if (!f->waiting)
        return false;
    if (f->wake_at > f->sim->now) {
        timed_set_alarm(f);
        return false;
    }
    timed_stop_waiting(f);
    return true;
}

/* The fiber that a timeline entry resumes; NULL if it is another event. */
static struct sim_fiber *timed_resumed(const void *what)
{
    if (*(const enum kind *)what == FIBER)
        return (struct sim_fiber *)what;
    if (*(const enum kind *)what != ALARM)
        return NULL;
    struct sim_fiber *f = ((const struct alarm *)what)->fiber;
    return timed_ends_wait(f) ? f : NULL;
}

static void timed_arrival(struct sim_link *l);
static void timed_answer(struct operation *o);
static void timed_completion(struct sim_link *l);

static void timed_happen(void *what)
{
    enum kind kind = *(enum kind *)what;

    if (kind == ARRIVAL)
        timed_arrival(((struct link_event *)what)->link);
    else if (kind == ANSWER)
        timed_answer(what);
    else if (kind == COMPLETION)
        timed_completion(((struct link_event *)what)->link);
    else if (kind == NEWS)
        sim_news_come(what);
}

/* Handles events, beginning with `entry` (`any`: there is one), and switches to the first fiber
 * that one of them resumes. Returns when an event resumes `self`. */
static void timed_carry_on(struct sim_fiber *self, struct loco_timeline_entry entry, bool any)
{
    struct sim *s = self->sim;

    for (; any; any = loco_timeline_take(&s->timeline, &entry)) {
        s->now = entry.time;
        struct sim_fiber *next = timed_resumed(entry.what);
        if (next) {
            sim_switch(self, next);
            return;
        }
        timed_happen(entry.what);
    }
    s->result = -EDEADLK;
    sim_switch(self, &s->main);
}

static void timed_pause(struct sim_fiber *self)
{
    struct loco_timeline_entry entry = {0};
    bool any = loco_timeline_take(&self->sim->timeline, &entry);

    timed_carry_on(self, entry, any);
}

static void timed_sleep(struct sim *s, uint64_t time, unsigned class)
{
    struct loco_timeline_entry next;

    loco_timeline_exchange(&s->timeline, time, loco_timeline_place(&s->timeline, class), s->current,
                           &next);
    timed_carry_on(s->current, next, true);
}

/* --- completions -------------------------------------------------------------------- *
 * The completion of a write is no event while nobody waits for it: the write is simply done when
 * its time is over. So a link with operations in flight is put into its node's list `unwatched`.
 * The next wait at that node watches the link: it makes an event of the first completion that is
 * due.
 */

static void timed_unwatch(struct sim_link *l)
{
    if (l->listed)
        return;
    l->listed = true;
    l->next_unwatched = l->node->unwatched;
    l->node->unwatched = l;
}

static void timed_watch(struct sim_link *l)
{
    struct sim *s = l->node->sim;

    l->listed = false;
    sim_poll(&l->base);
    if (!l->oldest || l->oldest->finishes <= s->now) /* the oldest never arrived at the peer */
        return;
    l->listed = true;
    l->completion = (struct link_event){.kind = COMPLETION, .link = l};
    loco_timeline_add(&s->timeline, l->oldest->finishes, LOCO_SIM_NETWORK, &l->completion);
}

static void timed_watch_all(struct sim_node *node)
{
    while (node->unwatched) {
        struct sim_link *l = node->unwatched;
        node->unwatched = l->next_unwatched;
        timed_watch(l);
    }
}

static void timed_completion(struct sim_link *l)
{
    l->listed = false;
    timed_unwatch(l);
    sim_wake(l->node);
}

static void timed_relax(struct loco_node *base, struct loco_wait *wait)
{
    struct sim_node *node = (struct sim_node *)base;
    struct sim *s = node->sim;
    struct sim_fiber *self = s->current;

    timed_watch_all(node);
    self->wake_at = wait->until;
    if ((s->alive > s->open_count || wait->turns == 1) && s->now + LOCAL_POLL_NS < self->wake_at)
        self->wake_at = s->now + LOCAL_POLL_NS;
    timed_set_alarm(self);
    self->waiting = node;
    node->waiting++;
    s->base.busy++;
    timed_pause(self);
}

/* --- operations ---------------------------------------------------------------------- */

static uint64_t timed_travel(struct sim_link *l, const struct loco_sim_link *way)
{
    uint64_t jitter = way->jitter_ns ? sim_draw(&l->random) % (way->jitter_ns + 1) : 0;

    return way->latency_ns + jitter;
}

/* Whether the operation is done. A write is done when its time is over, without an event. */
static bool timed_is_finished(const struct operation *o, uint64_t now)
{
    return o->finished || (o->verb == WRITE && o->arrived && o->finishes <= now);
}

static void timed_poll(struct loco_link *base)
{
    struct sim_link *l = (struct sim_link *)base;
    struct sim *s = l->node->sim;

    while (l->oldest && timed_is_finished(l->oldest, s->now)) {
        struct operation *o = l->oldest;
        _Atomic uint64_t *done = o->verb == FLUSH ? &base->flushed : &base->done;
        atomic_store_explicit(done, o->number, memory_order_release);
        l->oldest = o->next;
        sim_operation_free(s, o);
    }
}

/* The answer of a read, an atomic or a flush is back. */
static void timed_answer(struct operation *o)
{
    if (!sim_hears(o->link))
        return;
    if (o->result)
        loco_copy(o->result, o->data, o->size);
    o->finished = true;
    sim_wake(o->link->node);
}

static void timed_arrive(struct operation *o)
{
    struct sim *s = o->link->node->sim;

    if (!sim_reaches(o->link))
        return;
    sim_execute(o);
    o->arrived = true;
    o->kind = ANSWER;
    if (o->verb != WRITE)
        loco_timeline_add(&s->timeline, o->finishes, LOCO_SIM_NETWORK, o);
    if (o->verb != READ && o->verb != FLUSH)
        sim_wake(o->link->peer);
}

/* Puts the link's first arrival onto the timeline, at the place that was reserved when the
 * operation was posted. Each link has only one such entry, which keeps the timeline short. */
static int timed_set_out(struct sim_link *l, struct operation *first)
{
    struct loco_timeline *line = &l->node->sim->timeline;

    l->arrival = (struct link_event){.kind = ARRIVAL, .link = l};
    int rc = loco_timeline_put(line, first->arrives, first->place, &l->arrival);
    l->travelling = rc ? NULL : first;
    return rc;
}

static void timed_arrival(struct sim_link *l)
{
    struct operation *o = l->travelling;

    l->travelling = NULL;
    if (o->next)
        timed_set_out(l, o->next); /* there is room: this arrival has just left the timeline */
    timed_arrive(o);
}

static void timed_stamp(struct sim_link *l, struct operation *o)
{
    uint64_t now = l->node->sim->now;
    uint64_t arrival = now + timed_travel(l, &l->there);

    o->arrives = arrival > l->last_arrival ? arrival : l->last_arrival;
    l->last_arrival = o->arrives;
    uint64_t finished = o->arrives + timed_travel(l, &l->back);
    o->finishes = finished > l->last_finish ? finished : l->last_finish;
    l->last_finish = o->finishes;
}

static int timed_post(struct sim_link *l, struct operation *o)
{
    timed_stamp(l, o);
    o->place = loco_timeline_place(&l->node->sim->timeline, LOCO_SIM_NETWORK);
    if (!l->travelling && timed_set_out(l, o)) {
        sim_operation_free(l->node->sim, o);
        return -ENOMEM;
    }
    sim_append(l, o);
    timed_unwatch(l);
    return LOCO_POSTED;
}

const struct sim_physics sim_timed = {
    .post = timed_post,
    .poll = timed_poll,
    .relax = timed_relax,
    .sleep = timed_sleep,
    .pause = timed_pause,
};
