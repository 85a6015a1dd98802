#include "plot_events.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "../h5/trace_events.h"
#include "../record/event_kinds.h"
#include "../record/summary_reader.h"
#include "../scenario/yaml/scenario_check.h"
#include "key_words.h"

/* "load torque 24 to 22 Nm" */
static size_t events_change(const char *source, const json_t *change, char *text, size_t size)
{
    const char *unit = json_string_value(json_object_get(change, "unit"));
    const char *words = hil_unit_words(unit ? unit : "");
    const int used = snprintf(text, size, "%.40s %.4g to %.4g%s%.16s", source,
                              hil_summary_reader_number(change, "from"),
                              hil_summary_reader_number(change, "to"), words[0] ? " " : "", words);

    for (char *c = text; *c != '\0'; c++)
        if (*c == '_')
            *c = ' ';
    return (size_t)used;
}

/* One line for each change. A line that does not fit is left out. */
static void events_words(json_t *changes, char *text, size_t size)
{
    const char *source;
    json_t *change;
    size_t used = 0;

    text[0] = '\0';
    json_object_foreach(changes, source, change)
    {
        char line[128];
        const size_t length = events_change(source, change, line, sizeof line);
        if (length >= sizeof line || used + length + 3 > size)
            return;
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ",\n" : "", line);
    }
}

/* Reads the faults that began. */
static void events_read_faults(struct plot_events *events, const json_t *list)
{
    events->fault_count = 0;
    for (size_t i = 0; i < json_array_size(list) && events->fault_count < PLOT_FAULTS_MAX; i++) {
        const json_t *one = json_array_get(list, i);
        const double from_s = hil_summary_reader_number(one, "began_s"),
                     to_s = hil_summary_reader_number(one, "ended_s");
        const char *name = json_string_value(json_object_get(one, "name"));
        struct plot_fault *fault = &events->faults[events->fault_count];
        if (!isfinite(from_s) || !name || !scenario_name_fits(name))
            continue;
        *fault = (struct plot_fault){.from_s = from_s, .to_s = isfinite(to_s) ? to_s : INFINITY};
        snprintf(fault->name, sizeof fault->name, "%s", name);
        events->fault_count++;
    }
}

/* Whether the name of a limit or figure has only letters that are safe in a script. */
static bool events_is_plain(const char *text)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

    return text && *text && text[strspn(text, letters)] == '\0';
}

/* Reads the time at which a limit failed, and the figure that shows it. */
static void events_read_failures(struct plot_events *events, const json_t *list)
{
    events->failure_count = 0;
    for (size_t i = 0; i < json_array_size(list) && events->failure_count < PLOT_FAILURES_MAX;
         i++) {
        const json_t *one = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(one, "name"));
        const char *figure = json_string_value(json_object_get(one, "figure"));
        struct plot_failure *failure = &events->failures[events->failure_count];
        *failure = (struct plot_failure){.at_s = hil_summary_reader_number(one, "time_s")};
        if (!figure || !isfinite(failure->at_s) || !events_is_plain(name))
            continue;
        snprintf(failure->limit, sizeof failure->limit, "%s", name);
        snprintf(failure->figure, sizeof failure->figure, "%.*s", (int)strcspn(figure, "."),
                 figure);
        events->failure_count++;
    }
}

void plot_events_read(struct plot_events *events, const json_t *summary)
{
    const json_t *list = json_object_get(summary, "events");

    events->count = 0;
    for (size_t i = 1; i < json_array_size(list) && events->count < PLOT_EVENTS_MAX; i++) {
        const json_t *one = json_array_get(list, i);
        struct plot_event *event = &events->at[events->count++];
        event->at_s = hil_summary_reader_number(one, "time_s");
        events_words(json_object_get(one, "changes"), event->text, sizeof event->text);
    }
    events_read_faults(events, json_object_get(summary, "faults"));
    events_read_failures(events, json_object_get(summary, "limits"));
}

/* Whether the same event is there already: each node that a source feeds reports the change. */
static bool events_told(const struct plot_events *events, const char *text)
{
    for (unsigned i = events->count; i-- > 0;)
        if (strcmp(events->at[i].text, text) == 0)
            return true;
    return false;
}

static void events_add_change(struct plot_events *events, const struct hil_trace_event *change)
{
    struct plot_event *event = &events->at[events->count];
    char text[sizeof event->text];

    snprintf(text, sizeof text, "%.80s = %.6g", change->of, change->value);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '_')
            *c = ' ';
    if (!isfinite(change->time_s) || events_told(events, text))
        return;
    event->at_s = change->time_s;
    memcpy(event->text, text, sizeof text);
    events->count++;
}

void plot_events_add_changes(struct plot_events *events, const struct hil_trace_reader *trace)
{
    const char *set = hil_event_kind_name(HIL_EVENT_SET);
    struct hil_trace_events all;

    if (hil_trace_events_read(&all, trace))
        return;
    for (size_t i = 0; i < all.count && events->count < PLOT_EVENTS_MAX; i++)
        if (strcmp(all.at[i].kind, set) == 0)
            events_add_change(events, &all.at[i]);
    hil_trace_events_free(&all);
}

static bool events_seen(const struct plot_event *event, double from_s, double to_s)
{
    return event->at_s >= from_s && event->at_s <= to_s;
}

void plot_events_open(struct hil_figure *figure, unsigned count)
{
    static const char *const arrays[] = {"events",   "faults",      "fault_names",
                                         "failures", "window_from", "window_to"};

    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        fprintf(figure->values, "array %s[%u]\n", arrays[i], count);
}

static bool events_fault_seen(const struct plot_fault *fault, double from_s, double to_s)
{
    return fault->from_s < to_s && fault->to_s >= from_s;
}

static void events_set_faults(struct hil_figure *figure, unsigned i,
                              const struct plot_events *events, double from_s, double to_s,
                              double scale)
{
    fprintf(figure->values, "faults[%u] = '", i);
    for (unsigned k = 0; k < events->fault_count; k++)
        if (events_fault_seen(&events->faults[k], from_s, to_s))
            fprintf(figure->values, "%.12g %.12g ", fmax(events->faults[k].from_s, from_s) * scale,
                    fmin(events->faults[k].to_s, to_s) * scale);
    fprintf(figure->values, "'\nfault_names[%u] = '", i);
    for (unsigned k = 0; k < events->fault_count; k++)
        if (events_fault_seen(&events->faults[k], from_s, to_s))
            fprintf(figure->values, "%s ", events->faults[k].name);
    fputs("'\n", figure->values);
}

static void events_set_failures(struct hil_figure *figure, unsigned i,
                                const struct plot_events *events, double from_s, double to_s,
                                double scale)
{
    fprintf(figure->values, "failures[%u] = '", i);
    for (unsigned k = 0; k < events->failure_count; k++) {
        const struct plot_failure *one = &events->failures[k];
        if (strcmp(one->figure, figure->name) == 0 && one->at_s >= from_s && one->at_s <= to_s)
            fprintf(figure->values, "%.12g %s ", one->at_s * scale, one->limit);
    }
    fputs("'\n", figure->values);
}

void plot_events_set(struct hil_figure *figure, unsigned i, const struct plot_events *events,
                     struct plot_steady steady, double from_s, double to_s, double scale)
{
    double window_from = fmax(steady.from_s, from_s), window_to = fmin(steady.to_s, to_s);
    bool window = steady.from_s < to_s && steady.to_s > from_s;

    fprintf(figure->values, "events[%u] = '", i);
    for (unsigned k = 0; k < events->count; k++)
        if (events_seen(&events->at[k], from_s, to_s))
            fprintf(figure->values, "%.12g ", events->at[k].at_s * scale);
    fprintf(figure->values, "'\nwindow_from[%u] = %.12g\nwindow_to[%u] = %.12g\n", i,
            window ? window_from * scale : 0, i, window ? window_to * scale : 0);
    events_set_faults(figure, i, events, from_s, to_s, scale);
    events_set_failures(figure, i, events, from_s, to_s, scale);
}

void plot_events_set_texts(struct hil_figure *figure, const struct plot_events *events,
                           double from_s, double to_s)
{
    char variable[32];
    unsigned seen = 0;

    fprintf(figure->values, "array event_text[%u]\n", events->count + 1);
    for (unsigned k = 0; k < events->count; k++) {
        if (!events_seen(&events->at[k], from_s, to_s))
            continue;
        snprintf(variable, sizeof variable, "event_text[%u]", ++seen);
        hil_figure_text(figure, variable, "%s", events->at[k].text);
    }
}
