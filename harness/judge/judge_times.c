/* Limits of nodes and links: how many steps were missed, and the distributions of times. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../run/node_name.h"
#include "judge_parts.h"

static const char *const figure_of_times = "latency.svg";

/* When the worst miss of these nodes began, if it was so late; not known where it is none of the
 * run's worst. */
static double time_of_miss(const struct trial *t, unsigned first, unsigned last, uint64_t late_ns)
{
    struct hil_worst all;

    hil_state_worst(t->run->state, &all);
    for (unsigned i = 0; i < all.count; i++)
        if (all.at[i].node >= first && all.at[i].node <= last && all.at[i].late_ns >= late_ns)
            return (double)all.at[i].begin_ns * 1e-9;
    return NAN;
}

static void judge_missed(struct trial *t)
{
    struct hil_finding *finding = trial_add(t, HIL_BOUND_MISSED, NULL, "%");
    struct finding_sum sum = {finding, -INFINITY};

    finding_leave(finding, HIL_OUTCOME_SKIPPED, "none of these nodes ran here");
    for (unsigned i = t->limit->first; i <= t->limit->last; i++) {
        if (!t->run->state->nodes[i].here)
            continue;
        const struct look look = look_at_most(hil_missed_percent(&t->run->state->nodes[i]),
                                              t->limit->bounds[HIL_BOUND_MISSED], NAN);
        if (finding_look(&sum, &look))
            hil_node_name(t->system, i, finding->signal);
    }
    /* Steps that are missed one after the other are one miss, of one of the nodes. */
    if (finding->outcome == HIL_OUTCOME_FAILED)
        finding->time_s = time_of_miss(t, t->limit->first, t->limit->last, 0);
    if (finding->judged)
        strcpy(finding->figure, figure_of_times);
}

static double quantile_us(const struct hil_histogram *h, double quantile)
{
    return (double)hil_histogram_quantile(h, quantile) * 1e-3;
}

/* A percentile of each node's times. */
static void judge_node_time(struct trial *t, enum hil_bound bound, unsigned percentile)
{
    const struct hil_limit_time *p = &hil_limit_times[percentile];
    struct hil_finding *finding = trial_add(t, bound, p->key, "us");
    struct finding_sum sum = {finding, -INFINITY};

    finding_leave(finding, HIL_OUTCOME_SKIPPED,
                  t->run->scenario->mode == HIL_VIRTUAL ? "virtual time does not measure it"
                                                        : "none of these nodes ran here");
    for (unsigned i = t->limit->first; i <= t->limit->last; i++) {
        const struct hil_node_state *n = &t->run->state->nodes[i];
        const struct hil_histogram *h = bound == HIL_BOUND_LATE ? &n->late : &n->busy;
        if (!n->here || h->count == 0)
            continue;
        const struct look look =
            look_at_most(quantile_us(h, p->quantile), t->limit->times[bound][percentile], NAN);
        if (!finding_look(&sum, &look))
            continue;
        hil_node_name(t->system, i, finding->signal);
        if (bound == HIL_BOUND_LATE && p->quantile == 1)
            finding->time_s = time_of_miss(t, i, i, n->late.max);
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

/* "converter[*] -> controller" */
static void name_links(const struct trial *t, char text[HIL_SIGNAL_NAME_BYTES])
{
    const struct hil_link_array *links = &t->system->link_arrays[t->limit->first];
    const struct hil_array *from = &t->system->node_arrays[links->from];
    const struct hil_array *to = &t->system->node_arrays[links->to];

    snprintf(text, HIL_SIGNAL_NAME_BYTES, "%.64s%s -> %.64s%s", from->name, from->of ? "[*]" : "",
             to->name, to->of ? "[*]" : "");
}

static void judge_link_time(struct trial *t, enum hil_bound bound, unsigned percentile,
                            const struct hil_histogram *h)
{
    const struct hil_limit_time *p = &hil_limit_times[percentile];
    struct hil_finding *finding = trial_add(t, bound, p->key, "us");
    struct finding_sum sum = {finding, -INFINITY};

    if (h->count == 0) {
        finding_leave(finding, HIL_OUTCOME_SKIPPED, "nothing came over the link here");
        return;
    }
    const struct look look =
        look_at_most(quantile_us(h, p->quantile), t->limit->times[bound][percentile], NAN);
    finding_look(&sum, &look);
    name_links(t, finding->signal);
    strcpy(finding->figure, figure_of_times);
}

static void judge_link_times(struct trial *t, enum hil_bound bound, const struct hil_histogram *h)
{
    for (unsigned i = 0; t->limit->given[bound] && i < HIL_LIMIT_TIMES; i++)
        if (!isnan(t->limit->times[bound][i]))
            judge_link_time(t, bound, i, h);
}

/* There and back is the same from either end, and measured at one. */
int judge_link(struct trial *t)
{
    const struct hil_link_array *link = &t->system->link_arrays[t->limit->first];
    struct hil_link_figures *all = malloc(sizeof *all);

    if (!all)
        return -ENOMEM;
    hil_state_add_up_links(t->run->state, t->limit->first, all);
    judge_link_times(t, HIL_BOUND_AGE, &all->input_age);
    if (all->round_trip.count == 0 && link->back >= 0)
        hil_state_add_up_links(t->run->state, (unsigned)link->back, all);
    judge_link_times(t, HIL_BOUND_ROUND_TRIP, &all->round_trip);
    free(all);
    return 0;
}
