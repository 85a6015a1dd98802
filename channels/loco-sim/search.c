/* Which runs to make: depth first, and PCT. */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "guide_internal.h"

/* --- depth first --------------------------------------------------------------------------------
 */

double loco_sim_seconds_used(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool search_is_over(const struct loco_sim_search *search)
{
    return search->until > 0 && loco_sim_seconds_used() > search->until;
}

static int explore(const struct loco_sim_case *c, struct loco_sim_budget left,
                   struct loco_sim_answers *answers, struct loco_sim_search *search);

/* What others touched in the branch's runs counts for the answers before it, too. */
static void explore_sum(struct branch *b, struct loco_sim_search *search, size_t answers)
{
    loco_sim_touches_free(&b->others);
    b->others = search->others[answers];
    b->made = true;
    search->others[answers] = (struct touches){0};
}

static int explore_branch(const struct loco_sim_case *c, struct loco_sim_budget left,
                          struct loco_sim_answers *answers, struct branch *b,
                          struct loco_sim_search *search)
{
    unsigned *budget =
        loco_sim_kinds[b->what].class == PREEMPTION ? &left.preemptions : &left.delays;
    int rc = 0;

    if (*budget == 0)
        return 0;
    --*budget;
    for (uint64_t value = loco_sim_kinds[b->what].branches == TO_LARGEST ? b->bound - 1 : 0;
         !rc && value < b->bound && !search_is_over(search); value++) {
        if (value == b->usual)
            continue;
        if (!loco_sim_answers_add(answers,
                                  (struct loco_sim_answer){b->what, false, b->number, value}))
            return -ENOMEM;
        rc = explore(c, left, answers, search);
        answers->count -= rc == 0;
    }
    if (!rc)
        explore_sum(b, search, answers->count);
    return rc;
}

/* Makes the run of the answers, and all that add others after them: the latest first, as they tell
 * which of the earlier ones are needed. */
static int explore(const struct loco_sim_case *c, struct loco_sim_budget left,
                   struct loco_sim_answers *answers, struct loco_sim_search *search)
{
    struct guide g = {.director.together = true, .branches = true, .reduces = !search->every};
    int rc = loco_sim_guide_give(&g, answers);

    search->runs++;
    if (!rc)
        rc = loco_sim_guide_run(&g, c, NULL);
    for (size_t i = 0; g.away && i < answers->count; i++)
        loco_sim_touches_merge(&search->others[i], &g.away[i].others);
    for (size_t i = g.branch_count; !rc && i-- > 0 && !search_is_over(search);)
        if (!loco_sim_reduce_skips(&g, &g.branch[i]))
            rc = explore_branch(c, left, answers, &g.branch[i], search);
    loco_sim_guide_free(&g);
    return rc;
}

int loco_sim_search_depth_first(const struct loco_sim_case *c, struct loco_sim_budget budget,
                                struct loco_sim_answers *answers, struct loco_sim_search *search)
{
    *answers = (struct loco_sim_answers){0};
    search->runs = 0;
    int rc = explore(c, budget, answers, search);
    for (size_t i = 0; i < ANSWERS_MAX; i++)
        loco_sim_touches_free(&search->others[i]);
    return rc;
}

int loco_sim_depth_first(const struct loco_sim_case *c, struct loco_sim_budget budget,
                         struct loco_sim_answers *answers, uint64_t *runs)
{
    struct loco_sim_search search = {.until = 0};
    int rc = loco_sim_search_depth_first(c, budget, answers, &search);

    *runs = search.runs;
    return rc;
}

/* --- PCT ----------------------------------------------------------------------------------------
 */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

int loco_sim_search_pct(const struct loco_sim_case *c, uint64_t random, unsigned depth,
                        struct loco_sim_size *size, struct loco_sim_answers *answers)
{
    struct guide g = {
        .director.together = true, .depth = depth, .random = random * 0x9e3779b97f4a7c15u | 1};
    int rc = 0;

    g.moment = calloc(depth, sizeof *g.moment);
    if (!g.moment)
        return -ENOMEM;
    for (unsigned i = 0; i < 8; i++)
        loco_sim_guide_draw(&g, 1);
    for (unsigned i = 0; i + 1 < depth; i++)
        g.moment[i] = 1 + loco_sim_guide_draw(&g, larger(size->moments, 1));
    rc = loco_sim_guide_run(&g, c, answers);
    size->ranked = larger(size->ranked, g.size.ranked + c->workload->nodes * c->workload->threads);
    size->moments = larger(size->moments, g.size.moments);
    loco_sim_guide_free(&g);
    return rc;
}

int loco_sim_pct(const struct loco_sim_case *c, unsigned depth, struct loco_sim_size *size,
                 struct loco_sim_answers *answers)
{
    return loco_sim_search_pct(c, c->seed, depth, size, answers);
}

double loco_sim_pct_chance(const struct loco_sim_size *size, unsigned depth)
{
    double chance = 1 / (double)larger(size->ranked, 1);

    for (unsigned i = 1; i < depth; i++)
        chance /= (double)larger(size->moments, 1);
    return chance;
}
