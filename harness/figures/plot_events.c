#include "plot_events.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static double events_number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void events_words(const json_t *changes, char *text, size_t size)
{
    static const struct {
        const char *key, *name, *unit;
    } quantities[] = {{"reference_v", "reference", "V"},
                      {"load_ohm", "load", "Ω"},
                      {"input_voltage_v", "input", "V"}};
    size_t used = 0;

    text[0] = '\0';
    for (int i = 0; i < 3 && used < size; i++) {
        const json_t *change = json_object_get(changes, quantities[i].key);
        if (change)
            used += (size_t)snprintf(text + used, size - used, "%s%s %.4g to %.4g %s",
                                     used ? ",\n" : "", quantities[i].name,
                                     events_number(change, "from"), events_number(change, "to"),
                                     quantities[i].unit);
    }
}

void plot_events_read(struct plot_events *events, const json_t *summary)
{
    const json_t *list = json_object_get(summary, "events");
    const json_t *window = json_object_get(json_object_get(summary, "output"), "window");

    events->count = 0;
    events->from_s = events_number(window, "from_s");
    events->to_s = events_number(window, "to_s");
    for (size_t i = 1; i < json_array_size(list) && events->count < PLOT_EVENTS_MAX; i++) {
        const json_t *one = json_array_get(list, i);
        struct plot_event *event = &events->at[events->count++];
        event->at_s = events_number(one, "time_s");
        events_words(json_object_get(one, "changes"), event->text, sizeof event->text);
    }
}

static bool events_seen(const struct plot_event *event, double from_s, double to_s)
{
    return event->at_s >= from_s && event->at_s <= to_s;
}

void plot_events_open(struct hil_figure *figure, unsigned count)
{
    fprintf(figure->values, "array events[%u]\narray window_from[%u]\narray window_to[%u]\n", count,
            count, count);
}

void plot_events_set(struct hil_figure *figure, unsigned i, const struct plot_events *events,
                     double from_s, double to_s, double scale)
{
    double window_from = fmax(events->from_s, from_s), window_to = fmin(events->to_s, to_s);
    bool window = events->from_s < to_s && events->to_s > from_s;

    fprintf(figure->values, "events[%u] = '", i);
    for (unsigned k = 0; k < events->count; k++)
        if (events_seen(&events->at[k], from_s, to_s))
            fprintf(figure->values, "%.12g ", events->at[k].at_s * scale);
    fprintf(figure->values, "'\nwindow_from[%u] = %.12g\nwindow_to[%u] = %.12g\n", i,
            window ? window_from * scale : 0, i, window ? window_to * scale : 0);
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
