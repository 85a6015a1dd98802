/* Judges limits of nodes and links: missed steps, and the distributions of times. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../run/node_name.h"
#include "judge_parts.h"

static const char *const figure_of_times = "latency.svg";

static void judge_missed(struct trial *t)
{
    struct hil_finding *finding = trial_add(t, HIL_BOUND_MISSED, NULL, "%");
    struct finding_sum sum = {finding, -INFINITY};

    finding_leave(finding, HIL_OUTCOME_SKIPPED, "none of these nodes ran here");
    for (unsigned i = t->limit->first; i <= t->limit->last; i++) {
        if (!t->run->state->nodes[i].here)
            continue;
        const struct hil_node_state *n = hil_node_figures(t->run->state, i);
        const struct look look =
            look_at_most(hil_missed_percent(n), t->limit->bounds[HIL_BOUND_MISSED],
                         hil_missed(n) ? (double)n->over_at_ns * 1e-9 : NAN);
        if (finding_look(&sum, &look))
            hil_node_name(t->system, i, finding->signal);
    }
    if (finding->judged)
        strcpy(finding->figure, figure_of_times);
}

/* Times whose percentiles are limited, and when the greatest of them occurred. */
struct times {
    const struct hil_histogram *all;
    uint64_t greatest_at_ns;
};

/* Returns whether it is the worst so far. */
static bool look_at_times(struct trial *t, struct finding_sum *sum, enum hil_bound bound,
                          unsigned percentile, const struct times *times)
{
    const double quantile = hil_limit_times[percentile].quantile;
    const struct look look =
        look_at_most((double)hil_histogram_quantile(times->all, quantile) * 1e-3,
                     t->limit->times[bound][percentile], (double)times->greatest_at_ns * 1e-9);

    if (!finding_look(sum, &look))
        return false;
    sum->finding->greatest = quantile < 1 ? (double)times->all->max * 1e-3 : NAN;
    return true;
}

/* Judges a percentile of each node's times. */
static void judge_node_time(struct trial *t, enum hil_bound bound, unsigned percentile)
{
    struct hil_finding *finding = trial_add(t, bound, hil_limit_times[percentile].key, "us");
    struct finding_sum sum = {finding, -INFINITY};

    finding_leave(finding, HIL_OUTCOME_SKIPPED,
                  t->run->scenario->mode == HIL_VIRTUAL ? "virtual time does not measure it"
                                                        : "none of these nodes ran here");
    for (unsigned i = t->limit->first; i <= t->limit->last; i++) {
        const struct hil_node_state *n = hil_node_figures(t->run->state, i);
        const struct times times = bound == HIL_BOUND_LATE
                                       ? (struct times){&n->late, n->late_at_ns}
                                       : (struct times){&n->busy, n->busy_at_ns};
        if (n->here && times.all->count && look_at_times(t, &sum, bound, percentile, &times))
            hil_node_name(t->system, i, finding->signal);
    }
    if (finding->judged)
        strcpy(finding->figure, figure_of_times);
}

int judge_nodes(struct trial *t)
{
    if (t->limit->given[HIL_BOUND_MISSED])
        judge_missed(t);
    for (unsigned bound = HIL_BOUND_LATE; bound <= HIL_BOUND_BUSY; bound++)
        for (unsigned i = 0; t->limit->given[bound] && i < HIL_LIMIT_TIMES; i++)
            if (!isnan(t->limit->times[bound][i]))
                judge_node_time(t, bound, i);
    return 0;
}

/* Finds the first input that receives a value of the link. */
static bool find_input(const struct hil_system *s, unsigned link, struct hil_signal *input)
{
    const struct hil_node_config *n = &s->nodes[s->links[link].to];

    for (unsigned i = 0; i < n->component_count; i++) {
        const struct hil_component *c = &s->components[n->components[i]];
        for (unsigned k = 0; k < c->in_count; k++) {
            const struct hil_feed *feed = &n->feeds[c->in + k];
            if (feed->kind != HIL_FEED_LINK || feed->from != link)
                continue;
            *input = (struct hil_signal){.component = n->components[i], .number = k};
            return true;
        }
    }
    return false;
}

/* "cell[3] -> pack (monitor.current_a[3])" */
static void name_link(const struct hil_system *s, unsigned link, char text[HIL_FINDING_NAME_BYTES])
{
    char input_name[HIL_SIGNAL_NAME_BYTES];
    struct hil_signal input;

    hil_link_name(s, s->links[link].from, s->links[link].to, text);
    if (!find_input(s, link, &input))
        return;
    hil_signal_name(s, &input, input_name);
    const size_t used = strlen(text);
    snprintf(text + used, HIL_FINDING_NAME_BYTES - used, " (%s)", input_name);
}

static void judge_link_time(struct trial *t, enum hil_bound bound, unsigned percentile,
                            const struct times *times, unsigned worst)
{
    struct hil_finding *finding = trial_add(t, bound, hil_limit_times[percentile].key, "us");
    struct finding_sum sum = {finding, -INFINITY};

    if (times->all->count == 0) {
        finding_leave(finding, HIL_OUTCOME_SKIPPED, "nothing came over the link here");
        return;
    }
    look_at_times(t, &sum, bound, percentile, times);
    name_link(t->system, worst, finding->signal);
    strcpy(finding->figure, figure_of_times);
}

static void judge_link_times(struct trial *t, enum hil_bound bound, const struct hil_histogram *h,
                             const struct hil_link_moment *greatest)
{
    const struct times times = {h, greatest->at_ns};

    for (unsigned i = 0; t->limit->given[bound] && i < HIL_LIMIT_TIMES; i++)
        if (!isnan(t->limit->times[bound][i]))
            judge_link_time(t, bound, i, &times, greatest->link);
}

/* Finds the opposite link. */
static void turn_around(const struct hil_system *s, struct hil_link_moment *moment)
{
    const int back = hil_link_find(s, s->links[moment->link].to, s->links[moment->link].from);

    moment->link = back < 0 ? moment->link : (unsigned)back;
}

/* A round trip is the same from either end, and measured at only one. */
int judge_link(struct trial *t)
{
    const struct hil_link_array *link = &t->system->link_arrays[t->limit->first];
    struct hil_link_figures *all = malloc(sizeof *all);

    if (!all)
        return -ENOMEM;
    hil_state_add_up_links(t->run->state, t->limit->first, all);
    judge_link_times(t, HIL_BOUND_AGE, &all->input_age, &all->oldest);
    if (all->round_trip.count == 0 && link->back >= 0) {
        hil_state_add_up_links(t->run->state, (unsigned)link->back, all);
        turn_around(t->system, &all->longest);
    }
    judge_link_times(t, HIL_BOUND_ROUND_TRIP, &all->round_trip, &all->longest);
    free(all);
    return 0;
}
