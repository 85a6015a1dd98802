#include "plot_views.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* The view is this much wider on its left, as a share of it. */
static const double views_before = 0.1;

/* What it covers at least of the time to the next event. */
static const double views_least = 0.25;

static struct plot_views views_of_span(const struct plot_run *run,
                                       const struct plot_measure *measure,
                                       struct hil_plot_span span)
{
    const struct plot_window all = plot_window(span.from_s, span.to_s);

    return (struct plot_views){
        .count = PLOT_TWO_VIEWS,
        .windows = {all, all},
        .steady = {measure->told.figures.from_s, measure->told.figures.to_s},
        .is_part = plot_span_is_part(span, run->duration_s),
    };
}

/* The part of the run around an event: until the measure has settled twice over, or the next event
 * begins. */
static struct plot_window views_around(const struct plot_run *run,
                                       const struct plot_measure *measure, int number,
                                       struct hil_summary_reader_event *event)
{
    const struct plot_measure *judged = measure->told.judged ? measure : &run->first;
    struct hil_summary_reader_event next;
    struct hil_summary_reader_figures figures;

    hil_summary_reader_after(&run->told, number + 1, "", &next, &figures);
    hil_summary_reader_after(&run->told, number, judged->told.name ? judged->told.name : "", event,
                             &figures);
    if (number == 0)
        return plot_window(0, plot_run_startup(run, measure));
    const double end_s = isfinite(next.time_s) ? next.time_s : run->duration_s;
    const double over_s = fmax(event->over_s, event->time_s);
    const double least_s = views_least * (end_s - event->time_s);
    const double until_s =
        fmin(end_s, over_s + fmax(plot_run_interval(run, figures.settling_ms), least_s));
    const double from_s = event->time_s - views_before * (until_s - event->time_s);
    return plot_window(fmax(from_s, 0), until_s);
}

struct plot_views plot_views_of(const struct plot_run *run, const struct plot_measure *measure,
                                struct hil_plot_span span)
{
    struct plot_views views = views_of_span(run, measure, span);
    struct hil_summary_reader_event event;
    struct hil_summary_reader_figures figures;
    const struct plot_measure *judged = measure->told.judged ? measure : &run->first;
    const bool rests = judged->told.startup_ms == 0;

    if (views.is_part)
        return views;
    views.windows[PLOT_EVENT] = plot_window(0, plot_run_startup(run, measure));
    hil_summary_reader_after(&run->told, 0, "", &views.events[PLOT_EVENT], &figures);
    hil_summary_reader_after(&run->told, 1, "", &event, &figures);
    if (rests && isfinite(event.time_s))
        views.windows[PLOT_EVENT] = views_around(run, judged, 1, &views.events[PLOT_EVENT]);
    return views;
}

struct plot_views plot_views_of_events(const struct plot_run *run,
                                       const struct plot_measure *measure,
                                       struct hil_plot_span span)
{
    const unsigned events = hil_summary_reader_event_count(&run->told);
    struct plot_views views = plot_views_of(run, measure, span);

    if (views.is_part || events < 2)
        return views;
    views.count = 1 + events < PLOT_RUN_VIEWS ? 1 + events : PLOT_RUN_VIEWS;
    views.left_out = events - (views.count - 1);
    for (unsigned view = 1; view < views.count; view++)
        views.windows[view] = views_around(run, measure, (int)view - 1, &views.events[view]);
    return views;
}

int plot_no_memory(const struct plot_run *run)
{
    fprintf(run->messages, "%s: %s\n", run->dir, strerror(ENOMEM));
    return -ENOMEM;
}

/* --- curves ----------------------------------------------------------------------------------- */

int plot_pair_open(struct plot_pair *pair, const struct plot_views *views)
{
    int rc = 0;

    pair->count = views->count;
    for (unsigned view = 0; view < pair->count && !rc; view++)
        rc = hil_envelope_init(&pair->views[view], views->windows[view].from_s,
                               views->windows[view].to_s, HIL_FIGURE_COLUMNS);
    return rc;
}

void plot_pair_close(struct plot_pair *pair)
{
    for (unsigned view = 0; view < pair->count; view++)
        hil_envelope_fini(&pair->views[view]);
}

void plot_pair_hold(struct plot_pair *pair)
{
    for (unsigned view = 0; view < pair->count; view++)
        pair->views[view].held = true;
}

void plot_pair_add(struct plot_pair *pair, double time_s, double value)
{
    for (unsigned view = 0; view < pair->count; view++)
        hil_envelope_add(&pair->views[view], time_s, value);
}

void plot_pair_each(void *pair, double time_s, const double *value)
{
    plot_pair_add(pair, time_s, *value);
}

void plot_pair_draw(struct hil_figure *figure, const char *series, const struct plot_pair *pair,
                    const struct plot_views *views)
{
    for (unsigned view = 0; view < pair->count; view++)
        plot_curve(figure, series, view + 1, &pair->views[view], &views->windows[view]);
}

void plot_pair_ranges(struct hil_figure *figure, const struct plot_pair *one,
                      const struct plot_pair *other)
{
    for (unsigned view = 0; view < one->count; view++) {
        struct plot_range range = {INFINITY, -INFINITY};

        plot_range_include(&range, &one->views[view]);
        plot_range_include(&range, &other->views[view]);
        plot_range_set(figure, view + 1, range);
    }
}

/* --- titles, axes and marks ------------------------------------------------------------------- */

int plot_views_open(struct hil_figure *figure, const struct plot_run *run, const char *name,
                    const char *title)
{
    const char *invalid = hil_summary_reader_invalid(&run->told);
    char subtitle[PLOT_TEXT_BYTES];
    const int rc = hil_figure_open(figure, run->to, name, run->messages);
    if (rc)
        return rc;

    plot_run_describe(run, subtitle);
    hil_figure_text(figure, "title", "%s", title);
    hil_figure_text(figure, "subtitle", "%s%s%.255s", subtitle, invalid[0] ? "; NOT VALID: " : "",
                    invalid);
    return 0;
}

/* The event of a view, in at most so many letters. */
static void views_event(const struct plot_run *run, const struct plot_views *views, unsigned view,
                        char *text, size_t size)
{
    const char *name = views->events[view].name;
    size_t room = views->count > PLOT_TWO_VIEWS + 1 ? 31 : 50;

    snprintf(text, size, "%s", name && name[0] ? name : "start-up");
    for (unsigned i = 0; i < run->events.count; i++)
        if (view && run->events.at[i].at_s == views->events[view].time_s)
            snprintf(text, size, "%s", run->events.at[i].text);
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
    if (strlen(text) <= room)
        return;
    while (room > 0 && ((unsigned char)text[room] & 0xc0) == 0x80) /* within a letter of UTF-8 */
        room--;
    strcpy(text + room, "...");
}

/* event_name and event_at are those of the views; the times are in the unit of the whole. */
static void set_windows(struct hil_figure *figure, const struct plot_run *run,
                        const struct plot_views *views)
{
    char variable[32], event[PLOT_TEXT_BYTES];

    fprintf(figure->values,
            "is_part = %d\nviews = %u\nleft_out = %u\narray x_from[views]\narray x_to[views]\n"
            "array x_label[views]\narray event_name[views]\narray event_at[views]\n",
            views->is_part, views->count, views->left_out);
    for (unsigned view = 0; view < views->count; view++) {
        const struct plot_window *w = &views->windows[view];
        const double at_s = view && !views->is_part ? views->events[view].time_s : NAN;
        fprintf(figure->values, "x_from[%u] = %.12g\nx_to[%u] = %.12g\nevent_at[%u] = %.12g\n",
                view + 1, w->from_s * w->scale, view + 1, w->to_s * w->scale, view + 1,
                isfinite(at_s) ? at_s * views->windows[PLOT_WHOLE].scale : 0);
        views_event(run, views, view, event, sizeof event);
        snprintf(variable, sizeof variable, "event_name[%u]", view + 1);
        hil_figure_text(figure, variable, "%s", event);
        snprintf(variable, sizeof variable, "x_label[%u]", view + 1);
        hil_figure_text(figure, variable, "%s%s%s", w->label,
                        view && views->count == PLOT_TWO_VIEWS && !views->is_part ? ": " : "",
                        view && views->count == PLOT_TWO_VIEWS && !views->is_part ? event : "");
    }
}

void plot_views_set(struct hil_figure *figure, const struct plot_run *run,
                    const struct plot_views *views)
{
    set_windows(figure, run, views);
    plot_events_open(figure, views->count);
    for (unsigned view = 0; view < views->count; view++)
        plot_events_set(figure, view + 1, &run->events, views->steady, views->windows[view].from_s,
                        views->windows[view].to_s, views->windows[view].scale);
    plot_events_set_texts(figure, &run->events, views->windows[PLOT_WHOLE].from_s,
                          views->windows[PLOT_WHOLE].to_s);
}
