/* Judges limits of measures by the figures of docs/figures.md after each event. */
#include <math.h>

#include "judge_parts.h"

/* A measure's response to an event. */
struct answer {
    const struct hil_event *event;
    struct hil_figures figures;
    bool of_change; /* the event changed its reference; otherwise it was another event */
};

static bool answer_read(const struct trial *t, unsigned event, unsigned measure, struct answer *a)
{
    const struct hil_responses *r = &t->run->state->responses;

    if (!r->at[(size_t)event * r->measure_count + measure].count)
        return false;
    a->event = &r->events[event];
    hil_responses_figures(r, event, measure, &a->figures);
    a->of_change = isfinite(a->figures.overshoot_pct);
    return true;
}

static bool is_of_events(const struct trial *t, unsigned event)
{
    const struct hil_responses *r = &t->run->state->responses;

    switch (t->limit->events) {
    case HIL_EVENTS_START_UP:
        return r->events[event].startup;
    case HIL_EVENTS_LATER:
        return !r->events[event].startup;
    case HIL_EVENTS_LAST:
        return event == r->now;
    default:
        return true;
    }
}

/* A measure that never settles exceeds every bound, from the end of the event on. */
static struct look look_at_settling(const struct answer *a, double bound)
{
    const double over_s = (double)a->event->over_ns * 1e-9;
    const struct hil_figures *f = &a->figures;

    return look_at_most(f->settled ? f->settling_ms : NAN, bound,
                        f->settled ? over_s + 1e-3 * f->settling_ms : f->last_s);
}

static struct look look_at_share(double from, double to, double reference, double bound,
                                 double time_s)
{
    return look_at_most(100 * fmax(to - from, 0) / fabs(reference), bound, time_s);
}

/* Gets the value for the bound; false if the bound does not apply to such a response. */
static bool answer_look(const struct answer *a, enum hil_bound bound, double b, struct look *look)
{
    const struct hil_figures *f = &a->figures;

    switch (bound) {
    case HIL_BOUND_OVERSHOOT:
        *look = look_at_most(f->overshoot_pct, b, f->extreme_s);
        return a->of_change;
    case HIL_BOUND_SETTLING:
        *look = look_at_settling(a, b);
        return a->of_change;
    case HIL_BOUND_RECOVERY:
        *look = look_at_settling(a, b);
        return !a->of_change;
    case HIL_BOUND_DIP:
        *look = look_at_share(f->min, f->reference, f->reference, b, f->min_s);
        return !a->of_change && f->reference != 0;
    case HIL_BOUND_RISE:
        *look = look_at_share(f->reference, f->max, f->reference, b, f->max_s);
        return !a->of_change && f->reference != 0;
    case HIL_BOUND_RIPPLE:
        *look = look_at_most(f->pp, b, f->from_s);
        return isfinite(f->from_s);
    case HIL_BOUND_RMS_ERROR:
        *look = look_at_most(f->rms_deviation, b, f->from_s);
        return isfinite(f->from_s);
    case HIL_BOUND_STEADY_ERROR:
        *look = look_at_most(fabs(f->steady_error), b, f->from_s);
        return isfinite(f->from_s);
    case HIL_BOUND_RISE_TIME:
        *look = look_at_most(f->rise_time_ms, b, f->extreme_s);
        return a->of_change && isfinite(f->rise_time_ms);
    case HIL_BOUND_MIN:
        *look = look_at_least(f->min, b, f->min_s);
        return true;
    default:
        *look = look_at_most(f->max, b, f->max_s);
        return true;
    }
}

static void judge_bound(const struct trial *t, enum hil_bound bound, struct hil_finding *finding)
{
    const struct hil_responses *r = &t->run->state->responses;
    struct finding_sum sum = {finding, -INFINITY};
    const struct hil_measure *worst = NULL;
    unsigned worst_event = 0;
    bool here = false;

    for (unsigned event = 0; event <= r->now; event++)
        for (unsigned m = t->limit->first; m <= t->limit->last; m++) {
            struct answer a;
            struct look look;
            if (!answer_read(t, event, m, &a))
                continue;
            here = true;
            if (is_of_events(t, event) && answer_look(&a, bound, t->limit->bounds[bound], &look) &&
                finding_look(&sum, &look)) {
                worst = &t->system->measures[m];
                worst_event = event;
            }
        }
    if (bound == HIL_BOUND_SETTLING || bound == HIL_BOUND_RECOVERY)
        finding->no_value = "has not settled";
    if (worst) {
        hil_instance_name(&worst->is, finding->signal);
        finding->measure = worst->is.name;
        hil_event_words(&r->events[worst_event], t->system, finding->event);
    } else if (here) {
        finding_leave(finding, HIL_OUTCOME_INCONCLUSIVE,
                      "the run has no event that this limit applies to");
    } else {
        finding_leave(finding, HIL_OUTCOME_SKIPPED, "it is measured elsewhere");
    }
}

void judge_measure(struct trial *t)
{
    const char *unit = t->system->measures[t->limit->first].unit;

    for (unsigned bound = 0; bound < HIL_BOUNDS; bound++)
        if (t->limit->given[bound])
            judge_bound(t, bound,
                        trial_add(t, bound, NULL,
                                  hil_bound_keys[bound].unit ? hil_bound_keys[bound].unit : unit));
}
