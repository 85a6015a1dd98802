/*
 * The search is Wing and Gong's, with Lowe's two improvements: configurations seen before
 * are not searched again, and an operation is linearized just in time.
 *
 * Just in time: suppose that some linearization exists. Move all its points later, in
 * step, until the first comes up against the return of its operation. So it is enough to
 * linearize at returns: when an operation returns that has not been linearized yet, choose
 * some of the open operations, in some order, ending with it. Each return is a *point*
 * here, and its candidates are the operations open there.
 *
 *      a  |------------|               points: b's return (candidates b, a, c),
 *      b     |-----|                           a's return (a, c)
 *      c         |--------- pending
 *
 * A configuration is what matters for the future: the next point, which of the open
 * operations are linearized already, and the model's state. An open operation has a slot,
 * one of 64, which is free again after its return; so the set is one word, however long
 * the history. Pending operations keep their slots and need never be chosen.
 *
 * The search is depth first. Its stack is the chain of parents through the array that also
 * remembers every configuration, and that array's size is the bound on the work. At each
 * point the operation that returns is tried first: mostly that succeeds, and a history
 * that passes costs about one configuration for an operation.
 *
 * When the search fails, the furthest point that it came to is a return which no
 * linearization survives. That may be due to what operations still open there return
 * later. To name the smallest prefix that fails by itself, the prefixes that end there and
 * further on are searched, with the operations open at their end as pending ones.
 */
#include "linear_internal.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

enum { SLOTS = 64 };

struct candidate {
    uint32_t op, slot;
};

struct point {
    uint32_t event; /* the return, in the history */
    uint32_t first; /* of its candidates: the operation that returns */
    uint32_t count;
};

struct config {
    uint64_t done;  /* slots of open operations that are linearized */
    uint32_t point; /* where the next choice is made */
    uint32_t tried; /* candidates of that point tried so far */
    uint32_t parent;
    uint32_t op; /* linearized between the parent and here */
    struct loco_sim_model_state state;
};

/* A place in the table of configurations, which is empty unless of the present epoch. */
struct memo {
    uint32_t epoch;
    uint32_t tag; /* more bits of the hash: spares most comparisons */
    uint32_t config;
};

struct loco_sim_linear {
    uint32_t ops_max, configs_max;

    /* The key being checked, in the history's first so many events. */
    uint32_t events;
    struct point *point;
    struct candidate *candidate;
    uint32_t points, candidates;
    uint32_t *slot_of; /* by operation */

    /* The search. */
    struct config *config;
    uint32_t configs, furthest;
    struct memo *memo;
    uint32_t memo_mask, epoch;

    uint64_t *key; /* the keys checked so far */
    uint32_t keys;
    uint32_t *order;
};

/* --- memory --------------------------------------------------------------------------- */

int loco_sim_linear_open(struct loco_sim_linear **linear, uint32_t ops_max, uint32_t configs_max)
{
    if (ops_max == 0 || configs_max == 0 || configs_max > 1u << 28)
        return -EINVAL;
    struct loco_sim_linear *l = calloc(1, sizeof(*l));
    if (!l)
        return -ENOMEM;

    uint32_t places = 2;
    while (places < 2 * configs_max)
        places *= 2;
    l->ops_max = ops_max;
    l->configs_max = configs_max;
    l->memo_mask = places - 1;
    l->point = calloc(ops_max, sizeof(*l->point));
    l->candidate = calloc((size_t)ops_max * SLOTS, sizeof(*l->candidate));
    l->slot_of = calloc(ops_max, sizeof(*l->slot_of));
    l->config = calloc(configs_max, sizeof(*l->config));
    l->memo = calloc(places, sizeof(*l->memo));
    l->key = calloc(ops_max, sizeof(*l->key));
    l->order = calloc(ops_max, sizeof(*l->order));
    if (!l->point || !l->candidate || !l->slot_of || !l->config || !l->memo || !l->key ||
        !l->order) {
        loco_sim_linear_close(l);
        return -ENOMEM;
    }
    *linear = l;
    return 0;
}

void loco_sim_linear_close(struct loco_sim_linear *linear)
{
    if (!linear)
        return;
    free(linear->point);
    free(linear->candidate);
    free(linear->slot_of);
    free(linear->config);
    free(linear->memo);
    free(linear->key);
    free(linear->order);
    free(linear);
}

/* --- one key's points and candidates -------------------------------------------------- */

struct open_ops {
    uint64_t slots;
    uint32_t op[SLOTS];
};

static void search_add_candidate(struct loco_sim_linear *l, uint32_t op, uint32_t slot)
{
    l->candidate[l->candidates++] = (struct candidate){.op = op, .slot = slot};
}

static void search_add_point(struct loco_sim_linear *l, const struct open_ops *open, uint32_t event,
                             uint32_t op)
{
    struct point *point = &l->point[l->points++];
    const uint32_t slot = l->slot_of[op];

    *point = (struct point){.event = event, .first = l->candidates};
    search_add_candidate(l, op, slot);
    for (uint64_t rest = open->slots & ~(1ull << slot); rest; rest &= rest - 1) {
        const uint32_t other = (uint32_t)__builtin_ctzll(rest);

        search_add_candidate(l, open->op[other], other);
    }
    point->count = l->candidates - point->first;
}

/* False when more operations are open at once than there are slots. */
static bool search_lay_out(struct loco_sim_linear *l, const struct loco_sim_history *h,
                           uint64_t key, uint32_t events)
{
    struct open_ops open = {0};

    l->events = events;
    l->points = 0;
    l->candidates = 0;
    for (uint32_t e = 0; e < events; e++) {
        const uint32_t op = h->event[e] / 2;

        if (h->op[op].key != key)
            continue;
        if (h->event[e] & 1) {
            search_add_point(l, &open, e, op);
            open.slots &= ~(1ull << l->slot_of[op]);
            continue;
        }
        if (open.slots == UINT64_MAX)
            return false;
        const uint32_t slot = (uint32_t)__builtin_ctzll(~open.slots);
        open.slots |= 1ull << slot;
        open.op[slot] = op;
        l->slot_of[op] = slot;
    }
    return true;
}

/* --- the search ----------------------------------------------------------------------- */

/* Passes the returns of operations that are linearized: nothing is to be chosen there. */
static void config_settle(const struct loco_sim_linear *l, struct config *c)
{
    for (; c->point < l->points; c->point++) {
        const uint32_t slot = l->candidate[l->point[c->point].first].slot;

        if (!(c->done >> slot & 1))
            return;
        c->done &= ~(1ull << slot);
    }
}

static bool config_same(const struct config *a, const struct config *b)
{
    return a->point == b->point && a->done == b->done &&
           loco_sim_model_state_equal(&a->state, &b->state);
}

/* Remembers the newest configuration. False when it was seen before. */
static bool search_remember(struct loco_sim_linear *l)
{
    const struct config *newest = &l->config[l->configs];
    const uint64_t hash =
        loco_sim_model_state_hash(&newest->state, newest->done ^ (uint64_t)newest->point << 32);
    const uint32_t tag = (uint32_t)(hash >> 32);
    uint32_t place = (uint32_t)hash & l->memo_mask;

    for (; l->memo[place].epoch == l->epoch; place = (place + 1) & l->memo_mask) {
        if (l->memo[place].tag == tag && config_same(&l->config[l->memo[place].config], newest))
            return false;
    }
    l->memo[place] = (struct memo){.epoch = l->epoch, .tag = tag, .config = l->configs};
    return true;
}

/* Makes the newest configuration out of `from` by performing a candidate, if that is new. */
static bool search_linearize(struct loco_sim_linear *l, const struct loco_sim_history *h,
                             const struct loco_sim_model *model, uint32_t from,
                             const struct candidate *candidate)
{
    const struct config *parent = &l->config[from];
    struct config *c = &l->config[l->configs];
    struct loco_sim_history_op op = h->op[candidate->op];

    if (parent->done >> candidate->slot & 1)
        return false;
    if (op.returned >= l->events && op.returned < LOCO_SIM_OPTIONAL)
        op.returned = LOCO_SIM_PENDING;
    loco_sim_model_state_copy(&c->state, &parent->state);
    if (!model->step(model, &c->state, &op))
        return false;
    /* An operation that has no effect here and need not have happened. */
    if (op.returned >= LOCO_SIM_OPTIONAL && loco_sim_model_state_equal(&c->state, &parent->state))
        return false;

    c->done = parent->done | 1ull << candidate->slot;
    c->point = parent->point;
    c->tried = 0;
    c->parent = from;
    c->op = candidate->op;
    config_settle(l, c);
    return search_remember(l);
}

static void search_begin(struct loco_sim_linear *l, const struct loco_sim_model *model)
{
    struct config *root = &l->config[0];

    if (++l->epoch == 0) { /* the number came round: old places would seem new */
        memset(l->memo, 0, ((size_t)l->memo_mask + 1) * sizeof(*l->memo));
        l->epoch = 1;
    }
    root->done = 0;
    root->point = 0;
    root->tried = 0;
    root->parent = NONE;
    root->op = NONE;
    loco_sim_model_state_copy(&root->state, &model->initial);
    l->configs = 0;
    l->furthest = 0;
    search_remember(l);
    l->configs = 1;
}

static enum loco_sim_linear_verdict search_descend(struct loco_sim_linear *l,
                                                   const struct loco_sim_history *h,
                                                   const struct loco_sim_model *model)
{
    uint32_t top = 0;

    search_begin(l, model);
    while (top != NONE) {
        struct config *c = &l->config[top];

        if (c->point > l->config[l->furthest].point)
            l->furthest = top;
        if (c->point == l->points)
            return LOCO_SIM_LINEARIZABLE;
        if (l->configs == l->configs_max)
            return LOCO_SIM_GAVE_UP;

        const struct point *point = &l->point[c->point];
        if (c->tried == point->count)
            top = c->parent;
        else if (search_linearize(l, h, model, top, &l->candidate[point->first + c->tried++]))
            top = l->configs++;
    }
    return LOCO_SIM_NOT_LINEARIZABLE;
}

static enum loco_sim_linear_verdict report_give_up(struct loco_sim_linear_report *report,
                                                   const char *why)
{
    report->why = why;
    return LOCO_SIM_GAVE_UP;
}

enum loco_sim_linear_verdict loco_sim_linear_search(struct loco_sim_linear *l,
                                                    const struct loco_sim_history *h,
                                                    const struct loco_sim_model *model,
                                                    uint32_t events,
                                                    struct loco_sim_linear_report *report)
{
    if (!search_lay_out(l, h, report->key, events))
        return report_give_up(report, "more than 64 operations open at once");

    const enum loco_sim_linear_verdict verdict = search_descend(l, h, model);
    report->configs += l->configs;
    if (verdict == LOCO_SIM_GAVE_UP)
        return report_give_up(report, "more configurations than the bound on the work");
    return verdict;
}

/* --- the report ----------------------------------------------------------------------- */

/* The last search passed up to the event `at`, and no search passes that. */
static void report_blame(struct loco_sim_linear *l, const struct loco_sim_history *h, uint32_t at,
                         struct loco_sim_linear_report *report)
{
    const struct config *c = &l->config[l->furthest];

    report->at = at;
    report->culprit = h->event[at] / 2;
    report->state = (struct loco_sim_model_state){0};
    loco_sim_model_state_copy(&report->state, &c->state);

    for (const struct config *p = c; p->parent != NONE; p = &l->config[p->parent])
        report->ordered++;
    report->order = l->order;
    for (uint32_t i = report->ordered; i > 0; i--) {
        l->order[i - 1] = c->op;
        c = &l->config[c->parent];
    }
}

static bool search_fails_at(struct loco_sim_linear *l, const struct loco_sim_history *h,
                            const struct loco_sim_model *model, uint32_t event,
                            struct loco_sim_linear_report *report)
{
    const bool returns = h->event[event] & 1;

    return returns && h->op[h->event[event] / 2].key == report->key &&
           loco_sim_linear_search(l, h, model, event + 1, report) == LOCO_SIM_NOT_LINEARIZABLE;
}

/* The key's last return fails for certain, so this ends. */
static void search_find_prefix(struct loco_sim_linear *l, const struct loco_sim_history *h,
                               const struct loco_sim_model *model,
                               struct loco_sim_linear_report *report)
{
    struct loco_sim_linear_report trial = {.key = report->key};
    uint32_t at = l->point[l->config[l->furthest].point].event;

    while (!search_fails_at(l, h, model, at, &trial)) {
        at++;
        assert(at < h->events);
    }
    loco_sim_linear_search(l, h, model, at, &trial);
    report_blame(l, h, at, report);
}

static enum loco_sim_linear_verdict linear_check_key(struct loco_sim_linear *l,
                                                     const struct loco_sim_history *h,
                                                     const struct loco_sim_model *model,
                                                     struct loco_sim_linear_report *report)
{
    const enum loco_sim_linear_verdict verdict =
        loco_sim_linear_search(l, h, model, h->events, report);

    if (verdict == LOCO_SIM_NOT_LINEARIZABLE)
        search_find_prefix(l, h, model, report);
    return verdict;
}

/* False when the key was checked before. */
static bool linear_new_key(struct loco_sim_linear *l, uint64_t key)
{
    for (uint32_t i = 0; i < l->keys; i++) {
        if (l->key[i] == key)
            return false;
    }
    l->key[l->keys++] = key;
    return true;
}

/* A key that fails outweighs one that was given up, so that all are looked at. */
static void linear_check_keys(struct loco_sim_linear *l, const struct loco_sim_history *h,
                              const struct loco_sim_model *model,
                              struct loco_sim_linear_report *report)
{
    l->keys = 0;
    for (uint32_t i = 0; i < h->ops; i++) {
        struct loco_sim_linear_report one = {.key = h->op[i].key, .configs = report->configs};

        if (!linear_new_key(l, one.key))
            continue;
        one.verdict = linear_check_key(l, h, model, &one);
        report->configs = one.configs;
        if (one.verdict == LOCO_SIM_LINEARIZABLE)
            continue;
        *report = one;
        if (one.verdict == LOCO_SIM_NOT_LINEARIZABLE)
            return;
    }
}

enum loco_sim_linear_verdict loco_sim_linear_check(struct loco_sim_linear *linear,
                                                   const struct loco_sim_history *history,
                                                   const struct loco_sim_model *model,
                                                   struct loco_sim_linear_report *report)
{
    *report = (struct loco_sim_linear_report){.verdict = LOCO_SIM_LINEARIZABLE};
    if (history->overflowed)
        report->verdict = report_give_up(report, "the history overflowed");
    else if (history->ops > linear->ops_max)
        report->verdict = report_give_up(report, "more operations than the checker has room for");
    else
        linear_check_keys(linear, history, model, report);
    return report->verdict;
}

static void linear_print_failure(FILE *file, const struct loco_sim_history *h,
                                 const struct loco_sim_linear_report *report)
{
    fprintf(file,
            "key %" PRIu64 " is not linearizable: no order explains the return of #%" PRIu32
            " at %" PRIu32 "\n",
            report->key, h->op[report->culprit].id, report->at);
    for (uint32_t i = 0; i < h->ops; i++) {
        struct loco_sim_history_op op = h->op[i];

        if (op.key != report->key || op.invoked > report->at)
            continue;
        if (op.returned > report->at) /* still open there: what it returned is no matter */
            op.returned = LOCO_SIM_PENDING;
        fputs(i == report->culprit ? "> " : "  ", file);
        loco_sim_history_print_op(file, &op);
    }

    fputs("  an order that comes so far:", file);
    for (uint32_t i = 0; i < report->ordered; i++)
        fprintf(file, " #%" PRIu32, h->op[report->order[i]].id);
    fputs(", which leaves the state [", file);
    for (uint64_t i = 0; i < report->state.count; i++)
        fprintf(file, "%s%" PRIu64, i ? " " : "", report->state.word[i]);
    fputs("]\n", file);
}

void loco_sim_linear_print(FILE *file, const struct loco_sim_history *history,
                           const struct loco_sim_linear_report *report)
{
    if (report->verdict == LOCO_SIM_NOT_LINEARIZABLE)
        linear_print_failure(file, history, report);
    if (report->verdict == LOCO_SIM_GAVE_UP)
        fprintf(file, "no verdict: %s\n", report->why);
}
