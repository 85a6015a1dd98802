/*
 * Which runs depth first need not make: dynamic partial-order reduction.
 *
 * Let a thread or an operation be put last at one of its choices, and let it be put last at its
 * next one instead. The runs differ by what it does between the two: others act before that, or
 * after it. If nothing that the others do meanwhile has to do with it, the runs are the same but
 * for the order of things that do not matter. So the later choice is explored first, with all runs
 * that begin so, and what others touch in them is noted. The earlier one is explored only if that
 * and what lies between the two meet.
 *
 * Two operations of one link always meet, and so do two threads of one node, since they may share
 * memory that is not told of. What a thread posts, and what depends on the time, is never skipped:
 * the operation would act earlier, or the time be another.
 *
 * "Dynamic partial-order reduction for model checking software" (Flanagan, Godefroid) has the idea:
 * later choices say at which earlier ones an order is to be tried. Here it is only used between
 * neighbouring choices of one thread, so both runs cost the same of the budget.
 */
#include <stdlib.h>

#include "guide_internal.h"

enum { OF_THREAD, OF_OPERATION };

/* The number of the history, in which actors record. The simulator gives larger ones. */
enum { HISTORY = 1 };

static struct branch *reduce_open(struct guide *g, uint64_t who)
{
    for (int i = 0; i < 2; i++)
        if (g->open[i] && g->branch[g->open[i] - 1].who == who)
            return &g->branch[g->open[i] - 1];
    return NULL;
}

static void touch(struct guide *g, uint64_t who, uint64_t what, bool written)
{
    struct branch *own = reduce_open(g, who);

    if (own)
        loco_sim_touches_add(&own->own, what, written);
    for (size_t i = 0; i < g->given_so_far; i++)
        if (g->away[i].is_away && g->away[i].who != who)
            loco_sim_touches_add(&g->away[i].others, what, written);
}

static void hide(struct guide *g, uint64_t who, bool from_others)
{
    struct branch *own = reduce_open(g, who);

    if (own)
        own->own.hidden = true;
    for (size_t i = 0; from_others && i < g->given_so_far; i++)
        g->away[i].others.hidden |= g->away[i].is_away && g->away[i].who != who;
}

static void look_at_time(struct guide *g, uint64_t who)
{
    hide(g, who, false);
    for (size_t i = 0; i < g->given_so_far; i++)
        g->away[i].others.timed |= g->away[i].is_away && g->away[i].who != who;
}

static bool is_operation(uint64_t who)
{
    return who > UINT32_MAX;
}

/* One goes on: so it is no longer away, and what others of its kind began is over. */
static void run_on(struct guide *g, uint64_t who, uint64_t what)
{
    for (size_t i = 0; i < g->given_so_far; i++)
        g->away[i].is_away &= g->away[i].who != who;
    if (!is_operation(who)) {
        g->thread = who;
        g->thread_node = what;
        g->open[OF_THREAD] = g->open[OF_OPERATION] = 0;
        touch(g, who, g->thread_node, true);
        return;
    }
    if (g->open[OF_OPERATION] && g->branch[g->open[OF_OPERATION] - 1].who != who)
        g->open[OF_OPERATION] = 0;
    touch(g, who, what, true);
}

/* What an actor records is between the thread's other deeds. */
static void see_history(struct guide *g)
{
    if (g->director.history->events == g->events)
        return;
    g->events = g->director.history->events;
    touch(g, g->thread, HISTORY, true);
}

static void reduce_note(struct loco_sim_chooser *chooser, uint64_t who, enum loco_sim_deed deed,
                        uint64_t what)
{
    struct guide *g = (struct guide *)chooser;

    see_history(g);
    switch (deed) {
    case LOCO_SIM_RUNS:
        run_on(g, who, what);
        break;
    case LOCO_SIM_PAUSES:
        g->open[OF_THREAD] = 0;
        break;
    case LOCO_SIM_READS:
        touch(g, who, what, false);
        break;
    case LOCO_SIM_WRITES:
        touch(g, who, what, true);
        break;
    case LOCO_SIM_POSTS:
        hide(g, who, false);
        touch(g, who, what, true);
        break;
    case LOCO_SIM_TIMES:
        look_at_time(g, who);
        break;
    case LOCO_SIM_HIDES:
        hide(g, who, true);
        break;
    }
}

void loco_sim_reduce_begin(struct guide *g, struct loco_sim_chooser *chooser)
{
    g->away = calloc(g->given_count + 1, sizeof *g->away);
    g->failed |= !g->away;
    if (g->away)
        chooser->note = reduce_note;
}

void loco_sim_reduce_free(struct guide *g)
{
    for (size_t i = 0; g->away && i < g->given_count; i++)
        loco_sim_touches_free(&g->away[i].others);
    free(g->away);
    for (size_t i = 0; i < g->branch_count; i++) {
        loco_sim_touches_free(&g->branch[i].own);
        loco_sim_touches_free(&g->branch[i].others);
    }
}

static bool puts_last(enum loco_choice what)
{
    return what == LOCO_CHOICE_SWITCH || what == LOCO_CHOICE_DELAY;
}

void loco_sim_reduce_choice(struct guide *g, enum loco_choice what, bool is_branch)
{
    if (!g->away || !puts_last(what))
        return;
    see_history(g);
    const uint64_t who = loco_sim_subject(g->director.sim);
    const int kind = is_operation(who) ? OF_OPERATION : OF_THREAD;
    struct branch *before = reduce_open(g, who);
    g->open[kind] = 0;
    if (!is_branch)
        return;
    struct branch *b = &g->branch[g->branch_count - 1];
    b->who = who;
    if (before && before != b)
        before->next = g->branch_count - 1;
    g->open[kind] = g->branch_count;
    if (kind == OF_THREAD)
        loco_sim_touches_add(&b->own, g->thread_node, true);
}

void loco_sim_reduce_given(struct guide *g, enum loco_choice what, uint64_t value)
{
    if (!g->away)
        return;
    struct away *a = &g->away[g->given_so_far++];
    a->is_away = puts_last(what) && value == 1;
    a->who = a->is_away ? loco_sim_subject(g->director.sim) : 0;
}

bool loco_sim_reduce_skips(struct guide *g, struct branch *b)
{
    const struct branch *next = &g->branch[b->next];

    if (!g->away || !puts_last(b->what) || b->next == 0 || next->what != b->what || !next->made ||
        (b->what == LOCO_CHOICE_DELAY && next->others.timed) ||
        loco_sim_touches_meet(&b->own, &next->others))
        return false;
    loco_sim_touches_merge(&b->others, &next->others);
    b->made = true;
    return true;
}
