/* A history that fails, with as few operations as can be, which fails for the same reason. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "linear_internal.h"

/* What holds before and after each step: the last event of `best` is the culprit's return;
 * with it the history fails, without it the history is linearizable. */
struct shrinking {
    struct loco_sim_linear *linear;
    const struct loco_sim_model *model;
    struct loco_sim_history *best, *trial;
    uint8_t *choice;  /* by operation of best */
    uint8_t *without; /* the same, for trials without the conflict */
    bool *conflict;   /* by operation of best: see find_conflict */
    bool conflicts;
};

static void shrink_keep_all(struct shrinking *s)
{
    memset(s->choice, LOCO_SIM_KEEP, s->best->ops);
}

static enum loco_sim_linear_verdict shrink_verdict(struct shrinking *s, const uint8_t *choice,
                                                   uint32_t events)
{
    struct loco_sim_linear_report report = {.key = s->best->op[0].key};

    loco_sim_history_select(s->trial, s->best, choice, events);
    return loco_sim_linear_search(s->linear, s->trial, s->model, s->trial->events, &report);
}

/* What is left fits together, the culprit's return too, once the conflict is taken out. */
static bool shrink_fits_without_conflict(struct shrinking *s)
{
    if (!s->conflicts)
        return true;
    for (uint32_t i = 0; i < s->best->ops; i++)
        s->without[i] = s->conflict[i] ? LOCO_SIM_DROP : s->choice[i];
    return shrink_verdict(s, s->without, s->best->events) == LOCO_SIM_LINEARIZABLE;
}

/* Marks an operation for removal. The culprit stays, and so does what is not there. */
static bool shrink_mark(struct shrinking *s, uint32_t op)
{
    if (op >= s->best->ops || op == s->best->event[s->best->events - 1] / 2)
        return false;
    s->choice[op] = LOCO_SIM_LOOSEN;
    return true;
}

static void shrink_drop_marked(struct shrinking *s)
{
    struct loco_sim_history *const larger = s->best;
    uint32_t left = 0;

    loco_sim_history_select(s->trial, larger, s->choice, larger->events);
    for (uint32_t i = 0; i < larger->ops; i++) {
        if (s->choice[i] == LOCO_SIM_KEEP)
            s->conflict[left++] = s->conflict[i];
    }
    s->best = s->trial;
    s->trial = larger;
}

/* Removes the marked operations if that keeps the failure and its reason. */
static bool shrink_remove_marked(struct shrinking *s)
{
    const uint32_t events = s->best->events;

    if (shrink_verdict(s, s->choice, events) != LOCO_SIM_NOT_LINEARIZABLE)
        return false;
    for (uint32_t i = 0; i < s->best->ops; i++) {
        if (s->choice[i] == LOCO_SIM_LOOSEN)
            s->choice[i] = LOCO_SIM_DROP;
    }
    if (shrink_verdict(s, s->choice, events - 1) != LOCO_SIM_LINEARIZABLE ||
        !shrink_fits_without_conflict(s))
        return false;
    shrink_drop_marked(s);
    return true;
}

static bool shrink_remove_run(struct shrinking *s, uint32_t first, uint32_t length)
{
    bool any = false;

    shrink_keep_all(s);
    for (uint32_t i = 0; i < length; i++)
        any |= shrink_mark(s, first + i);
    return any && shrink_remove_marked(s);
}

static bool shrink_remove_runs(struct shrinking *s, uint32_t length)
{
    bool any = false;

    for (uint32_t first = 0; first < s->best->ops;) {
        if (shrink_remove_run(s, first, length))
            any = true;
        else
            first += length;
    }
    return any;
}

static bool shrink_remove_pair(struct shrinking *s, uint32_t a, uint32_t b)
{
    shrink_keep_all(s);
    return shrink_mark(s, a) && shrink_mark(s, b) && shrink_remove_marked(s);
}

/* A push and its pop, an acquire and its release: neither can go without the other. */
static bool shrink_remove_pairs(struct shrinking *s)
{
    bool any = false;

    for (uint32_t a = 0; a < s->best->ops; a++) {
        for (uint32_t b = a + 1; b < s->best->ops; b++) {
            while (shrink_remove_pair(s, a, b))
                any = true;
        }
    }
    return any;
}

static void shrink_all(struct shrinking *s)
{
    for (uint32_t length = s->best->ops / 2; length > 1; length /= 2)
        shrink_remove_runs(s, length);
    do
        shrink_remove_runs(s, 1);
    while (shrink_remove_pairs(s));
}

static bool shrink_conflict_is(struct shrinking *s, uint32_t first, uint32_t length)
{
    const uint32_t culprit = s->best->event[s->best->events - 1] / 2;

    shrink_keep_all(s);
    for (uint32_t i = 0; i < s->best->ops; i++)
        s->conflict[i] = i != culprit && i >= first && i - first < length;
    s->conflicts = true;
    return shrink_fits_without_conflict(s);
}

/*
 * The shortest and latest run of operations without which the culprit's return is right.
 * There is none when nothing in the history could ever explain it.
 */
static void shrink_find_conflict(struct shrinking *s)
{
    for (uint32_t length = 1; length < s->best->ops; length++) {
        for (uint32_t first = s->best->ops - length + 1; first > 0; first--) {
            if (shrink_conflict_is(s, first - 1, length))
                return;
        }
    }
    s->conflicts = false;
}

/* The prefix that fails, without the other keys. */
static void shrink_select_culprit(struct shrinking *s, const struct loco_sim_history *h,
                                  const struct loco_sim_linear_report *report)
{
    for (uint32_t i = 0; i < h->ops; i++)
        s->choice[i] = h->op[i].key == report->key ? LOCO_SIM_KEEP : LOCO_SIM_DROP;
    loco_sim_history_select(s->best, h, s->choice, report->at + 1);
}

int loco_sim_linear_shrink(struct loco_sim_linear *linear, const struct loco_sim_history *history,
                           const struct loco_sim_model *model, struct loco_sim_history *small)
{
    struct loco_sim_linear_report report;
    struct loco_sim_history spare = {0};
    struct shrinking s = {.linear = linear, .model = model, .best = small, .trial = &spare};
    int rc = -ENOMEM;

    if (loco_sim_linear_check(linear, history, model, &report) != LOCO_SIM_NOT_LINEARIZABLE)
        return -EINVAL;
    s.choice = calloc(history->ops, sizeof(*s.choice));
    s.without = calloc(history->ops, sizeof(*s.without));
    s.conflict = calloc(history->ops, sizeof(*s.conflict));
    if (!s.choice || !s.without || !s.conflict || loco_sim_history_init(&spare, history->ops))
        goto out;

    shrink_select_culprit(&s, history, &report);
    shrink_find_conflict(&s);
    shrink_all(&s);
    if (s.best != small) {
        shrink_keep_all(&s);
        loco_sim_history_select(small, s.best, s.choice, s.best->events);
    }
    rc = 0;
out:
    loco_sim_history_fini(&spare);
    free(s.choice);
    free(s.without);
    free(s.conflict);
    return rc;
}
