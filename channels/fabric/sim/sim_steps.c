/*
 * The smallest steps that RDMA knows, which operations make under chaos. These are allowed:
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

#include "../../loco/fabric/atomic_copy.h"
#include "sim_internal.h"

enum {
    WORD = 8,
    REACH = 8,      /* how many of a link's oldest operations may be chosen */
    REACH_FAR = 64, /* the same, in one of 8 turns */
    LATE = 400,     /* how often a completed atomic may be passed over before it writes */
};

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
    t.first = (unsigned)sim_choose(s, LOCO_CHOICE_WORD, t.words, 0);
    do
        t.stride = 1 + (unsigned)sim_choose(s, LOCO_CHOICE_STRIDE, t.words, 0);
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

/* Moves some of the operation's first `ready` words, or all of them if transfers do not tear. */
static void transfer_some(struct sim *s, struct operation *o, struct transfer *t, unsigned ready,
                          void *to, const void *from)
{
    unsigned left = ready - t->moved;

    if (left == 0)
        return;
    unsigned some = left;
    if (s->config.chaos >= LOCO_SIM_TORN)
        some = 1 + (unsigned)sim_choose(s, LOCO_CHOICE_TEAR, left, left - 1);
    if (some < left)
        sim_put_last(s, &o->rank);
    if (from != o->data)
        sim_note_words(s, o->id, LOCO_SIM_READS, from, o->size);
    if (to != o->data)
        sim_note_words(s, o->id, LOCO_SIM_WRITES, to, o->size);
    while (some-- > 0)
        transfer_word(t, to, from, o->size);
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
    sim_note(o->link->node->sim, o->id, LOCO_SIM_WRITES, SIM_A_COMPLETION | o->link->number);
    o->link->queued--;
}

/* Whether the operation has read all that it answers. */
static bool chaos_has_read(const struct operation *o)
{
    return o->executed || (chaos_is_atomic(o) && o->link->peer->atomic == o);
}

/* The steps that an operation could make next. */
struct possible {
    bool fetch, arrive, execute, complete, answer;
    unsigned ready; /* words of a write that can be placed, of an answer that can be sent */
};

static struct possible chaos_possible_write(const struct sim *s, const struct operation *o,
                                            const struct earlier *e)
{
    const bool hears = sim_hears(o->link), reaches = sim_reaches(o->link);
    const unsigned ready = !o->source ? o->apply.words : o->streams ? o->fetch.moved : 0;
    const bool any_ready = !o->source || o->apply.moved < ready;

    return (struct possible){
        .fetch = o->source && hears,
        .arrive = !o->arrived && e->all_arrived && any_ready,
        .execute = o->arrived && reaches && !o->executed && any_ready && e->writes_placed &&
                   (e->all_executed || s->config.chaos >= LOCO_SIM_DEFERRED),
        .complete = o->arrived && !o->source && hears && !o->finished && e->all_finished,
        .ready = ready,
    };
}

/* Whether the step comes first, of two that are possible. An operation that does not do the usual
 * one first is put last. */
static bool chaos_goes_first(struct sim *s, struct operation *o, bool usual)
{
    bool first = sim_choose(s, LOCO_CHOICE_ORDER, 2, usual);

    if (first != usual)
        sim_put_last(s, &o->rank);
    return first;
}

static bool chaos_step_write(struct sim *s, struct operation *o, const struct earlier *e)
{
    const struct possible may = chaos_possible_write(s, o, e);

    if (may.fetch && (!(may.arrive || may.execute) || chaos_goes_first(s, o, true))) {
        transfer_some(s, o, &o->fetch, o->fetch.words, o->data, o->source);
        if (transfer_is_over(&o->fetch))
            o->source = NULL;
        return true;
    }
    if (may.arrive)
        return o->arrived = true;
    if (may.complete && (!may.execute || chaos_goes_first(s, o, false))) {
        chaos_finish(o);
        return true;
    }
    if (!may.execute)
        return false;
    transfer_some(s, o, &o->apply, may.ready, o->target, o->data);
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
        transfer_some(s, o, &o->apply, o->apply.words, o->data, o->target);
        o->executed = transfer_is_over(&o->apply);
    } else if (peer->atomic && peer->atomic != o) {
        return false;
    } else {
        sim_note_words(s, o->id, LOCO_SIM_WRITES, o->target, WORD);
        sim_note(s, o->id, LOCO_SIM_WRITES, SIM_AN_EXCLUSION | peer->base.id);
        if (peer->atomic)
            sim_end_atomic(o);
        else
            chaos_begin_atomic(s, o);
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

static struct possible chaos_possible_other(const struct sim *s, const struct operation *o,
                                            const struct earlier *e)
{
    if (!o->arrived)
        return (struct possible){.arrive = e->all_arrived};
    const unsigned ready = chaos_answerable(o);
    return (struct possible){
        .execute = !o->executed && sim_reaches(o->link) && e->writes_placed &&
                   (e->all_executed || chaos_may_overtake(s, o)),
        .complete = chaos_has_read(o) && chaos_may_complete(o, e),
        .answer = o->answer.moved < ready,
        .ready = ready,
    };
}

static bool chaos_step_other(struct sim *s, struct operation *o, const struct earlier *e)
{
    const struct possible may = chaos_possible_other(s, o, e);

    if (may.arrive)
        return o->arrived = true;
    if (may.answer && (!may.execute || chaos_goes_first(s, o, true))) {
        transfer_some(s, o, &o->answer, may.ready, o->result, o->data);
        return true;
    }
    if (may.execute && (!may.complete || chaos_goes_first(s, o, true)))
        return chaos_execute_some(s, o);
    if (!may.complete)
        return false;
    if (o->again) {
        o->again = o->executed = false;
        o->apply.moved = o->answer.moved = 0;
        return true;
    }
    chaos_finish(o);
    return true;
}

static bool chaos_can_step(const struct sim *s, const struct operation *o, const struct earlier *e)
{
    const struct possible may =
        o->verb == WRITE ? chaos_possible_write(s, o, e) : chaos_possible_other(s, o, e);
    const struct operation *atomic = o->link->peer->atomic;
    const bool excluded = may.execute && chaos_is_atomic(o) && atomic && atomic != o;

    if (excluded) /* it would act, but for the other one */
        sim_note(o->link->node->sim, o->id, LOCO_SIM_READS,
                 SIM_AN_EXCLUSION | o->link->peer->base.id);
    return may.fetch || may.arrive || may.complete || may.answer || (may.execute && !excluded);
}

/* How often the operation is passed over before its next step: mostly never, sometimes often. */
static unsigned chaos_draw_patience(struct sim *s)
{
    uint64_t chance = sim_choose(s, LOCO_CHOICE_PATIENCE, 40, 39);
    uint64_t most = chance == 0 ? 200 : chance < 6 ? 12 : 0;

    return most ? (unsigned)sim_choose(s, LOCO_CHOICE_PATIENCE, most, 0) : 0;
}

/* Tries to make one step of the operation; returns whether it did. */
static bool chaos_step(struct sim *s, struct operation *o, const struct earlier *e)
{
    if (o->patience > 0) {
        o->patience--;
        return false;
    }
    s->subject = o;
    sim_note(s, o->id, LOCO_SIM_RUNS, SIM_A_LINK | o->link->number);
    if (!(o->verb == WRITE ? chaos_step_write(s, o, e) : chaos_step_other(s, o, e)))
        return false;
    o->patience = chaos_draw_patience(s);
    if (o->late && sim_choose(s, LOCO_CHOICE_PATIENCE, 8, 7) == 0)
        o->patience = (unsigned)sim_choose(s, LOCO_CHOICE_PATIENCE, LATE, 0);
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

int sim_activate(struct sim *s, struct sim_link *l)
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

struct operation *sim_best_operation(const struct sim *s, const struct operation *except,
                                     bool patient)
{
    struct operation *best = NULL;

    for (unsigned i = 0; i < s->active_count; i++) {
        struct earlier e = {true, true, true, true};
        for (struct operation *o = s->active[i]->oldest; o; o = o->next) {
            if (o != except && (!best || o->rank > best->rank) && (patient || o->patience == 0) &&
                chaos_can_step(s, o, &e))
                best = o;
            chaos_follow(&e, o);
        }
    }
    return best;
}

/* The operation's place among those of its link. */
static unsigned chaos_place(const struct operation *operation)
{
    unsigned place = 0;

    for (const struct operation *o = operation->link->oldest; o != operation; o = o->next)
        place++;
    return place;
}

/* Makes a step of one of the link's operations: the first that can make one, starting the search at
 * a chosen one. */
void sim_step_link(struct sim *s, const struct operation *usual)
{
    const unsigned usual_link = usual ? usual->link->active - 1 : 0;
    const unsigned usual_skip = usual ? chaos_place(usual) : 0;
    struct sim_link *l = s->active[sim_choose(s, LOCO_CHOICE_TURN, s->active_count, usual_link)];
    struct earlier e = {true, true, true, true};
    unsigned reach = sim_choose(s, LOCO_CHOICE_TURN, 8, usual_skip < REACH) ? REACH : REACH_FAR;
    unsigned skip = (unsigned)sim_choose(s, LOCO_CHOICE_TURN, reach, usual_skip);
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

void sim_draw_course(struct sim *s, struct operation *o)
{
    bool deferred = s->config.chaos >= LOCO_SIM_DEFERRED;

    s->subject = o;
    o->id = (1ull << 32) + ++s->operations;
    o->rank = sim_rank(s, SIM_OPERATIONS);
    o->patience = chaos_draw_patience(s);
    o->fetch = transfer_plan(s, o->size);
    o->streams =
        deferred && (o->verb == READ || o->source) && sim_choose(s, LOCO_CHOICE_STREAM, 2, 0);
    o->apply = o->source && o->streams ? o->fetch : transfer_plan(s, o->size);
    o->again = deferred && o->verb == READ && sim_chance(s, LOCO_CHOICE_AGAIN, 16);
    o->answer = o->streams ? o->apply : transfer_plan(s, o->size);
}
