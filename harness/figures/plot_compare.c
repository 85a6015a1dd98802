/* Draws two records: the signals that differ most, and by how much. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_data.h"

/* Rows of the figure. */
enum { COMPARED_MAX = 6 };

struct compared {
    const struct hil_difference *at[COMPARED_MAX];
    unsigned count;
};

/* Chooses the signals that differ most, or the first ones if none differ. */
static void choose(struct compared *chosen, const struct hil_comparison *c)
{
    *chosen = (struct compared){0};
    for (unsigned i = 0; i < c->count; i++) {
        const struct hil_difference *d = &c->at[i];
        unsigned at = chosen->count;
        if (!d->in_first || !d->in_second || d->rows == 0)
            continue;
        while (at > 0 && (d->excess > chosen->at[at - 1]->excess ||
                          (d->excess == chosen->at[at - 1]->excess &&
                           d->greatest > chosen->at[at - 1]->greatest)))
            at--;
        if (at == COMPARED_MAX)
            continue;
        const unsigned kept =
            chosen->count < COMPARED_MAX ? chosen->count : (unsigned)COMPARED_MAX - 1;
        memmove(&chosen->at[at + 1], &chosen->at[at], (kept - at) * sizeof chosen->at[0]);
        chosen->at[at] = d;
        chosen->count = kept + 1;
    }
}

/* --- one signal ------------------------------------------------------------------------------ */

enum { CURVE_A, CURVE_B, CURVE_DIFFERENCE, CURVES };

static void fill(struct hil_envelope curves[CURVES], const struct hil_recorded_series *a,
                 const struct hil_recorded_series *b)
{
    size_t near = 0;

    for (size_t i = 0; i < a->count; i++) {
        hil_envelope_add(&curves[CURVE_A], a->times_s[i], a->values[i]);
        hil_envelope_add(&curves[CURVE_DIFFERENCE], a->times_s[i],
                         hil_compare_at(b, a->times_s[i], &near) - a->values[i]);
    }
    for (size_t i = 0; i < b->count; i++)
        hil_envelope_add(&curves[CURVE_B], b->times_s[i], b->values[i]);
}

static const struct hil_column *column_of(const struct hil_trace_reader *record,
                                          const struct hil_recorded *one)
{
    unsigned count;

    return &hil_trace_streams(record, &count)[one->stream].columns[one->column];
}

static void hold(struct hil_envelope curves[CURVES], const struct hil_column *a,
                 const struct hil_column *b)
{
    curves[CURVE_A].held = hil_column_is_held(a);
    curves[CURVE_B].held = hil_column_is_held(b);
    curves[CURVE_DIFFERENCE].held = curves[CURVE_A].held && curves[CURVE_B].held;
}

static void draw(struct hil_figure *figure, unsigned row, const struct hil_difference *d,
                 const struct hil_envelope curves[CURVES], const struct plot_window *window)
{
    static const char *const series[CURVES] = {"first", "second", "difference"};
    struct plot_range values = {INFINITY, -INFINITY}, differences = {0, 0};
    char variable[32], unit[40];

    for (unsigned i = 0; i < CURVES; i++)
        plot_curve(figure, series[i], row, &curves[i], window);
    plot_range_include(&values, &curves[CURVE_A]);
    plot_range_include(&values, &curves[CURVE_B]);
    plot_range_include(&differences, &curves[CURVE_DIFFERENCE]);
    plot_range_set(figure, 2 * row - 1, values);
    plot_range_set(figure, 2 * row, differences);
    plot_in_unit(d->unit, unit);
    snprintf(variable, sizeof variable, "label[%u]", row);
    hil_figure_text(figure, variable, "%s%s", d->name, unit);
}

static int draw_row(struct hil_figure *figure, unsigned row, const struct hil_difference *d,
                    const struct hil_trace_reader *first, const struct hil_trace_reader *second,
                    const struct plot_window *window)
{
    struct hil_recorded_series a = {0}, b = {0};
    struct hil_envelope curves[CURVES] = {0};
    int rc = hil_recorded_read(&a, first, &d->first);

    if (!rc)
        rc = hil_recorded_read(&b, second, &d->second);
    for (unsigned i = 0; !rc && i < CURVES; i++)
        rc = hil_envelope_init(&curves[i], window->from_s, window->to_s, HIL_FIGURE_COLUMNS / 2);
    if (!rc) {
        hold(curves, column_of(first, &d->first), column_of(second, &d->second));
        fill(curves, &a, &b);
        draw(figure, row, d, curves, window);
    }
    for (unsigned i = 0; i < CURVES; i++)
        hil_envelope_fini(&curves[i]);
    hil_recorded_series_free(&a);
    hil_recorded_series_free(&b);
    return rc;
}

/* --- events ---------------------------------------------------------------------------------- */

/* More lines than these hide the curves. */
enum { COMPARED_EVENTS_MAX = 32 };

/* Sets a text with the times of those events in one record that differ. */
static void set_times(struct hil_figure *figure, const char *variable,
                      const struct hil_event_comparison *events, bool first,
                      const struct plot_window *window)
{
    unsigned count = 0;

    fprintf(figure->values, "%s = '", variable);
    for (size_t i = 0; i < events->differ && count < COMPARED_EVENTS_MAX; i++) {
        const struct hil_trace_event *e = first ? events->at[i].a : events->at[i].b;
        if (e && ++count)
            fprintf(figure->values, "%.12g ", e->time_s * window->scale);
    }
    fputs("'\n", figure->values);
}

static void set_events(struct hil_figure *figure, const struct hil_event_comparison *events,
                       const struct plot_window *window)
{
    set_times(figure, "first_events", events, true, window);
    set_times(figure, "second_events", events, false, window);
}

/* --- the figure ------------------------------------------------------------------------------ */

int hil_plot_compare(const char *first_dir, const char *second_dir, const char *to,
                     const struct hil_trace_reader *first, const struct hil_trace_reader *second,
                     const struct hil_comparison *c, const struct hil_event_comparison *events,
                     FILE *messages)
{
    const double end_s = fmax(c->first_end_s, c->second_end_s);
    const struct plot_window window = plot_window(0, nextafter(end_s, INFINITY));
    struct hil_figure figure;
    struct compared chosen;

    choose(&chosen, c);
    if (chosen.count == 0)
        return 0;
    int rc = hil_figure_open(&figure, to ? to : second_dir, "compare", messages);
    if (rc)
        return rc;
    hil_figure_text(&figure, "title", "A: %s", first_dir);
    hil_figure_text(&figure, "subtitle", "B: %s", second_dir);
    hil_figure_text(&figure, "note", "%u of %u signals and %zu of %zu events differ", c->differ,
                    c->count, events->differ, events->count);
    set_events(&figure, events, &window);
    hil_figure_text(&figure, "x_label", "%s", window.label);
    fprintf(figure.values, "n = %u\narray label[n]\nx_from = %.9g\nx_to = %.9g\n", chosen.count,
            window.from_s * window.scale, window.to_s * window.scale);
    for (unsigned i = 0; !rc && i < chosen.count; i++)
        rc = draw_row(&figure, i + 1, chosen.at[i], first, second, &window);
    if (!rc)
        return hil_figure_draw(&figure, "run-compare.gp");
    fprintf(messages, "%s: %s\n", second_dir, strerror(-rc));
    hil_figure_drop(&figure);
    return rc;
}
