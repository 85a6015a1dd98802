/* Finds the worst of several runs. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sweep_distribution.h"

/* How far the value exceeds its bound, relative to the bound. */
static double excess_of(const json_t *limit)
{
    const char *verdict = json_string_value(json_object_get(limit, "verdict"));
    const double most = hil_summary_reader_number(limit, "at_most"),
                 least = hil_summary_reader_number(limit, "at_least");
    const double value = hil_summary_reader_number(limit, "value"),
                 bound = isnan(most) ? least : most;

    if (isnan(bound)) /* nothing was judged */
        return -INFINITY;
    if (isnan(value))
        return verdict && strcmp(verdict, "failed") == 0 ? INFINITY : -INFINITY;
    return (isnan(most) ? least - value : value - most) / (bound != 0 ? fabs(bound) : 1);
}

/* An error is worse than a failed limit, which is worse than a run that is not valid. */
enum rank { RANK_NONE, RANK_PASSED, RANK_INVALID, RANK_FAILED, RANK_ERROR };

static enum rank rank_of(const struct hil_job *job)
{
    return !job->done                        ? RANK_NONE
           : job->status == HIL_EXIT_OK      ? RANK_PASSED
           : job->status == HIL_EXIT_INVALID ? RANK_INVALID
           : job->status == HIL_EXIT_LIMIT   ? RANK_FAILED
                                             : RANK_ERROR;
}

struct judged_run {
    enum rank rank;
    double excess;
    const json_t *limit; /* NULL: the run has no limit */
    struct hil_summary_reader_event
        event; /* without limits: the event that it took longest to settle after */
};

/* Runs are compared by the limit that they exceed most, or come nearest to. Without limits they are
 * compared by the settling time of the first measure. */
static struct judged_run judge_run(const struct sweep *s, unsigned point)
{
    const struct hil_summary_reader *told = &s->points[point].told;
    struct judged_run j = {
        .rank = rank_of(&s->jobs.at[point]), .excess = -INFINITY, .event.number = -1};
    struct hil_summary_reader_measure m;
    json_t *limit;
    size_t i;

    json_array_foreach(json_object_get(told->root, "limits"), i, limit)
    {
        if (j.limit && !(excess_of(limit) > j.excess))
            continue;
        j.limit = limit;
        j.excess = excess_of(limit);
    }
    if (!j.limit && hil_summary_reader_first(told, false, &m)) {
        j.excess = m.judged && !m.settled ? INFINITY : fmax(m.figures.settling_ms, 0);
        j.event = m.settling_event;
    }
    return j;
}

static void judged_words(const struct judged_run *j, char words[SWEEP_WORDS_BYTES])
{
    const char *name = json_string_value(json_object_get(j->limit, "name"));
    const char *said = json_string_value(json_object_get(j->limit, "words"));
    char event[HIL_EVENT_WORDS_BYTES];

    hil_summary_reader_event_words(&j->event, event);
    const char *after = event[0] ? " after " : "";

    if (j->rank == RANK_ERROR)
        snprintf(words, SWEEP_WORDS_BYTES, "it failed");
    else if (j->limit)
        snprintf(words, SWEEP_WORDS_BYTES, "%s: %s", name ? name : "", said ? said : "");
    else if (isfinite(j->excess))
        snprintf(words, SWEEP_WORDS_BYTES, "it settles in %.6g ms%s%s", j->excess, after, event);
    else
        snprintf(words, SWEEP_WORDS_BYTES, "it does not settle%s%s", after, event);
}

void sweep_find_worst(const struct sweep_group *g, struct sweep_worst *worst)
{
    struct judged_run found = judge_run(g->sweep, g->first);

    worst->point = g->first;
    for (unsigned i = g->first + 1; i < g->first + g->count; i++) {
        const struct judged_run j = judge_run(g->sweep, i);
        if (j.rank < found.rank || (j.rank == found.rank && !(j.excess > found.excess)))
            continue;
        found = j;
        worst->point = i;
    }
    judged_words(&found, worst->words);
}
