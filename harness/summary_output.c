#include "summary_output.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>

enum { OUTPUT, FIRST_CONVERTER }; /* measures */

static const struct hil_responses *responses_of(const struct hil_state *s)
{
    const struct hil_responses *r = &s->responses;

    return s->nodes[0].here && r->at[(size_t)r->now * r->measure_count].count ? r : NULL;
}

/* The figures of a measure after the run's last event. */
static struct hil_figures last_figures(const struct hil_responses *r, unsigned measure)
{
    struct hil_figures f;

    hil_responses_figures(r, r->now, measure, &f);
    return f;
}

/* --- the whole run --------------------------------------------------------------------------- */

/* Of all the run's events: the greatest overshoot (NAN: none was about the reference), and the
 * greatest value. */
struct most {
    double overshoot_pct, peak;
};

static struct most most_of(const struct hil_responses *r, unsigned measure)
{
    struct most most = {NAN, -INFINITY};

    for (unsigned i = 0; i <= r->now; i++) {
        const struct hil_response *response = &r->at[(size_t)i * r->measure_count + measure];
        struct hil_figures f;
        if (response->count == 0)
            continue;
        hil_responses_figures(r, i, measure, &f);
        most.overshoot_pct = fmax(most.overshoot_pct, f.overshoot_pct);
        most.peak = fmax(most.peak, response->max);
    }
    return most;
}

static unsigned unsettled_count(const struct hil_responses *r, unsigned event)
{
    unsigned count = 0;
    struct hil_figures f;

    for (unsigned i = FIRST_CONVERTER; i < r->measure_count; i++) {
        hil_responses_figures(r, event, i, &f);
        count += !f.settled;
    }
    return count;
}

/* --- JSON ------------------------------------------------------------------------------------ */

static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *window(const struct hil_figures *f)
{
    if (isnan(f->from_s))
        return json_null();
    return json_pack("{s:o, s:o}", "from_s", number(f->from_s), "to_s", number(f->to_s));
}

/* What is steady: in the window, and when that may begin. */
static json_t *steady(const struct hil_figures *f)
{
    return json_pack("{s:b, s:o, s:o, s:o, s:o, s:o}", "settled", f->settled, "settling_ms",
                     number(f->settling_ms), "window", window(f), "mean_v", number(f->mean), "pp_v",
                     number(f->pp), "rms_deviation_v", number(f->rms_deviation));
}

static json_t *output_json(const struct hil_responses *r)
{
    struct hil_figures f = last_figures(r, OUTPUT);
    struct most most = most_of(r, OUTPUT);
    json_t *output = steady(&f);

    json_object_set_new(output, "reference_v", number(f.reference));
    json_object_set_new(output, "final_v", number(f.last));
    json_object_set_new(output, "overshoot_pct", number(most.overshoot_pct));
    json_object_set_new(output, "peak_v", number(most.peak));
    return output;
}

static json_t *each_output(const struct hil_responses *r)
{
    json_t *each = json_array();

    for (unsigned i = FIRST_CONVERTER; i < r->measure_count; i++) {
        struct hil_figures f = last_figures(r, i);
        json_t *one = steady(&f);
        json_object_set_new(one, "converter", json_integer(i - FIRST_CONVERTER));
        json_object_set_new(one, "overshoot_pct", number(most_of(r, i).overshoot_pct));
        json_array_append_new(each, one);
    }
    return each;
}

static json_t *outputs_json(const struct hil_responses *r)
{
    unsigned unsettled = unsettled_count(r, r->now);
    unsigned worst = hil_responses_worst(r, r->now, FIRST_CONVERTER);

    return json_pack("{s:b, s:i, s:i, s:o}", "settled", unsettled == 0, "unsettled", unsettled,
                     "worst", worst - FIRST_CONVERTER, "each", each_output(r));
}

static json_t *response_json(const struct hil_responses *r, unsigned event, unsigned measure)
{
    struct hil_figures f;

    hil_responses_figures(r, event, measure, &f);
    json_t *response = steady(&f);
    json_object_set_new(response, "extreme_v", number(f.extreme));
    json_object_set_new(response, "extreme_s", number(f.extreme_s));
    json_object_set_new(response, "overshoot_pct", number(f.overshoot_pct));
    json_object_set_new(response, "deviation_pct", number(f.deviation_pct));
    return response;
}

static json_t *changes_json(const struct hil_event *e)
{
    static const char *const keys[] = {"reference_v", "load_ohm", "input_voltage_v"};
    json_t *changes = json_object();

    for (int i = 0; i < HIL_EVENT_MAX; i++)
        if (e->changes[i].there)
            json_object_set_new(changes, keys[i],
                                json_pack("{s:o, s:o}", "from", number(e->changes[i].from), "to",
                                          number(e->changes[i].to)));
    return changes;
}

static json_t *event_json(const struct hil_responses *r, unsigned i)
{
    const struct hil_event *e = &r->events[i];
    unsigned worst = hil_responses_worst(r, i, FIRST_CONVERTER);
    json_t *of_worst = response_json(r, i, worst);

    json_object_set_new(of_worst, "converter", json_integer(worst - FIRST_CONVERTER));
    return json_pack("{s:o, s:o, s:b, s:o, s:o, s:i, s:o}", "time_s",
                     number((double)e->begin_ns * 1e-9), "over_s",
                     number((double)e->over_ns * 1e-9), "start_up", e->startup, "changes",
                     changes_json(e), "output", response_json(r, i, OUTPUT), "unsettled",
                     unsettled_count(r, i), "worst", of_worst);
}

static json_t *events_json(const struct hil_responses *r)
{
    json_t *events = json_array();

    for (unsigned i = 0; i <= r->now; i++)
        json_array_append_new(events, event_json(r, i));
    return events;
}

void hil_summary_add_output(const struct hil_state *s, json_t *summary)
{
    const struct hil_responses *r = responses_of(s);

    json_object_set_new(summary, "output", r ? output_json(r) : json_null());
    json_object_set_new(summary, "outputs", r ? outputs_json(r) : json_null());
    json_object_set_new(summary, "events", r ? events_json(r) : json_null());
}

/* --- for a person ---------------------------------------------------------------------------- */

enum { PRINTED_EVENTS = 16 };

static void print_window(const struct hil_figures *f, FILE *to)
{
    if (!isnan(f->from_s))
        fprintf(to, "; mean %.3f V, %.3f V p-p from %.6g to %.6g s", f->mean, f->pp, f->from_s,
                f->to_s);
}

static void print_sum(const struct hil_responses *r, FILE *to)
{
    struct hil_figures f = last_figures(r, OUTPUT);

    fprintf(to, "  output      %.2f V of %.2f V; ", f.last, f.reference);
    if (f.settled)
        fprintf(to, "settled after %.2f ms", f.settling_ms);
    else
        fprintf(to, "did not settle");
    print_window(&f, to);
    fputc('\n', to);
}

static void print_each(const struct hil_responses *r, FILE *to)
{
    unsigned unsettled = unsettled_count(r, r->now), count = r->measure_count - FIRST_CONVERTER;
    unsigned worst = hil_responses_worst(r, r->now, FIRST_CONVERTER);
    struct hil_figures f = last_figures(r, worst);

    if (count == 1)
        return;
    if (unsettled)
        fprintf(to, "  outputs     %u of %u did not settle, the worst is converter %u", unsettled,
                count, worst - FIRST_CONVERTER);
    else
        fprintf(to, "  outputs     all %u settled, the last was converter %u after %.2f ms", count,
                worst - FIRST_CONVERTER, f.settling_ms);
    print_window(&f, to);
    fputc('\n', to);
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
static void event_words(const struct hil_event *e, char *text, size_t size)
{
    static const char *const names[] = {"reference", "load", "input"};
    static const char *const units[] = {"V", "Ohm", "V"};

    snprintf(text, size, "%s", e->startup ? "start-up" : "");
    for (int i = 0; i < HIL_EVENT_MAX; i++)
        if (e->changes[i].there)
            append(text, size, "%s%s %.4g to %.4g %s", *text ? ", " : "", names[i],
                   e->changes[i].from, e->changes[i].to, units[i]);
}

static void beyond_words(const struct hil_figures *f, char *text, size_t size)
{
    if (isfinite(f->overshoot_pct))
        snprintf(text, size, "%.2f %% over", f->overshoot_pct);
    else if (isfinite(f->deviation_pct))
        snprintf(text, size, "%.2f %% %s", fabs(f->deviation_pct),
                 f->deviation_pct < 0 ? "dip" : "rise");
    else
        snprintf(text, size, "-");
}

static void print_event(const struct hil_responses *r, unsigned i, FILE *to)
{
    unsigned worst = hil_responses_worst(r, i, FIRST_CONVERTER);
    char what[80], beyond[32], settling[24] = "-", pp[24] = "-";
    struct hil_figures f;

    hil_responses_figures(r, i, OUTPUT, &f);
    event_words(&r->events[i], what, sizeof what);
    beyond_words(&f, beyond, sizeof beyond);
    if (f.settled)
        snprintf(settling, sizeof settling, "%.2f", f.settling_ms);
    if (isfinite(f.pp))
        snprintf(pp, sizeof pp, "%.3f", f.pp);
    fprintf(to, "  %10.6g  %-28s %10.3f  %14s  %12s  %10s", (double)r->events[i].begin_ns * 1e-9,
            what, f.extreme, beyond, settling, pp);
    hil_responses_figures(r, i, worst, &f);
    if (r->measure_count > FIRST_CONVERTER + 1)
        fprintf(to, "  %u%s", worst - FIRST_CONVERTER, f.settled ? "" : ", which did not settle");
    fputc('\n', to);
}

static void print_events(const struct hil_responses *r, FILE *to)
{
    fprintf(to, "  %10s  %-28s %10s  %14s  %12s  %10s%s\n", "at s", "event", "extreme V", "beyond",
            "settling ms", "then p-p V",
            r->measure_count > FIRST_CONVERTER + 1 ? "  worst converter" : "");
    for (unsigned i = 0; i <= r->now && i < PRINTED_EVENTS; i++)
        print_event(r, i, to);
    if (r->now >= PRINTED_EVENTS)
        fprintf(to, "  %10s  %u more events are in summary.json\n", "...",
                r->now + 1 - PRINTED_EVENTS);
}

void hil_summary_print_output(const struct hil_state *s, FILE *to)
{
    const struct hil_responses *r = responses_of(s);

    if (!r)
        return;
    print_sum(r, to);
    print_each(r, to);
    print_events(r, to);
}
