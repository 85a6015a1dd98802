/*
 * A run that fails, with as few answers as can be.
 *
 * A run that was recorded from a seed has thousands of answers that are not the usual ones. Each
 * that is dropped changes what the later ones are about, so dropping ends early. Hence a simple run
 * that fails is looked for first, where all is usual but few things. What is found is another run
 * of the same workload and seed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "guide_internal.h"

/* Of the process's time: for each way to look for a simple run, and to drop answers. */
enum { LOOK_S = 2, DROP_S = 12 };

/* More answers than this make a run that is not simple. */
enum { FEW = 8 };

/* --- a simple run that fails --------------------------------------------------------------------
 */

static int look_depth_first(const struct loco_sim_case *c, struct loco_sim_budget budget,
                            struct loco_sim_answers *found)
{
    struct loco_sim_search search = {.until = loco_sim_seconds_used() + LOOK_S};
    int rc = loco_sim_search_depth_first(c, budget, found, &search);

    if (rc != 1)
        loco_sim_answers_free(found);
    return rc;
}

static int look_by_pct(const struct loco_sim_case *c, unsigned depth,
                       struct loco_sim_answers *found)
{
    const double until = loco_sim_seconds_used() + LOOK_S;
    struct loco_sim_size size = {0};
    int rc = 0;

    for (uint64_t random = 1; !rc && loco_sim_seconds_used() < until; random++)
        rc = loco_sim_search_pct(c, random, depth, &size, found);
    if (rc != 1)
        loco_sim_answers_free(found);
    return rc;
}

static int look(const struct loco_sim_case *c, struct loco_sim_answers *found)
{
    static const struct loco_sim_budget budgets[] = {{0, 1}, {1, 0}, {1, 1},
                                                     {0, 2}, {2, 0}, {2, 1}};
    static const unsigned depths[] = {2, 3, 4};
    int rc = 0;

    for (size_t i = 0; !rc && i < sizeof budgets / sizeof budgets[0]; i++)
        rc = look_depth_first(c, budgets[i], found);
    for (size_t i = 0; !rc && i < sizeof depths / sizeof depths[0]; i++)
        rc = look_by_pct(c, depths[i], found);
    return rc;
}

/* Puts a simple run in place of the answers, if there is one. */
static int simplify(const struct loco_sim_case *c, struct loco_sim_answers *answers)
{
    struct loco_sim_answers found;
    int rc = look(c, &found);

    if (rc == 1 && found.count < answers->count) {
        loco_sim_answers_free(answers);
        *answers = found;
    } else if (rc == 1) {
        loco_sim_answers_free(&found);
    }
    return rc < 0 ? rc : 0;
}

/* --- fewer answers ------------------------------------------------------------------------------
 */

/* What is dropped: early answers, of whatever class, or those of a class. */
enum sort { OF_OTHERS = OTHER, PREEMPTIONS = PREEMPTION, DELAYS = DELAY, EARLY };

static bool answer_is_of(const struct loco_sim_answer *a, enum sort sort)
{
    return sort == EARLY ? a->early : (enum sort)loco_sim_kinds[a->what].class == sort;
}

/* Returns the answers without those of the sort from its place `first` on, `count` of them. */
static int answers_without(const struct loco_sim_answers *all, enum sort sort, size_t first,
                           size_t count, struct loco_sim_answers *some)
{
    size_t place = 0;

    *some = (struct loco_sim_answers){.drawn = all->drawn};
    for (size_t i = 0; i < all->count; i++) {
        const bool ours = answer_is_of(&all->answer[i], sort);
        const bool dropped = ours && place >= first && place < first + count;
        place += ours;
        if (!dropped && !loco_sim_answers_add(some, all->answer[i])) {
            loco_sim_answers_free(some);
            return -ENOMEM;
        }
    }
    return 0;
}

static size_t answers_of(const struct loco_sim_answers *answers, enum sort sort)
{
    size_t count = 0;

    for (size_t i = 0; i < answers->count; i++)
        count += answer_is_of(&answers->answer[i], sort);
    return count;
}

/* Drops `count` answers from `first` on if the run still fails. Returns as a run does. */
static int shrink_once(const struct loco_sim_case *c, struct loco_sim_answers *answers,
                       enum sort sort, size_t first, size_t count)
{
    struct loco_sim_answers some, made = {0};
    int rc = answers_without(answers, sort, first, count, &some);

    if (!rc)
        rc = loco_sim_guide_replay(c, &some, false, &made);
    loco_sim_answers_free(&some);
    if (rc != 1) {
        loco_sim_answers_free(&made);
        return rc;
    }
    loco_sim_answers_free(answers);
    *answers = made;
    return rc;
}

/* Large parts first, from the end, since what comes later has no effect on what came before. */
static int shrink_sort(const struct loco_sim_case *c, struct loco_sim_answers *answers,
                       enum sort sort, double until)
{
    for (size_t part = answers_of(answers, sort); part > 0; part /= 2)
        for (size_t end = answers_of(answers, sort); end > 0 && loco_sim_seconds_used() < until;) {
            const size_t first = end > part ? end - part : 0;
            if (shrink_once(c, answers, sort, first, end - first) < 0)
                return -ENOMEM;
            const size_t left = answers_of(answers, sort);
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

static int shrink(const struct loco_sim_case *c, struct loco_sim_answers *answers)
{
    static const enum sort order[] = {PREEMPTIONS, DELAYS, OF_OTHERS};
    int rc = answers->count > FEW ? simplify(c, answers) : 0;
    const double until = loco_sim_seconds_used() + DROP_S;

    if (!rc)
        rc = shrink_once(c, answers, EARLY, 0, SIZE_MAX);
    for (size_t i = 0; rc >= 0 && i < sizeof order / sizeof order[0]; i++)
        rc = shrink_sort(c, answers, order[i], until);
    return rc < 0 ? rc : 0;
}

int loco_sim_shrink(const struct loco_sim_case *c, struct loco_sim_answers *answers)
{
    const int kept = silence(-1);
    int rc = shrink_once(c, answers, EARLY, 0, 0); /* nothing is dropped: does it fail? */

    if (rc == 1 && shrink(c, answers))
        rc = -ENOMEM;
    if (kept >= 0)
        silence(kept);
    return rc;
}
