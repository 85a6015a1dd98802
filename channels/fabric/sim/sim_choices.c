/* Who chooses: the seed or a chooser. And what is usual: the turn of the highest rank. */
#include "sim_internal.h"

/* --- asking ----------------------------------------------------------------------------------- */

void loco_sim_choose_by(struct loco_fabric *fabric, struct loco_sim_chooser *chooser)
{
    struct sim *s = (struct sim *)fabric;

    s->chooser = chooser;
    s->asks = chooser || s->fair;
    s->notes = chooser && chooser->note;
}

/* Time and turns are chosen fairly by the seed. All else that is not usual holds somebody up. */
static bool choice_is_fair(enum loco_choice what)
{
    return what == LOCO_CHOICE_TIME || what == LOCO_CHOICE_TURN;
}

uint64_t sim_ask_now(struct sim *s, enum loco_choice what, uint64_t bound, uint64_t usual,
                     uint64_t drawn)
{
    if (s->fair)
        return choice_is_fair(what) ? drawn : usual;
    const uint64_t chosen = s->chooser->choose(s->chooser, what, bound, usual, drawn);
    return chosen < bound ? chosen : usual;
}

/* --- telling ---------------------------------------------------------------------------------- */

uint64_t loco_sim_subject(const struct loco_fabric *fabric)
{
    const struct sim *s = (const struct sim *)fabric;

    return s->subject ? s->subject->id : s->current->number;
}

void sim_note_words(struct sim *s, uint64_t who, enum loco_sim_deed deed, const void *at,
                    size_t size)
{
    const uint64_t first = s->notes ? sim_number_of_word(s, at) : 0;

    for (uint64_t i = 0; first && i < (size + 7) / 8; i++)
        sim_note(s, who, deed, first + i);
}

void sim_note_run(struct sim *s, const struct sim_fiber *self, const struct sim_fiber *next)
{
    const uint64_t node = next->node ? next->node->base.id : UINT32_MAX;

    sim_note(s, self->number, LOCO_SIM_PAUSES, 0);
    sim_note(s, next->number, LOCO_SIM_RUNS, SIM_A_NODE | node);
    if (!s->announced)
        sim_note(s, next->number, LOCO_SIM_HIDES, 0);
}

/* --- ranks ------------------------------------------------------------------------------------ */

/* A rank that is chosen is above the last ones, and below the usual ones of those that begin. */
enum { CHOSEN = SIM_LAST + 1, CHOSEN_RANKS = 256 };

uint64_t sim_rank(struct sim *s, enum sim_band band)
{
    const enum loco_choice what = band == SIM_LAST ? LOCO_CHOICE_REST : LOCO_CHOICE_RANK;
    const uint64_t chosen = sim_ask(s, what, CHOSEN_RANKS, 0, 0);
    const uint64_t later = ++s->ranks;

    if (chosen > 0)
        return (CHOSEN * 2ull << 48) + (chosen << 40) - later;
    return ((band == SIM_LAST ? 1ull : 2ull * CHOSEN + 2 * band) << 48) - later;
}

bool sim_rank_is_chosen(uint64_t rank)
{
    return rank > 1ull << 48;
}

/* Below the ranks that threads will get in so many waits. Else one whose
 * effect is waited for would come before the next thread that waits for something else. */
enum { FAR = 200 };

void sim_put_last(struct sim *s, uint64_t *rank)
{
    *rank = (1ull << 48) - (++s->ranks + FAR);
}

static struct sim_fiber *choice_best_fiber(const struct sim *s, const void *except, bool patient)
{
    struct sim_fiber *best = NULL;

    for (unsigned i = 0; i < s->crowd_count; i++) {
        struct sim_fiber *f = s->crowd[i];
        if (f != except && (!best || f->rank > best->rank) && (patient || f->stall == 0) &&
            sim_may_go_on(s, f))
            best = f;
    }
    return best;
}

struct sim_turn sim_usual_turn(const struct sim *s, const void *except)
{
    for (int patient = 0; patient < 2; patient++) {
        struct operation *o = sim_best_operation(s, except, patient);
        struct sim_fiber *f = choice_best_fiber(s, except, patient);
        if (o && (!f || o->rank > f->rank))
            return (struct sim_turn){.operation = o};
        if (f)
            return (struct sim_turn){.fiber = f};
    }
    return (struct sim_turn){0};
}

/* Whether the one with the turn is put last, where that makes a difference. */
static bool choice_puts_last(struct sim *s, enum loco_choice what, const void *whom, uint64_t *rank)
{
    const struct sim_turn other = sim_usual_turn(s, whom);

    if (!(other.operation || other.fiber) || !sim_ask(s, what, 2, 0, 0))
        return false;
    sim_put_last(s, rank);
    return true;
}

bool sim_is_delayed(struct sim *s, struct operation *o)
{
    s->subject = o;
    return o->patience == 0 && choice_puts_last(s, LOCO_CHOICE_DELAY, o, &o->rank);
}

bool sim_is_switched(struct sim *s, const void *at)
{
    s->subject = NULL;
    s->subject_at = at;
    return choice_puts_last(s, LOCO_CHOICE_SWITCH, s->current, &s->current->rank);
}
