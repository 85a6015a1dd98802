#include "explore.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum class { OTHER, PREEMPTION, DELAY, EARLY }; /* early ones are of another class, too */

static const struct kind {
    const char *name;
    enum class class;
    enum { FIXED, TO_ANY, TO_LARGEST } branches; /* depth first: to which answers */
} kinds[LOCO_CHOICES] = {
    [LOCO_CHOICE_TIME] = {"time", OTHER, FIXED},
    [LOCO_CHOICE_TURN] = {"turn", OTHER, FIXED},
    [LOCO_CHOICE_RANK] = {"rank", OTHER, FIXED},
    [LOCO_CHOICE_REST] = {"rest", OTHER, FIXED},
    [LOCO_CHOICE_SWITCH] = {"switch", PREEMPTION, TO_ANY},
    [LOCO_CHOICE_INTERRUPT] = {"interrupt", PREEMPTION, FIXED},
    [LOCO_CHOICE_COUNTDOWN] = {"countdown", PREEMPTION, FIXED},
    [LOCO_CHOICE_STALL] = {"stall", PREEMPTION, FIXED},
    [LOCO_CHOICE_DELAY] = {"delay", DELAY, TO_ANY},
    [LOCO_CHOICE_ORDER] = {"order", DELAY, TO_ANY},
    [LOCO_CHOICE_TEAR] = {"tear", DELAY, TO_ANY},
    [LOCO_CHOICE_WORD] = {"word", DELAY, TO_ANY},
    [LOCO_CHOICE_STRIDE] = {"stride", DELAY, FIXED},
    [LOCO_CHOICE_STREAM] = {"stream", DELAY, TO_ANY},
    [LOCO_CHOICE_AGAIN] = {"again", DELAY, TO_ANY},
    [LOCO_CHOICE_PATIENCE] = {"patience", DELAY, FIXED},
    [LOCO_CHOICE_STORE] = {"store", DELAY, TO_LARGEST},
    [LOCO_CHOICE_ROOM] = {"room", DELAY, FIXED},
    [LOCO_CHOICE_NEWS] = {"news", DELAY, FIXED},
};

/* --- answers ------------------------------------------------------------------------------------
 */

void loco_sim_answers_free(struct loco_sim_answers *answers)
{
    free(answers->answer);
    *answers = (struct loco_sim_answers){0};
}

static bool answers_add(struct loco_sim_answers *answers, struct loco_sim_answer answer)
{
    if (answers->count == answers->room) {
        size_t room = answers->room ? 2 * answers->room : 64;
        void *more = realloc(answers->answer, room * sizeof answer);
        if (!more)
            return false;
        answers->answer = more;
        answers->room = room;
    }
    answers->answer[answers->count++] = answer;
    return true;
}

static const char early[] = "early";

static int answers_read_one(const char *text, struct loco_sim_answer *answer)
{
    const char *colon = strchr(text, ':');
    char *end;

    for (unsigned what = 0; colon && what < LOCO_CHOICES; what++) {
        if (strncmp(kinds[what].name, text, (size_t)(colon - text)) != 0 ||
            kinds[what].name[colon - text])
            continue;
        *answer = (struct loco_sim_answer){.what = what, .value = 1};
        answer->number = (uint32_t)strtoul(colon + 1, &end, 10);
        answer->early = strncmp(end, early, sizeof early - 1) == 0;
        end += answer->early ? sizeof early - 1 : 0;
        if (*end == '=')
            answer->value = strtoull(end + 1, &end, 10);
        return *end || answer->number == 0 ? -EINVAL : 0;
    }
    return -EINVAL;
}

int loco_sim_answers_read(struct loco_sim_answers *answers, const char *text)
{
    char *words = strdup(text), *rest = words;
    int rc = words ? 0 : -ENOMEM;

    *answers = (struct loco_sim_answers){0};
    for (const char *word; !rc && (word = strsep(&rest, " "));) {
        struct loco_sim_answer answer;
        answers->drawn |= strcmp(word, "drawn") == 0;
        if (!*word || strcmp(word, "drawn") == 0)
            continue;
        rc = answers_read_one(word, &answer);
        if (!rc && !answers_add(answers, answer))
            rc = -ENOMEM;
    }
    free(words);
    if (rc)
        loco_sim_answers_free(answers);
    return rc;
}

static void answer_print(const struct loco_sim_answer *a, FILE *file)
{
    fprintf(file, "%s:%" PRIu32 "%s", kinds[a->what].name, a->number, a->early ? early : "");
    if (a->value != 1)
        fprintf(file, "=%" PRIu64, a->value);
}

void loco_sim_answers_print(const struct loco_sim_answers *answers, FILE *file)
{
    fputs(answers->drawn ? "drawn" : "", file);
    for (size_t i = 0; i < answers->count; i++) {
        if (i > 0 || answers->drawn)
            fputc(' ', file);
        answer_print(&answers->answer[i], file);
    }
}

/* --- one run ------------------------------------------------------------------------------------
 */

/* A choice at which depth first could branch. */
struct branch {
    enum loco_choice what;
    uint32_t number;
    uint64_t bound, usual;
};

enum { SLOTS = 2 * LOCO_CHOICES }; /* kinds, early and later */

struct guide {
    struct loco_sim_director director; /* the first member */
    struct loco_sim_answers made;      /* not the usual ones */
    uint32_t asked[SLOTS];
    bool failed, as_drawn, loud; /* failed: no memory */
    bool acted;                  /* an actor acts, or has acted */

    /* Given answers, sorted, and where each kind's next one is. */
    struct loco_sim_answer *given;
    size_t given_count, next[SLOTS];

    /* Depth first: the branches after the last given answer. */
    bool branches;
    struct branch *branch;
    size_t branch_count, branch_room;

    /* PCT: */
    unsigned depth;
    uint64_t random;
    uint64_t *moment; /* where one is put last; depth - 1 of them */
    struct loco_sim_size size;
};

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

static int guide_give(struct guide *g, const struct loco_sim_answers *answers)
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

static void guide_free(struct guide *g)
{
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
    g->branch[g->branch_count++] = (struct branch){what, g->asked[what], bound, usual};
}

static uint64_t pct_draw(struct guide *g, uint64_t below)
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
        return 1 + pct_draw(g, bound - 1);
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
    answer_print(answer, stderr);
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
    if (!given && g->branches && g->director.acting && g->made.count == g->given_count &&
        kinds[what].branches != FIXED)
        guide_note_branch(g, what, bound, usual);
    if (g->depth > 0)
        value = pct_answer(g, what, bound, usual);
    if (value >= bound)
        value = usual;
    if (value == usual && !given)
        return usual;
    const struct loco_sim_answer answer = {what, !g->acted, g->asked[slot], value};
    g->failed |= !answers_add(&g->made, answer);
    if (g->loud && kinds[what].class != OTHER)
        guide_tell(g, &answer);
    return value;
}

/* Runs, and moves the answers that were made to `made`, unless it is NULL. */
static int guide_run(struct guide *g, const struct loco_sim_case *c, struct loco_sim_answers *made)
{
    g->director.chooser.choose = guide_choose;
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
    int rc = guide_run(&g, c, answers);

    guide_free(&g);
    return rc;
}

static int replay(const struct loco_sim_case *c, const struct loco_sim_answers *answers, bool loud,
                  struct loco_sim_answers *made)
{
    struct guide g = {.director.together = !answers->drawn, .loud = loud};
    int rc = guide_give(&g, answers);

    if (!rc)
        rc = guide_run(&g, c, made);
    guide_free(&g);
    return rc;
}

int loco_sim_replay(const struct loco_sim_case *c, const struct loco_sim_answers *answers,
                    bool loud)
{
    return replay(c, answers, loud, NULL);
}

/* --- shrinking ----------------------------------------------------------------------------------
 */

static bool answer_is_of(const struct loco_sim_answer *a, enum class class)
{
    return class == EARLY ? a->early : kinds[a->what].class == class;
}

/* Returns the answers without those of the class from its place `first` on, `count` of them. */
static int answers_without(const struct loco_sim_answers *all, enum class class, size_t first,
                           size_t count, struct loco_sim_answers *some)
{
    size_t place = 0;

    *some = (struct loco_sim_answers){.drawn = all->drawn};
    for (size_t i = 0; i < all->count; i++) {
        const bool ours = answer_is_of(&all->answer[i], class);
        const bool dropped = ours && place >= first && place < first + count;
        place += ours;
        if (!dropped && !answers_add(some, all->answer[i])) {
            loco_sim_answers_free(some);
            return -ENOMEM;
        }
    }
    return 0;
}

static size_t answers_of(const struct loco_sim_answers *answers, enum class class)
{
    size_t count = 0;

    for (size_t i = 0; i < answers->count; i++)
        count += answer_is_of(&answers->answer[i], class);
    return count;
}

/* Drops `count` answers from `first` on if the run still fails. Returns as a run does. */
static int shrink_once(const struct loco_sim_case *c, struct loco_sim_answers *answers,
                       enum class class, size_t first, size_t count)
{
    struct loco_sim_answers some, made = {0};
    int rc = answers_without(answers, class, first, count, &some);

    if (!rc)
        rc = replay(c, &some, false, &made);
    loco_sim_answers_free(&some);
    if (rc != 1) {
        loco_sim_answers_free(&made);
        return rc;
    }
    loco_sim_answers_free(answers);
    *answers = made;
    return rc;
}

/* Large parts first, from the end, since what comes later has no effect on what came before. Of
 * turns there are thousands in a recorded run, and each is of little interest. */
static int shrink_class(const struct loco_sim_case *c, struct loco_sim_answers *answers,
                        enum class class)
{
    const size_t all = answers_of(answers, class), least = class == OTHER ? all / 16 : 0;

    for (size_t part = all; part > least; part /= 2)
        for (size_t end = answers_of(answers, class); end > 0;) {
            const size_t first = end > part ? end - part : 0;
            if (shrink_once(c, answers, class, first, end - first) < 0)
                return -ENOMEM;
            const size_t left = answers_of(answers, class);
            end = first < left ? first : left;
        }
    return 0;
}

/* Runs that fail print why, each. */
static int silence(int kept)
{
    if (kept >= 0) {
        fflush(stderr);
        dup2(kept, STDERR_FILENO);
        close(kept);
        return -1;
    }
    fflush(stderr);
    kept = dup(STDERR_FILENO);
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDERR_FILENO);
        close(null);
    }
    return kept;
}

int loco_sim_shrink(const struct loco_sim_case *c, struct loco_sim_answers *answers)
{
    static const enum class order[] = {PREEMPTION, DELAY, OTHER};
    const int kept = silence(-1);
    int rc = shrink_once(c, answers, EARLY, 0, 0);

    if (rc == 1 && shrink_once(c, answers, EARLY, 0, SIZE_MAX) < 0)
        rc = -ENOMEM;
    for (size_t i = 0; rc == 1 && i < sizeof order / sizeof order[0]; i++)
        if (shrink_class(c, answers, order[i]) < 0)
            rc = -ENOMEM;
    if (kept >= 0)
        silence(kept);
    return rc;
}

/* --- depth first --------------------------------------------------------------------------------
 */

static int explore(const struct loco_sim_case *c, struct loco_sim_budget left,
                   struct loco_sim_answers *answers, uint64_t *runs);

static int explore_branch(const struct loco_sim_case *c, struct loco_sim_budget left,
                          struct loco_sim_answers *answers, const struct branch *b, uint64_t *runs)
{
    unsigned *budget = kinds[b->what].class == PREEMPTION ? &left.preemptions : &left.delays;
    int rc = 0;

    if (*budget == 0)
        return 0;
    --*budget;
    for (uint64_t value = kinds[b->what].branches == TO_LARGEST ? b->bound - 1 : 0;
         !rc && value < b->bound; value++) {
        if (value == b->usual)
            continue;
        if (!answers_add(answers, (struct loco_sim_answer){b->what, false, b->number, value}))
            return -ENOMEM;
        rc = explore(c, left, answers, runs);
        answers->count -= rc == 0;
    }
    return rc;
}

/* Makes the run of the answers, and all that add others after them. */
static int explore(const struct loco_sim_case *c, struct loco_sim_budget left,
                   struct loco_sim_answers *answers, uint64_t *runs)
{
    struct guide g = {.director.together = true, .branches = true};
    int rc = guide_give(&g, answers);

    ++*runs;
    if (!rc)
        rc = guide_run(&g, c, NULL);
    for (size_t i = 0; !rc && i < g.branch_count; i++)
        rc = explore_branch(c, left, answers, &g.branch[i], runs);
    guide_free(&g);
    return rc;
}

int loco_sim_depth_first(const struct loco_sim_case *c, struct loco_sim_budget budget,
                         struct loco_sim_answers *answers, uint64_t *runs)
{
    *answers = (struct loco_sim_answers){0};
    *runs = 0;
    return explore(c, budget, answers, runs);
}

/* --- PCT ----------------------------------------------------------------------------------------
 */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

int loco_sim_pct(const struct loco_sim_case *c, unsigned depth, struct loco_sim_size *size,
                 struct loco_sim_answers *answers)
{
    struct guide g = {
        .director.together = true, .depth = depth, .random = c->seed * 0x9e3779b97f4a7c15u | 1};
    int rc = 0;

    g.moment = calloc(depth, sizeof *g.moment);
    if (!g.moment)
        return -ENOMEM;
    for (unsigned i = 0; i < 8; i++)
        pct_draw(&g, 1);
    for (unsigned i = 0; i + 1 < depth; i++)
        g.moment[i] = 1 + pct_draw(&g, larger(size->moments, 1));
    rc = guide_run(&g, c, answers);
    size->ranked = larger(size->ranked, g.size.ranked + c->workload->nodes * c->workload->threads);
    size->moments = larger(size->moments, g.size.moments);
    guide_free(&g);
    return rc;
}

double loco_sim_pct_chance(const struct loco_sim_size *size, unsigned depth)
{
    double chance = 1 / (double)larger(size->ranked, 1);

    for (unsigned i = 1; i < depth; i++)
        chance /= (double)larger(size->moments, 1);
    return chance;
}
