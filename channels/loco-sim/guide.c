#include "guide_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static unsigned slot_of(enum loco_choice what, bool is_early)
{
    return what + (is_early ? LOCO_CHOICES : 0);
}

static int by_slot(const void *one, const void *other)
{
    const struct loco_sim_answer *a = one, *b = other;

    if (a->early != b->early || a->what != b->what)
        return slot_of(a->what, a->early) < slot_of(b->what, b->early) ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

int loco_sim_guide_give(struct guide *g, const struct loco_sim_answers *answers)
{
    g->given = malloc((answers->count + 1) * sizeof *g->given);
    if (!g->given)
        return -ENOMEM;
    g->given_count = answers->count;
    if (answers->count > 0)
        memcpy(g->given, answers->answer, answers->count * sizeof *g->given);
    qsort(g->given, g->given_count, sizeof *g->given, by_slot);
    for (size_t slot = 0, next = 0; slot < SLOTS; slot++) {
        while (next < g->given_count && slot_of(g->given[next].what, g->given[next].early) < slot)
            next++;
        g->next[slot] = next;
    }
    return 0;
}

void loco_sim_guide_free(struct guide *g)
{
    loco_sim_reduce_free(g);
    loco_sim_answers_free(&g->made);
    free(g->given);
    free(g->branch);
    free(g->moment);
}

static bool guide_find(struct guide *g, unsigned slot, uint64_t *value)
{
    const struct loco_sim_answer *a = &g->given[g->next[slot]];

    if (g->next[slot] >= g->given_count || slot_of(a->what, a->early) != slot ||
        a->number != g->asked[slot])
        return false;
    g->next[slot]++;
    *value = a->value;
    return true;
}

static void guide_note_branch(struct guide *g, enum loco_choice what, uint64_t bound,
                              uint64_t usual)
{
    if (g->branch_count == g->branch_room) {
        size_t room = g->branch_room ? 2 * g->branch_room : 256;
        void *more = realloc(g->branch, room * sizeof *g->branch);
        if (!more) {
            g->failed = true;
            return;
        }
        g->branch = more;
        g->branch_room = room;
    }
    g->branch[g->branch_count++] =
        (struct branch){.what = what, .number = g->asked[what], .bound = bound, .usual = usual};
}

uint64_t loco_sim_guide_draw(struct guide *g, uint64_t below)
{
    g->random ^= g->random << 13;
    g->random ^= g->random >> 7;
    g->random ^= g->random << 17;
    return g->random % below;
}

/* Ranks are random. Once the actors act, a thread that waits is put last all the same. */
static uint64_t pct_answer(struct guide *g, enum loco_choice what, uint64_t bound, uint64_t usual)
{
    const bool acting = g->director.acting;

    g->size.ranked += what == LOCO_CHOICE_RANK && acting;
    if (what == LOCO_CHOICE_RANK || (what == LOCO_CHOICE_REST && !g->acted))
        return 1 + loco_sim_guide_draw(g, bound - 1);
    if (!acting || (what != LOCO_CHOICE_SWITCH && what != LOCO_CHOICE_DELAY))
        return usual;
    g->size.moments++;
    for (unsigned i = 0; i + 1 < g->depth; i++)
        if (g->moment[i] == g->size.moments)
            return 1;
    return usual;
}

static void guide_tell(const struct guide *g, const struct loco_sim_answer *answer)
{
    const struct loco_sim_history *h = g->director.history;

    if (h->events > 0) {
        uint32_t last = h->event[h->events - 1];
        fprintf(stderr, "after #%" PRIu32 " has %s: ", h->op[last / 2].id,
                last & 1 ? "returned" : "begun");
    }
    loco_sim_answer_print(answer, stderr);
    fputs(", ", stderr);
    loco_sim_describe(g->director.sim, stderr);
    fputc('\n', stderr);
}

static uint64_t guide_choose(struct loco_sim_chooser *chooser, enum loco_choice what,
                             uint64_t bound, uint64_t usual, uint64_t drawn)
{
    struct guide *g = (struct guide *)chooser;
    uint64_t value = g->as_drawn ? drawn : usual;

    g->acted |= g->director.acting;
    const unsigned slot = slot_of(what, !g->acted);
    g->asked[slot]++;
    const bool given = g->given && guide_find(g, slot, &value);
    const bool branches = !given && g->branches && g->director.acting &&
                          g->made.count == g->given_count && loco_sim_kinds[what].branches != FIXED;
    if (branches)
        guide_note_branch(g, what, bound, usual);
    if (given)
        loco_sim_reduce_given(g, what, value);
    else
        loco_sim_reduce_choice(g, what, branches);
    if (g->depth > 0)
        value = pct_answer(g, what, bound, usual);
    if (value >= bound)
        value = usual;
    if (value == usual && !given)
        return usual;
    const struct loco_sim_answer answer = {what, !g->acted, g->asked[slot], value};
    g->failed |= !loco_sim_answers_add(&g->made, answer);
    if (g->loud && loco_sim_kinds[what].class != OTHER)
        guide_tell(g, &answer);
    return value;
}

int loco_sim_guide_run(struct guide *g, const struct loco_sim_case *c,
                       struct loco_sim_answers *made)
{
    g->director.chooser.choose = guide_choose;
    if (g->reduces)
        loco_sim_reduce_begin(g, &g->director.chooser);
    int rc = loco_sim_workload_run_by(c->workload, c->seed, c->chaos, g->loud, &g->director);

    if (g->failed)
        rc = -ENOMEM;
    if (made) {
        loco_sim_answers_free(made);
        *made = g->made;
        made->drawn = !g->director.together;
        g->made = (struct loco_sim_answers){0};
    }
    return rc;
}

int loco_sim_record(const struct loco_sim_case *c, struct loco_sim_answers *answers)
{
    struct guide g = {.as_drawn = true};
    int rc = loco_sim_guide_run(&g, c, answers);

    loco_sim_guide_free(&g);
    return rc;
}

int loco_sim_guide_replay(const struct loco_sim_case *c, const struct loco_sim_answers *answers,
                          bool loud, struct loco_sim_answers *made)
{
    struct guide g = {.director.together = !answers->drawn, .loud = loud};
    int rc = loco_sim_guide_give(&g, answers);

    if (!rc)
        rc = loco_sim_guide_run(&g, c, made);
    loco_sim_guide_free(&g);
    return rc;
}

int loco_sim_replay(const struct loco_sim_case *c, const struct loco_sim_answers *answers,
                    bool loud)
{
    return loco_sim_guide_replay(c, answers, loud, NULL);
}
