/*
 * The sim's chaotic physics: each turn chooses a fiber or an operation at random. An operation then
 * makes the smallest step that RDMA knows. These steps are allowed:
 *
 *      write     its source is read (late, unless it is inline), it arrives, perhaps before all
 *                is read, is placed word by word, and is completed at any time after all is read
 *                and it arrived
 *      read      arrives, reads the target word by word, answers word by word, perhaps before all
 *                is read, and perhaps repeats all of it once, is completed
 *      atomic    arrives, reads the word, answers and is completed; writes the word at any time
 *                after it has read it
 *      flush     arrives, answers, is completed
 *
 *      Of one link: operations arrive and are completed in the order of posting. A write is
 *      placed after all earlier writes; a read, an atomic or a flush is executed after all
 *      earlier writes are placed. An atomic that has read its word counts as a write here. A
 *      flush is also executed after all earlier atomics. A write may overtake an earlier read,
 *      and an atomic that has not read yet.
 *      Atomics at one node exclude one another, but not that node's CPU, nor other links' writes.
 *      Of different links: nothing.
 *      A post waits while its link's send queue is full.
 *
 * Sources: RFC 5040 section 5; Ambal et al., "Semantics of Remote Direct Memory Access", and its
 * successor with atomics, arXiv 2601.14642.
 * Where they leave doubt, the weaker behaviour is allowed.
 */
#include <errno.h>
#include <stdlib.h>

#include "../words.h"
#include "sim_internal.h"

enum {
    STEPS_MAX = 10000000, /* the default of the config's steps_max */
    WORD = 8,
    REACH = 8,      /* how many of a link's oldest operations may be chosen */
    REACH_FAR = 64, /* the same, in one of 8 turns */
    DEPTH = 128,    /* size of a send queue */
    SHALLOW = 4,    /* size of some send queues */
    LATE = 400,     /* how often a completed atomic may be passed over before it writes */
};

static uint64_t chaos_below(struct sim *s, uint64_t bound)
{
    return (uint64_t)((unsigned __int128)sim_draw(&s->random) * bound >> 64);
}

/* --- transfers: words in some order ------------------------------------------------------- */

static unsigned transfer_divisor(unsigned a, unsigned b)
{
    return b ? transfer_divisor(b, a % b) : a;
}

/* Draws an order of the words. The stride has no common divisor with their count, so each word is
 * visited once. */
static struct transfer transfer_plan(struct sim *s, size_t size)
{
    struct transfer t = {.words = (unsigned)((size + WORD - 1) / WORD), .stride = 1};

    if (s->config.chaos < LOCO_SIM_TORN || t.words < 2)
        return t;
    t.first = (unsigned)chaos_below(s, t.words);
    do
        t.stride = 1 + (unsigned)chaos_below(s, t.words);
    while (transfer_divisor(t.words, t.stride) != 1);
    return t;
}

static void transfer_word(struct transfer *t, unsigned char *to, const unsigned char *from,
                          size_t size)
{
    size_t at = ((size_t)t->first + (size_t)t->moved * t->stride) % t->words * WORD;

    loco_copy(to + at, from + at, size - at < WORD ? size - at : WORD);
    t->moved++;
}

/* Moves some of the first `ready` words, or all of them if transfers do not tear. */
static void transfer_some(struct sim *s, struct transfer *t, unsigned ready, void *to,
                          const void *from, size_t size)
{
    unsigned left = ready - t->moved;

    if (left == 0)
        return;
    unsigned some = s->config.chaos < LOCO_SIM_TORN ? left : 1 + (unsigned)chaos_below(s, left);
    while (some-- > 0)
        transfer_word(t, to, from, size);
}

static bool transfer_is_over(const struct transfer *t)
{
    return t->moved == t->words;
}

/* --- an operation's steps ------------------------------------------------------------------- */

static bool chaos_is_atomic(const struct operation *o)
{
    return o->verb == FETCH_ADD || o->verb == COMPARE_SWAP;
}

/* Facts that hold for all earlier operations of the link. */
struct earlier {
    bool all_arrived, all_finished, writes_placed, all_executed;
};

static void chaos_finish(struct operation *o)
{
    o->finished = true;
    o->late = chaos_is_atomic(o) && !o->executed;
    o->link->queued--;
}

/* Whether the operation has read all that it answers. */
static bool chaos_has_read(const struct operation *o)
{
    return o->executed || (chaos_is_atomic(o) && o->link->peer->atomic == o);
}

static bool chaos_step_write(struct sim *s, struct operation *o, const struct earlier *e)
{
    const bool hears = sim_hears(o->link), reaches = sim_reaches(o->link);
    const unsigned ready = !o->source ? o->apply.words : o->streams ? o->fetch.moved : 0;
    const bool any_ready = !o->source || o->apply.moved < ready;

    const bool may_arrive = !o->arrived && e->all_arrived && any_ready;
    const bool may_complete = o->arrived && !o->source && hears && !o->finished && e->all_finished;
    const bool may_place = o->arrived && reaches && !o->executed && any_ready && e->writes_placed &&
                           (e->all_executed || s->config.chaos >= LOCO_SIM_DEFERRED);
    if (o->source && hears && (!(may_arrive || may_place) || chaos_below(s, 2))) {
        transfer_some(s, &o->fetch, o->fetch.words, o->data, o->source, o->size);
        if (transfer_is_over(&o->fetch))
            o->source = NULL;
        return true;
    }
    if (may_arrive)
        return o->arrived = true;
    if (may_complete && (!may_place || chaos_below(s, 2))) {
        chaos_finish(o);
        return true;
    }
    if (!may_place)
        return false;
    transfer_some(s, &o->apply, ready, o->target, o->data, o->size);
    o->executed = transfer_is_over(&o->apply);
    return true;
}

/* An atomic reads the word now. In general it writes the word in a later step, and the CPU and
 * other links may change the word in between. One that fails writes nothing. */
static void chaos_begin_atomic(struct sim *s, struct operation *o)
{
    uint64_t old;

    loco_copy(&old, o->target, WORD);
    if (s->config.chaos >= LOCO_SIM_DEFERRED && (o->verb == FETCH_ADD || old == o->expected)) {
        loco_copy(o->data, &old, WORD);
        o->link->peer->atomic = o;
    } else {
        sim_execute(o);
        o->executed = true;
    }
}

void sim_end_atomic(struct operation *o)
{
    uint64_t old, new;

    loco_copy(&old, o->data, WORD);
    new = o->verb == FETCH_ADD ? old + o->operand : o->operand;
    loco_copy(o->target, &new, WORD);
    o->link->peer->atomic = NULL;
    o->executed = true;
}

static bool chaos_execute_some(struct sim *s, struct operation *o)
{
    struct sim_node *peer = o->link->peer;

    if (o->verb == FLUSH) {
        o->executed = true;
    } else if (o->verb == READ) {
        transfer_some(s, &o->apply, o->apply.words, o->data, o->target, o->size);
        o->executed = transfer_is_over(&o->apply);
    } else if (peer->atomic == o) {
        sim_end_atomic(o);
    } else if (!peer->atomic) {
        chaos_begin_atomic(s, o);
    } else {
        return false;
    }
    return true;
}

/* How many words of the answer may have been sent. */
static unsigned chaos_answerable(const struct operation *o)
{
    if (!o->result || !sim_hears(o->link))
        return 0;
    return chaos_has_read(o) ? o->answer.words : o->streams ? o->apply.moved : 0;
}

/* Whether the operation may be executed before earlier ones that do not write. */
static bool chaos_may_overtake(const struct sim *s, const struct operation *o)
{
    return o->verb == READ || (chaos_is_atomic(o) && s->config.chaos >= LOCO_SIM_DEFERRED);
}

static bool chaos_may_complete(const struct operation *o, const struct earlier *e)
{
    return !o->finished && sim_hears(o->link) && (!o->result || transfer_is_over(&o->answer)) &&
           (e->all_finished || o->again);
}

static bool chaos_step_other(struct sim *s, struct operation *o, const struct earlier *e)
{
    if (!o->arrived)
        return e->all_arrived && (o->arrived = true);
    bool may_execute = !o->executed && sim_reaches(o->link) && e->writes_placed &&
                       (e->all_executed || chaos_may_overtake(s, o));
    bool may_complete = chaos_has_read(o) && chaos_may_complete(o, e);
    bool may_answer = o->answer.moved < chaos_answerable(o);
    if (may_answer && (!may_execute || chaos_below(s, 2))) {
        transfer_some(s, &o->answer, chaos_answerable(o), o->result, o->data, o->size);
        return true;
    }
    if (may_execute && (!may_complete || chaos_below(s, 2)))
        return chaos_execute_some(s, o);
    if (!may_complete)
        return false;
    if (o->again) {
        o->again = o->executed = false;
        o->apply.moved = o->answer.moved = 0;
        return true;
    }
    chaos_finish(o);
    return true;
}

/* How often the operation is passed over before its next step: mostly never, sometimes often. */
static unsigned chaos_draw_patience(struct sim *s)
{
    uint64_t chance = chaos_below(s, 40);

    return (unsigned)(chance == 0 ? chaos_below(s, 200) : chance < 6 ? chaos_below(s, 12) : 0);
}

/* Tries to make one step of the operation; returns whether it did. */
static bool chaos_step(struct sim *s, struct operation *o, const struct earlier *e)
{
    if (o->patience > 0) {
        o->patience--;
        return false;
    }
    if (!(o->verb == WRITE ? chaos_step_write(s, o, e) : chaos_step_other(s, o, e)))
        return false;
    o->patience = chaos_draw_patience(s);
    if (o->late && chaos_below(s, 8) == 0)
        o->patience = (unsigned)chaos_below(s, LATE);
    o->late = false;
    return true;
}

static void chaos_follow(struct earlier *e, const struct operation *o)
{
    e->all_arrived &= o->arrived;
    e->all_finished &= o->finished;
    e->all_executed &= o->executed;
    if (o->verb == WRITE || (chaos_is_atomic(o) && chaos_has_read(o)))
        e->writes_placed &= o->executed;
}

/* --- links with operations in flight ---------------------------------------------------------- */

static int chaos_activate(struct sim *s, struct sim_link *l)
{
    if (l->active)
        return 0;
    if (s->active_count == s->active_room) {
        unsigned room = s->active_room ? 2 * s->active_room : 16;
        void *more = realloc(s->active, room * sizeof(struct sim_link *));
        if (!more)
            return -ENOMEM;
        s->active = more;
        s->active_room = room;
    }
    s->active[s->active_count++] = l;
    l->active = s->active_count;
    return 0;
}

static void chaos_deactivate(struct sim *s, struct sim_link *l)
{
    struct sim_link *last = s->active[--s->active_count];

    s->active[l->active - 1] = last;
    last->active = l->active;
    l->active = 0;
}

/* Publishes the completed operations for polling. Frees those that are completed and executed. */
static void chaos_retire(struct sim *s, struct sim_link *l)
{
    for (struct operation *o = l->oldest; o && o->finished; o = o->next)
        *(o->verb == FLUSH ? &l->flushes_completed : &l->completed) = o->number;
    while (l->oldest && l->oldest->finished && l->oldest->executed) {
        struct operation *o = l->oldest;
        l->oldest = o->next;
        sim_operation_free(s, o);
    }
    if (!l->oldest)
        chaos_deactivate(s, l);
}

/* Makes a step of one of the link's operations: the first that can make one, starting the search at
 * a random one. */
static void chaos_step_link(struct sim *s, struct sim_link *l)
{
    struct earlier e = {true, true, true, true};
    unsigned reach = chaos_below(s, 8) ? REACH : REACH_FAR;
    unsigned skip = (unsigned)chaos_below(s, reach);
    struct operation *o = l->oldest;

    if (!sim_hears(l) && !sim_reaches(l)) {
        chaos_deactivate(s, l); /* the operations left on the link are never done */
        return;
    }
    for (; skip > 0 && o->next; skip--, o = o->next)
        chaos_follow(&e, o);
    for (unsigned i = 0; o && i < reach; i++, o = o->next) {
        if (chaos_step(s, o, &e)) {
            s->changes++;
            chaos_retire(s, l);
            return;
        }
        chaos_follow(&e, o);
    }
}

/* --- fibers ----------------------------------------------------------------------------------- */

static bool chaos_may_go_on(const struct sim *s, const struct sim_fiber *f)
{
    return !f->waiting || f->seen != s->changes || f->wake_at <= s->now;
}

/* Chooses a fiber that can go on. A fiber that is held back lets others, or the network, go first.
 */
static struct sim_fiber *chaos_choose_fiber(struct sim *s)
{
    unsigned k = (unsigned)chaos_below(s, s->crowd_count);
    struct sim_fiber *held_back = NULL;

    for (unsigned left = s->crowd_count; left > 0; left--, k++) {
        if (k == s->crowd_count)
            k = 0;
        struct sim_fiber *f = s->crowd[k];
        if (!chaos_may_go_on(s, f))
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
        if (chaos_may_go_on(s, s->crowd[i]))
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
    struct timeline_entry entry;

    while (s->timeline.count > 0 && s->timeline.heap[0].time <= s->now) {
        timeline_take(&s->timeline, &entry);
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

/* Lets random operations make steps, and returns the fiber that runs next; NULL when none can. */
static struct sim_fiber *chaos_next_fiber(struct sim *s)
{
    uint64_t steps_max = s->config.steps_max ? s->config.steps_max : STEPS_MAX;

    for (;;) {
        if (++s->steps > steps_max) {
            s->result = -ETIME;
            return NULL;
        }
        s->now += 1 + chaos_below(s, 8);
        chaos_let_time_act(s);
        if (s->stores > 0)
            sim_let_stores_go(s);
        if (s->active_count > 0 && chaos_below(s, 3)) {
            chaos_step_link(s, s->active[chaos_below(s, s->active_count)]);
            continue;
        }
        struct sim_fiber *f = chaos_choose_fiber(s);
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
    struct sim_fiber *next = chaos_next_fiber(s);

    if (!next) {
        sim_switch(self, &s->main);
        return;
    }
    next->seen = s->changes;
    next->waiting = NULL;
    next->stall = chaos_below(s, 32) ? 0 : (unsigned)chaos_below(s, 60);
    sim_switch(self, next);
}

static void chaos_sleep(struct sim *s, uint64_t time, unsigned class)
{
    sim_drain(s->current);
    sim_asleep(s->current);
    timeline_add(&s->timeline, time, class, s->current);
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
    self->waiting = n;
    self->wake_at = wait->until;
    chaos_pause(self);
}

void sim_wait_for_change(struct sim *s)
{
    static struct sim_node nowhere;
    struct sim_fiber *self = s->current;

    self->seen = s->changes;
    self->waiting = &nowhere;
    self->wake_at = UINT64_MAX;
    chaos_pause(self);
}

/* Pauses the running fiber: mostly for a short while, sometimes for longer than operations take. */
static void chaos_interrupt_now(struct sim *s)
{
    if (chaos_below(s, 16) == 0)
        s->current->stall = (unsigned)chaos_below(s, 200);
    chaos_pause(s->current);
}

/* Draws when the running fiber is interrupted next: mostly late, sometimes soon, even repeatedly.
 */
void sim_preempt(struct sim *s)
{
    s->until_preempted = 1 + (int)chaos_below(s, 1ull << chaos_below(s, 12));
    if (s->current != &s->main)
        chaos_interrupt_now(s);
}

/* Interrupts a fiber inside the fabric: between an operation's number and its post, and while the
 * post reads an inline source. */
static void chaos_interrupt(struct sim *s)
{
    if (s->config.chaos >= LOCO_SIM_DEFERRED && chaos_below(s, 16) == 0)
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

    chaos_take_completion(l->node->sim, &link->done, l->completed);
    chaos_take_completion(l->node->sim, &link->flushed, l->flushes_completed);
}

static void chaos_draw_course(struct sim *s, struct operation *o)
{
    bool deferred = s->config.chaos >= LOCO_SIM_DEFERRED;

    o->patience = chaos_draw_patience(s);
    o->fetch = transfer_plan(s, o->size);
    o->streams = deferred && (o->verb == READ || o->source) && chaos_below(s, 2);
    o->apply = o->source && o->streams ? o->fetch : transfer_plan(s, o->size);
    o->again = deferred && o->verb == READ && chaos_below(s, 16) == 0;
    o->answer = o->streams ? o->apply : transfer_plan(s, o->size);
}

static unsigned chaos_draw_depth(struct sim *s)
{
    return s->config.chaos >= LOCO_SIM_DEFERRED && chaos_below(s, 4) == 0 ? SHALLOW : DEPTH;
}

/* Waits while the link's send queue is full. Flushes do not come here, as a fence must not wait in
 * its post. */
static int chaos_wait_for_room(struct sim_link *l)
{
    if (l->depth == 0)
        l->depth = chaos_draw_depth(l->node->sim);
    while (l->queued >= l->depth) {
        sim_wait_for_change(l->node->sim);
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
        rc = chaos_activate(s, l);
    if (rc) {
        sim_operation_free(s, o);
        return rc;
    }
    chaos_draw_course(s, o);
    sim_append(l, o);
    l->queued++;
    s->changes++;
    /* A fence must not be paused in its post either. */
    if (o->verb != FLUSH && chaos_below(s, 4) == 0)
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
