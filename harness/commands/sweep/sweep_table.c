/* Prints the table of a sweep's points for a person. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sweep.h"

static void sweep_print_number(double value, int width, int digits)
{
    if (isfinite(value))
        printf(" %*.*f", width, digits, value);
    else
        printf(" %*s", width, "-");
}

/* The number of an event, as in the table of the events. */
static void sweep_print_event(const struct hil_summary_reader_event *event)
{
    if (event->number >= 0)
        printf(" %5d", event->number);
    else
        printf(" %5s", "-");
}

static void sweep_print_window(const struct hil_summary_reader_figures *f)
{
    char text[32] = "-";

    if (isfinite(f->from_s))
        snprintf(text, sizeof text, "%.4g-%.4g", f->from_s, f->to_s);
    printf(" %13s", text);
}

const char *sweep_verdict(const struct hil_summary_reader *told)
{
    const char *verdict = json_string_value(json_object_get(told->root, "verdict"));

    return verdict ? verdict : "";
}

/* Whether the run kept its limits. */
static const char *sweep_limit_words(const struct hil_summary_reader *told)
{
    const char *verdict = sweep_verdict(told);

    if (json_array_size(json_object_get(told->root, "limits")) == 0)
        return "";
    return strcmp(verdict, "passed") == 0   ? ", passed"
           : strcmp(verdict, "failed") == 0 ? ", FAILED"
                                            : ", inconclusive";
}

/* "does not settle after load 10 to 8 Ohm at 0.2 s"; the only event needs no words. */
static void sweep_print_unsettled(const struct hil_summary_reader *told, const char *name,
                                  const struct hil_summary_reader_event *event)
{
    char words[HIL_EVENT_WORDS_BYTES] = "";

    if (hil_summary_reader_event_count(told) > 1)
        hil_summary_reader_event_words(event, words);
    printf("  %sdoes not settle%s%s", name, words[0] ? " after " : "", words);
}

/* The result of the measure, and whether the run can be believed. */
static void sweep_print_verdict(const struct hil_summary_reader *told,
                                const struct hil_summary_reader_measure *measure)
{
    struct hil_summary_reader_measure array;
    char name[100];
    const bool others = hil_summary_reader_first(told, true, &array);

    if (!measure->judged)
        printf("  -");
    else if (!measure->settled)
        sweep_print_unsettled(told, "", &measure->settling_event);
    else if (others && array.judged && !array.settled) {
        snprintf(name, sizeof name, "%.80s[%d] ", array.name, array.worst);
        sweep_print_unsettled(told, name, &array.settling_event);
    } else
        printf("  settles");
    printf("%s%s\n", hil_summary_reader_valid(told) == 1 ? "" : ", NOT VALID",
           sweep_limit_words(told));
}

/* The missed steps of the first nodes: in a control loop, the controller's. */
double sweep_missed(const struct hil_summary_reader *told)
{
    struct hil_summary_reader_nodes nodes;

    return hil_summary_reader_nodes(told, 0, &nodes) ? nodes.missed : NAN;
}

/* The width of the table's first column, for the longest name. */
static int sweep_name_width(const struct sweep *s)
{
    size_t width = 36;

    for (unsigned i = 0; i < s->point_count; i++)
        if (strlen(s->points[i].name) > width)
            width = strlen(s->points[i].name);
    return (int)width;
}

static void sweep_print_point(const struct sweep_point *p, int name_width)
{
    const struct hil_summary_reader *told = &p->told;
    struct hil_summary_reader_measure measure;
    double round_trip_us[3];

    printf("%-*s", name_width, p->name);
    if (!told->root) {
        printf(" no results\n");
        return;
    }
    hil_summary_reader_first(told, false, &measure);
    hil_summary_reader_round_trip(told, round_trip_us);
    sweep_print_number(measure.figures.overshoot_pct, 11, 2);
    sweep_print_event(&measure.overshoot_event);
    sweep_print_number(measure.figures.settling_ms, 11, 3);
    sweep_print_event(&measure.settling_event);
    sweep_print_number(measure.figures.rise_time_ms, 9, 3);
    sweep_print_number(measure.figures.steady_error, 10, 4);
    sweep_print_number(measure.figures.mean, 10, 3);
    sweep_print_number(measure.figures.pp, 10, 3);
    sweep_print_window(&measure.figures);
    sweep_print_number(sweep_missed(told), 8, 0);
    sweep_print_number(round_trip_us[0], 10, 1);
    sweep_print_number(round_trip_us[1], 10, 1);
    sweep_print_verdict(told, &measure);
}

/* Prints the measure's name and unit, "output_v" and "mean V", from the first point that has
 * them. */
static void sweep_print_head(const struct sweep *s, int name_width)
{
    char name[37] = "", error[24] = "error", mean[24] = "mean", pp[24] = "p-p";
    struct hil_summary_reader_measure measure;

    for (unsigned i = 0; i < s->point_count && !name[0]; i++) {
        if (!hil_summary_reader_first(&s->points[i].told, false, &measure))
            continue;
        snprintf(name, sizeof name, "%s", measure.name);
        snprintf(error, sizeof error, "error %.16s", measure.unit);
        snprintf(mean, sizeof mean, "mean %.16s", measure.unit);
        snprintf(pp, sizeof pp, "p-p %.16s", measure.unit);
    }
    printf("%-*s %11s %5s %11s %5s %9s %10s %10s %10s %13s %8s %10s %10s\n", name_width, name,
           "overshoot %", "event", "settling ms", "event", "rise ms", error, mean, pp, "from-to s",
           "missed", "round trip", "p99, us");
}

/* --- event by event -------------------------------------------------------------------------- */

enum { PRINTED_EVENTS = 8 };

unsigned sweep_event_count(const struct sweep *s)
{
    unsigned most = 0;

    for (unsigned i = 0; i < s->point_count; i++) {
        const unsigned count = hil_summary_reader_event_count(&s->points[i].told);
        most = count > most ? count : most;
    }
    return most;
}

/* The event's words if it is the same in all runs that have it. */
static void sweep_event_words(const struct sweep *s, int event, char words[HIL_EVENT_WORDS_BYTES])
{
    struct hil_summary_reader_figures unused;
    struct hil_summary_reader_event e;
    char other[HIL_EVENT_WORDS_BYTES];

    words[0] = '\0';
    for (unsigned i = 0; i < s->point_count; i++) {
        hil_summary_reader_after(&s->points[i].told, event, "", &e, &unused);
        hil_summary_reader_event_words(&e, other);
        if (words[0] && other[0] && strcmp(words, other) != 0)
            snprintf(words, HIL_EVENT_WORDS_BYTES, "differs from run to run: see sweep.csv");
        else if (!words[0])
            memcpy(words, other, sizeof other);
    }
}

static void sweep_print_events_of(const struct sweep_point *p, int events, int name_width)
{
    struct hil_summary_reader_measure measure;
    struct hil_summary_reader_figures f;
    struct hil_summary_reader_event e;

    printf("%-*s", name_width, p->name);
    hil_summary_reader_first(&p->told, false, &measure);
    for (int event = 0; event < events; event++) {
        hil_summary_reader_after(&p->told, event, measure.name, &e, &f);
        sweep_print_number(isfinite(f.overshoot_pct) ? f.overshoot_pct : f.deviation_pct, 13, 2);
        sweep_print_number(f.settling_ms, 11, 3);
    }
    putchar('\n');
}

/* A second table, with columns for each event. With one event the first table has all. */
static void sweep_print_events(const struct sweep *s, int name_width)
{
    const unsigned all = sweep_event_count(s);
    const int events = all < PRINTED_EVENTS ? (int)all : PRINTED_EVENTS;
    char words[HIL_EVENT_WORDS_BYTES];

    if (events < 2)
        return;
    printf("\nafter each event:\n");
    for (int event = 0; event < events; event++) {
        sweep_event_words(s, event, words);
        printf("  %d  %s\n", event, words);
    }
    printf("%-*s", name_width, "");
    for (int event = 0; event < events; event++)
        printf(" %2d: beyond %% %11s", event, "settling ms");
    putchar('\n');
    for (unsigned i = 0; i < s->point_count; i++)
        sweep_print_events_of(&s->points[i], events, name_width);
    if (all > PRINTED_EVENTS)
        printf("  %u more events are in sweep.csv\n", all - PRINTED_EVENTS);
    putchar('\n');
}

void sweep_print_table(const struct sweep *s)
{
    const int name_width = sweep_name_width(s);
    unsigned passed = 0;

    sweep_print_head(s, name_width);
    for (unsigned i = 0; i < s->point_count; i++) {
        sweep_print_point(&s->points[i], name_width);
        passed += sweep_passed(s, i);
    }
    sweep_print_events(s, name_width);
    if (s->has_limits)
        printf("%u of %u passed\n", passed, s->point_count);
    printf("results: %s\n", s->out);
}
