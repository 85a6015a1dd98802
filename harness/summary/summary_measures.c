#include "summary_measures.h"

#include <stdbool.h>
#include <string.h>

#include "../base/digits.h"
#include "../scenario/events.h"
#include "summary_values.h"

/* A measure; or an array of measures with the same name. */
struct measure {
    const struct hil_responses *responses;
    const struct hil_measure *is; /* the first measure */
    unsigned first, count;
};

/* The measure, or array, that begins with measure `first` of the system. */
static struct measure measure_at(const struct hil_summary *sum, unsigned first)
{
    const struct hil_measure *is = &sum->scenario->system->measures[first];

    return (struct measure){&sum->state->responses, is, first, is->is.of ? is->is.of : 1};
}

static bool is_array(const struct measure *m)
{
    return m->is->is.of > 0;
}

static const struct hil_response *response(const struct measure *m, unsigned event, unsigned i)
{
    const struct hil_responses *r = m->responses;

    return &r->at[(size_t)event * r->measure_count + m->first + i];
}

/* Whether any of them was computed here. */
static bool is_here(const struct measure *m)
{
    for (unsigned event = 0; event <= m->responses->now; event++)
        for (unsigned i = 0; i < m->count; i++)
            if (response(m, event, i)->count)
                return true;
    return false;
}

static bool any_is_here(const struct hil_summary *sum)
{
    struct measure m;

    for (unsigned i = 0; i < sum->scenario->system->measure_count; i += m.count) {
        m = measure_at(sum, i);
        if (is_here(&m))
            return true;
    }
    return false;
}

static struct hil_figures figures(const struct measure *m, unsigned event, unsigned i)
{
    struct hil_figures f;

    hil_responses_figures(m->responses, event, m->first + i, &f);
    return f;
}

/* What stands for the measures `first` to `first + count - 1` of m: the worst response to any
 * event. Without a reference nothing settles, and the last event stands for all. */
static struct hil_worst_response worst_of_all(const struct measure *m, unsigned first,
                                              unsigned count)
{
    const unsigned now = m->responses->now;

    return hil_responses_worst_of_all(m->responses, m->is->has_reference ? 0 : now,
                                      m->first + first, count);
}

/* The measure in an array with the worst response to the event. */
static unsigned worst(const struct measure *m, unsigned event)
{
    return hil_responses_worst(m->responses, event, m->first, m->count) - m->first;
}

static bool is_unsettled(const struct measure *m, unsigned event, unsigned i)
{
    return response(m, event, i)->count && !figures(m, event, i).settled;
}

static unsigned unsettled_count(const struct measure *m, unsigned event)
{
    unsigned count = 0;

    for (unsigned i = 0; i < m->count; i++)
        count += is_unsettled(m, event, i);
    return count;
}

/* How many measures of an array did not settle after some event. */
static unsigned ever_unsettled_count(const struct measure *m)
{
    unsigned count = 0;

    for (unsigned i = 0; i < m->count; i++)
        count += !worst_of_all(m, i, 1).figures.settled;
    return count;
}

/* Over all events: the greatest overshoot and the longest rise time (NAN: the reference never
 * changed) and their events, and the greatest value. */
struct most {
    double overshoot_pct, rise_time_ms, peak;
    unsigned overshoot_event, rise_time_event;
};

static struct most most_of(const struct measure *m, unsigned i)
{
    struct most most = {.overshoot_pct = NAN, .rise_time_ms = NAN, .peak = -INFINITY};

    for (unsigned event = 0; event <= m->responses->now; event++) {
        const struct hil_response *r = response(m, event, i);
        if (r->count == 0)
            continue;
        const struct hil_figures f = figures(m, event, i);
        if (f.overshoot_pct > most.overshoot_pct || isnan(most.overshoot_pct))
            most.overshoot_event = event;
        if (f.rise_time_ms > most.rise_time_ms || isnan(most.rise_time_ms))
            most.rise_time_event = event;
        most.overshoot_pct = fmax(most.overshoot_pct, f.overshoot_pct);
        most.rise_time_ms = fmax(most.rise_time_ms, f.rise_time_ms);
        most.peak = fmax(most.peak, r->max);
    }
    return most;
}

/* --- JSON ------------------------------------------------------------------------------------ */

static json_t *window(const struct hil_figures *f)
{
    if (isnan(f->from_s))
        return json_null();
    return json_pack("{s:o, s:o}", "from_s", hil_json_number(f->from_s), "to_s",
                     hil_json_number(f->to_s));
}

/* Steady-state figures: the window, and when it may begin. Without a reference nothing settles. */
static json_t *steady(const struct measure *m, const struct hil_figures *f)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "settled",
                     m->is->has_reference ? json_boolean(f->settled) : json_null(), "settling_ms",
                     hil_json_number(f->settling_ms), "window", window(f), "mean",
                     hil_json_number(f->mean), "pp", hil_json_number(f->pp), "rms_deviation",
                     hil_json_number(f->rms_deviation), "steady_error",
                     hil_json_number(f->steady_error));
}

/* One measure: when it settled at worst, and its steady state after the run's last event. */
static json_t *one_json(const struct measure *m, unsigned i)
{
    const struct hil_figures f = figures(m, m->responses->now, i);
    const struct hil_worst_response w = worst_of_all(m, i, 1);
    const struct most most = most_of(m, i);
    json_t *one = steady(m, &f);

    if (m->is->has_reference)
        json_object_set_new(one, "settled", json_boolean(w.figures.settled));
    json_object_set_new(one, "settling_ms", hil_json_number(w.figures.settling_ms));
    json_object_set_new(one, "settling_event",
                        m->is->has_reference ? json_integer(w.event) : json_null());
    json_object_set_new(one, "reference", hil_json_number(f.reference));
    json_object_set_new(one, "band", hil_json_number(f.band));
    json_object_set_new(one, "final", hil_json_number(f.last));
    json_object_set_new(one, "overshoot_pct", hil_json_number(most.overshoot_pct));
    json_object_set_new(one, "overshoot_event",
                        isnan(most.overshoot_pct) ? json_null()
                                                  : json_integer(most.overshoot_event));
    json_object_set_new(one, "rise_time_ms", hil_json_number(most.rise_time_ms));
    json_object_set_new(one, "rise_time_event",
                        isnan(most.rise_time_ms) ? json_null()
                                                 : json_integer(most.rise_time_event));
    json_object_set_new(one, "peak", hil_json_number(most.peak));
    return one;
}

static json_t *array_json(const struct measure *m)
{
    const unsigned unsettled = ever_unsettled_count(m);
    const unsigned w = worst_of_all(m, 0, m->count).measure - m->first;
    json_t *each = json_array();

    for (unsigned i = 0; i < m->count; i++) {
        json_t *one = one_json(m, i);
        json_object_set_new(one, "index", json_integer(i));
        json_array_append_new(each, one);
    }
    return json_pack("{s:i, s:o, s:i, s:i, s:o}", "count", m->count, "settled",
                     m->is->has_reference ? json_boolean(unsettled == 0) : json_null(), "unsettled",
                     unsettled, "worst", w, "each", each);
}

static json_t *measure_json(const struct measure *m)
{
    json_t *measure = json_pack("{s:s}", "unit", m->is->unit);
    json_t *said = is_array(m) ? array_json(m) : one_json(m, 0);

    json_object_update(measure, said);
    json_decref(said);
    return measure;
}

static json_t *measures_json(const struct hil_summary *sum)
{
    json_t *measures = json_object();
    struct measure m;

    for (unsigned i = 0; i < sum->scenario->system->measure_count; i += m.count) {
        m = measure_at(sum, i);
        json_object_set_new(measures, m.is->is.name, is_here(&m) ? measure_json(&m) : json_null());
    }
    return measures;
}

static json_t *response_json(const struct measure *m, unsigned event, unsigned i)
{
    const struct hil_figures f = figures(m, event, i);
    json_t *answer = steady(m, &f);

    json_object_set_new(answer, "extreme", hil_json_number(f.extreme));
    json_object_set_new(answer, "extreme_s", hil_json_number(f.extreme_s));
    json_object_set_new(answer, "deviation", hil_json_number(f.deviation));
    json_object_set_new(answer, "band", hil_json_number(f.band));
    json_object_set_new(answer, "rise_time_ms", hil_json_number(f.rise_time_ms));
    json_object_set_new(answer, "overshoot_pct", hil_json_number(f.overshoot_pct));
    json_object_set_new(answer, "deviation_pct", hil_json_number(f.deviation_pct));
    return answer;
}

static json_t *responses_json(const struct hil_summary *sum, unsigned event)
{
    json_t *measures = json_object();
    struct measure m;

    for (unsigned i = 0; i < sum->scenario->system->measure_count; i += m.count) {
        m = measure_at(sum, i);
        const unsigned shown = worst(&m, event);
        json_t *answer = response_json(&m, event, shown);
        if (is_array(&m)) {
            json_object_set_new(answer, "index", json_integer(shown));
            answer =
                json_pack("{s:i, s:o}", "unsettled", unsettled_count(&m, event), "worst", answer);
        }
        json_object_set_new(measures, m.is->is.name, answer);
    }
    return measures;
}

static json_t *changes_json(const struct hil_summary *sum, const struct hil_event *e)
{
    const struct hil_system *s = sum->scenario->system;
    json_t *changes = json_object();
    double from, to;

    for (unsigned i = 0; i < s->source_count; i++)
        if (hil_event_change(e, &s->sources[i], &from, &to))
            json_object_set_new(changes, s->sources[i].name,
                                json_pack("{s:o, s:o, s:s}", "from", hil_json_number(from), "to",
                                          hil_json_number(to), "unit", s->sources[i].unit));
    return changes;
}

static json_t *events_json(const struct hil_summary *sum)
{
    const struct hil_responses *r = &sum->state->responses;
    char name[HIL_EVENT_BYTES];
    json_t *events = json_array();

    for (unsigned i = 0; i <= r->now; i++) {
        const struct hil_event *e = &r->events[i];
        hil_event_name(e, sum->scenario->system, name);
        json_array_append_new(events, json_pack("{s:s, s:o, s:o, s:b, s:o, s:o}", "name", name,
                                                "time_s", summary_seconds(e->begin_ns), "over_s",
                                                summary_seconds(e->over_ns), "start_up", e->startup,
                                                "changes", changes_json(sum, e), "measures",
                                                responses_json(sum, i)));
    }
    return events;
}

void hil_summary_add_measures(const struct hil_summary *sum, json_t *root)
{
    json_object_set_new(root, "measures", measures_json(sum));
    json_object_set_new(root, "events", any_is_here(sum) ? events_json(sum) : json_null());
}

/* --- for a person ---------------------------------------------------------------------------- */

enum { PRINTED_EVENTS = 16, PRINTED_MEASURES = 16 };

/* The magnitude of numbers that are shown together. */
static double size_of(const struct hil_figures *f)
{
    return fmax(fmax(fabs(f->last), fabs(f->mean)), fmax(fabs(f->reference), f->pp));
}

static void print_window(const struct measure *m, const struct hil_figures *f, FILE *to)
{
    const int decimals = hil_decimals(size_of(f), 6);
    char mean[HIL_VALUE_BYTES], pp[HIL_VALUE_BYTES];

    if (!isnan(f->from_s))
        fprintf(to, "; mean %s, %s p-p from %.6g to %.6g s",
                hil_value(mean, f->mean, decimals, m->is->unit),
                hil_value(pp, f->pp, decimals, m->is->unit), f->from_s, f->to_s);
}

/* "settled 25.94 ms after load 10 to 8 Ohm at 0.2 s, the longest of 3 events" */
static void print_settling(const struct hil_summary *sum, const struct measure *m, FILE *to)
{
    const struct hil_worst_response w = worst_of_all(m, 0, 1);
    const unsigned events = m->responses->now + 1;
    char after[HIL_EVENT_BYTES];
    unsigned unsettled = 0;

    for (unsigned event = 0; event < events; event++)
        unsettled += is_unsettled(m, event, 0);
    hil_event_words(&m->responses->events[w.event], sum->scenario->system, after);
    if (unsettled > 1)
        fprintf(to, "did not settle after %u of %u events, the worst is %s", unsettled, events,
                after);
    else if (!w.figures.settled)
        fprintf(to, "did not settle after %s", after);
    else
        fprintf(to, "settled %.2f ms after %s", w.figures.settling_ms, after);
    if (w.figures.settled && events > 1)
        fprintf(to, ", the longest of %u events", events);
}

static void print_one(const struct hil_summary *sum, const struct measure *m, FILE *to)
{
    const struct hil_figures f = figures(m, m->responses->now, 0);
    const int decimals = hil_decimals(size_of(&f), 5);
    char text[HIL_VALUE_BYTES];

    fprintf(to, "  %-11s %s", m->is->is.name, hil_value(text, f.last, decimals, m->is->unit));
    if (m->is->has_reference) {
        fprintf(to, " of %s; ", hil_value(text, f.reference, decimals, m->is->unit));
        print_settling(sum, m, to);
    }
    print_window(m, &f, to);
    fputc('\n', to);
}

static void print_array(const struct hil_summary *sum, const struct measure *m, FILE *to)
{
    const struct hil_worst_response worst = worst_of_all(m, 0, m->count);
    const unsigned unsettled = ever_unsettled_count(m), w = worst.measure - m->first;
    const struct hil_figures f = figures(m, m->responses->now, w);
    char after[HIL_EVENT_BYTES];

    hil_event_words(&m->responses->events[worst.event], sum->scenario->system, after);
    fprintf(to, "  %-11s ", m->is->is.name);
    if (!m->is->has_reference)
        fprintf(to, "of %u [%u] swings most", m->count, w);
    else if (unsettled)
        fprintf(to, "%u of %u did not settle, the worst is [%u] after %s", unsettled, m->count, w,
                after);
    else
        fprintf(to, "all %u settled, the last was [%u] %.2f ms after %s", m->count, w,
                worst.figures.settling_ms, after);
    print_window(m, &f, to);
    fputc('\n', to);
}

/* An array of one measure is skipped after other lines, because it repeats what they say. */
static void print_all(const struct hil_summary *sum, FILE *to)
{
    const unsigned count = sum->scenario->system->measure_count;
    unsigned printed = 0;
    struct measure m;

    for (unsigned i = 0; i < count && printed < PRINTED_MEASURES; i += m.count) {
        m = measure_at(sum, i);
        if (!is_here(&m) || (m.count == 1 && is_array(&m) && printed))
            continue;
        if (m.count == 1)
            print_one(sum, &m, to);
        else
            print_array(sum, &m, to);
        printed++;
    }
}

/* The first measure with a reference, or the first array of several; false: there is none. */
static bool find_measure(const struct hil_summary *sum, bool several, struct measure *m)
{
    for (unsigned i = 0; i < sum->scenario->system->measure_count; i += m->count) {
        *m = measure_at(sum, i);
        if (is_here(m) && m->is->has_reference && (!several || m->count > 1))
            return true;
    }
    return false;
}

static void beyond_words(const struct hil_figures *f, const char *unit, char *text, size_t size)
{
    if (isfinite(f->overshoot_pct))
        snprintf(text, size, "%.2f %% over", f->overshoot_pct);
    else if (isfinite(f->deviation_pct))
        snprintf(text, size, "%.2f %% %s", fabs(f->deviation_pct),
                 f->deviation_pct < 0 ? "dip" : "rise");
    else if (isfinite(f->deviation)) /* the reference is around 0 */
        snprintf(text, size, "%.3g%s%s %s", fabs(f->deviation), *unit ? " " : "", unit,
                 f->deviation < 0 ? "dip" : "rise");
    else
        snprintf(text, size, "-");
}

static void print_event(const struct hil_summary *sum, const struct measure *m,
                        const struct measure *several, unsigned event, FILE *to)
{
    const struct hil_event *e = &m->responses->events[event];
    struct hil_figures f = figures(m, event, worst(m, event));
    const int decimals = hil_decimals(size_of(&f), 6);
    char what[HIL_EVENT_BYTES], beyond[32], rise[24] = "-", settling[24] = "-", error[24] = "-";
    char pp[24] = "-";

    hil_event_name(e, sum->scenario->system, what);
    beyond_words(&f, m->is->unit, beyond, sizeof beyond);
    if (f.settled)
        snprintf(settling, sizeof settling, "%.2f", f.settling_ms);
    if (isfinite(f.rise_time_ms))
        snprintf(rise, sizeof rise, "%.2f", f.rise_time_ms);
    if (isfinite(f.steady_error))
        snprintf(error, sizeof error, "%.*f", decimals, f.steady_error);
    if (isfinite(f.pp))
        snprintf(pp, sizeof pp, "%.*f", decimals, f.pp);
    fprintf(to, "  %10.6g  %-28s %10.*f  %14s  %9s  %12s  %12s  %10s", (double)e->begin_ns * 1e-9,
            what, decimals, f.extreme, beyond, rise, settling, error, pp);
    if (several) {
        f = figures(several, event, worst(several, event));
        fprintf(to, "  %u%s", worst(several, event), f.settled ? "" : ", which did not settle");
    }
    fputc('\n', to);
}

/* The events of the first measure with a reference, and the worst of the first array. */
static void print_events(const struct hil_summary *sum, FILE *to)
{
    struct measure m, array;
    char extreme[40], error[40], pp[40];

    if (!find_measure(sum, false, &m))
        return;
    const struct measure *several = find_measure(sum, true, &array) ? &array : NULL;
    const unsigned now = m.responses->now;
    snprintf(extreme, sizeof extreme, "extreme %s", m.is->unit);
    snprintf(error, sizeof error, "then error %s", m.is->unit);
    snprintf(pp, sizeof pp, "then p-p %s", m.is->unit);
    fprintf(to, "  %10s  %-28s %10s  %14s  %9s  %12s  %12s  %10s", "at s", "event", extreme,
            "beyond", "rise ms", "settling ms", error, pp);
    if (several)
        fprintf(to, "  worst %s", several->is->is.name);
    fputc('\n', to);
    for (unsigned i = 0; i <= now && i < PRINTED_EVENTS; i++)
        print_event(sum, &m, several, i, to);
    if (now >= PRINTED_EVENTS)
        fprintf(to, "  %10s  %u more events are in summary.json\n", "...",
                now + 1 - PRINTED_EVENTS);
}

void hil_summary_print_measures(const struct hil_summary *sum, FILE *to)
{
    print_all(sum, to);
    print_events(sum, to);
}
