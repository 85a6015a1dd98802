#include "summary_measures.h"

#include <stdarg.h>
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

/* The measure in an array with the worst response to the event. */
static unsigned worst(const struct measure *m, unsigned event)
{
    return hil_responses_worst(m->responses, event, m->first, m->count) - m->first;
}

static unsigned unsettled_count(const struct measure *m, unsigned event)
{
    unsigned count = 0;

    for (unsigned i = 0; i < m->count; i++)
        count += response(m, event, i)->count && !figures(m, event, i).settled;
    return count;
}

/* Over all events: the greatest overshoot (NAN: the reference never changed), and the greatest
 * value. */
struct most {
    double overshoot_pct, peak;
};

static struct most most_of(const struct measure *m, unsigned i)
{
    struct most most = {NAN, -INFINITY};

    for (unsigned event = 0; event <= m->responses->now; event++) {
        const struct hil_response *r = response(m, event, i);
        if (r->count == 0)
            continue;
        most.overshoot_pct = fmax(most.overshoot_pct, figures(m, event, i).overshoot_pct);
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
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "settled",
                     m->is->has_reference ? json_boolean(f->settled) : json_null(), "settling_ms",
                     hil_json_number(f->settling_ms), "window", window(f), "mean",
                     hil_json_number(f->mean), "pp", hil_json_number(f->pp), "rms_deviation",
                     hil_json_number(f->rms_deviation));
}

/* One measure after the run's last event. */
static json_t *one_json(const struct measure *m, unsigned i)
{
    const struct hil_figures f = figures(m, m->responses->now, i);
    const struct most most = most_of(m, i);
    json_t *one = steady(m, &f);

    json_object_set_new(one, "reference", hil_json_number(f.reference));
    json_object_set_new(one, "band", hil_json_number(f.band));
    json_object_set_new(one, "final", hil_json_number(f.last));
    json_object_set_new(one, "overshoot_pct", hil_json_number(most.overshoot_pct));
    json_object_set_new(one, "peak", hil_json_number(most.peak));
    return one;
}

static json_t *array_json(const struct measure *m)
{
    const unsigned event = m->responses->now, unsettled = unsettled_count(m, event);
    json_t *each = json_array();

    for (unsigned i = 0; i < m->count; i++) {
        json_t *one = one_json(m, i);
        json_object_set_new(one, "index", json_integer(i));
        json_array_append_new(each, one);
    }
    return json_pack("{s:i, s:o, s:i, s:i, s:o}", "count", m->count, "settled",
                     m->is->has_reference ? json_boolean(unsettled == 0) : json_null(), "unsettled",
                     unsettled, "worst", worst(m, event), "each", each);
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
    json_t *events = json_array();

    for (unsigned i = 0; i <= r->now; i++) {
        const struct hil_event *e = &r->events[i];
        json_array_append_new(
            events, json_pack("{s:o, s:o, s:b, s:o, s:o}", "time_s", summary_seconds(e->begin_ns),
                              "over_s", summary_seconds(e->over_ns), "start_up", e->startup,
                              "changes", changes_json(sum, e), "measures", responses_json(sum, i)));
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

static void print_one(const struct measure *m, FILE *to)
{
    const struct hil_figures f = figures(m, m->responses->now, 0);
    const int decimals = hil_decimals(size_of(&f), 5);
    char text[HIL_VALUE_BYTES];

    fprintf(to, "  %-11s %s", m->is->is.name, hil_value(text, f.last, decimals, m->is->unit));
    if (m->is->has_reference)
        fprintf(to, " of %s; ", hil_value(text, f.reference, decimals, m->is->unit));
    if (f.settled)
        fprintf(to, "settled after %.2f ms", f.settling_ms);
    else if (m->is->has_reference)
        fprintf(to, "did not settle");
    print_window(m, &f, to);
    fputc('\n', to);
}

static void print_array(const struct measure *m, FILE *to)
{
    const unsigned event = m->responses->now, unsettled = unsettled_count(m, event);
    const unsigned w = worst(m, event);
    const struct hil_figures f = figures(m, event, w);

    fprintf(to, "  %-11s ", m->is->is.name);
    if (!m->is->has_reference)
        fprintf(to, "of %u [%u] swings most", m->count, w);
    else if (unsettled)
        fprintf(to, "%u of %u did not settle, the worst is [%u]", unsettled, m->count, w);
    else
        fprintf(to, "all %u settled, the last was [%u] after %.2f ms", m->count, w, f.settling_ms);
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
            print_one(&m, to);
        else
            print_array(&m, to);
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

static void append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

/* "start-up", "load 10 to 8 Ohm". */
static void event_words(const struct hil_system *s, const struct hil_event *e, char *text,
                        size_t size)
{
    double from, to;

    snprintf(text, size, "%s", e->startup ? "start-up" : "");
    for (unsigned i = 0; i < s->source_count; i++)
        if (hil_event_change(e, &s->sources[i], &from, &to))
            append(text, size, "%s%s %.4g to %.4g%s%s", *text ? ", " : "", s->sources[i].name, from,
                   to, *s->sources[i].unit ? " " : "", s->sources[i].unit);
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
    char what[80], beyond[32], settling[24] = "-", pp[24] = "-";

    event_words(sum->scenario->system, e, what, sizeof what);
    beyond_words(&f, m->is->unit, beyond, sizeof beyond);
    if (f.settled)
        snprintf(settling, sizeof settling, "%.2f", f.settling_ms);
    if (isfinite(f.pp))
        snprintf(pp, sizeof pp, "%.*f", decimals, f.pp);
    fprintf(to, "  %10.6g  %-28s %10.*f  %14s  %12s  %10s", (double)e->begin_ns * 1e-9, what,
            decimals, f.extreme, beyond, settling, pp);
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
    char extreme[40], pp[40];

    if (!find_measure(sum, false, &m))
        return;
    const struct measure *several = find_measure(sum, true, &array) ? &array : NULL;
    const unsigned now = m.responses->now;
    snprintf(extreme, sizeof extreme, "extreme %s", m.is->unit);
    snprintf(pp, sizeof pp, "then p-p %s", m.is->unit);
    fprintf(to, "  %10s  %-28s %10s  %14s  %12s  %10s", "at s", "event", extreme, "beyond",
            "settling ms", pp);
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
