/* Two sweeps over the same values in two columns, for example virtual time and real time. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "plot_sweep.h"

/* The run of the other sweep with the same value; NULL when there is none. */
static const struct plot_series *twin_of(const struct plot_series *series,
                                         const struct plot_sweep *other)
{
    for (unsigned i = 0; i < other->count; i++)
        if (strcmp(series->label, other->series[i].label) == 0)
            return &other->series[i];
    return NULL;
}

/* "missed 5 % | 0.25 %", by array of nodes; empty if the run does not tell. */
static void missed_words(const struct plot_run *run, char text[PLOT_TEXT_BYTES])
{
    struct hil_summary_reader_nodes nodes;
    size_t used = 0;

    text[0] = '\0';
    for (unsigned i = 0; hil_summary_reader_nodes(&run->told, i, &nodes); i++) {
        const double percent = nodes.due > 0 ? 100 * nodes.missed / nodes.due : NAN;
        if (isfinite(percent) && used + 32 < PLOT_TEXT_BYTES)
            used += (size_t)snprintf(text + used, PLOT_TEXT_BYTES - used, "%s%.3g %%",
                                     used ? " | " : "missed ", percent);
    }
}

/* "hub | cell": the arrays of nodes in the same order. */
static void set_missed_of(struct hil_figure *figure, const struct plot_sweep *right)
{
    char text[PLOT_TEXT_BYTES] = "";
    struct hil_summary_reader_nodes nodes;
    size_t used = 0;

    for (unsigned i = 0; hil_summary_reader_nodes(&right->series[0].run.told, i, &nodes); i++)
        if (used + 72 < PLOT_TEXT_BYTES)
            used += (size_t)snprintf(text + used, PLOT_TEXT_BYTES - used, "%s%.64s",
                                     used ? " | " : "", nodes.name);
    hil_figure_text(figure, "missed_of", "%s", text);
}

/* What ran on the right, and the periods that are others than on the left. */
static void set_right_title(struct hil_figure *figure, const struct plot_sweep *left,
                            const struct plot_sweep *right)
{
    const struct plot_series *twin = twin_of(&left->series[0], right);
    char text[PLOT_TEXT_BYTES];
    struct hil_summary_reader_nodes here, there;
    size_t used = (size_t)snprintf(text, sizeof text, "%s", right->subtitle);

    for (unsigned i = 0; twin && hil_summary_reader_nodes(&left->series[0].run.told, i, &here) &&
                         hil_summary_reader_nodes(&twin->run.told, i, &there);
         i++)
        if (fabs(here.period_us - there.period_us) > 0 && used + 96 < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "; %.64s at %g µs",
                                     there.name, there.period_us);
    hil_figure_text(figure, "right_title", "%s", text);
}

static void set_text(struct hil_figure *figure, const char *array, unsigned i, const char *text)
{
    char variable[40];

    snprintf(variable, sizeof(variable), "%s[%u]", array, i + 1);
    hil_figure_text(figure, variable, "%s", text);
}

/* Sets the results of the twins, how often they were late, and their curves. */
static void set_twins(struct hil_figure *figure, const struct plot_sweep *left,
                      const struct plot_sweep *right, const struct plot_window *window,
                      struct plot_range *range)
{
    fputs("array twin_note[n]\narray missed[n]\narray held[n]\n", figure->values);
    for (unsigned i = 0; i < left->count; i++) {
        const struct plot_series *twin = twin_of(&left->series[i], right);
        char missed[PLOT_TEXT_BYTES] = "";

        if (twin) {
            missed_words(&twin->run, missed);
            plot_curve(figure, "twin", i + 1, &twin->views[PLOT_ALL], window);
            plot_range_include(range, &twin->views[PLOT_ALL]);
        }
        set_text(figure, "twin_note", i, twin ? twin->note : "no record");
        set_text(figure, "missed", i, missed);
        fprintf(figure->values, "held[%u] = %d\n", i + 1,
                !twin || hil_summary_reader_held(&twin->run.told));
    }
}

static int draw(const struct plot_sweep *left, const struct plot_sweep *right)
{
    const struct plot_window window = plot_window(left->from_s, left->to_s[PLOT_ALL]);
    struct plot_range range = {INFINITY, -INFINITY};
    struct hil_figure figure;
    const int rc = hil_figure_open(&figure, left->to, "figure-beside", left->messages);
    if (rc)
        return rc;

    hil_figure_text(&figure, "title", "%s", left->title);
    hil_figure_text(&figure, "subtitle", "%s", "");
    hil_figure_text(&figure, "left_title", "%s", left->subtitle);
    set_right_title(&figure, left, right);
    plot_sweep_set_axes(left, &figure, &window);
    set_missed_of(&figure, right);
    plot_sweep_set_series(left, &figure);
    for (unsigned i = 0; i < left->count; i++)
        plot_series_curves(&left->series[i], &figure, i, PLOT_ALL, &window, &range);
    set_twins(&figure, left, right, &window, &range);
    plot_range_set(&figure, 1, range);
    return hil_figure_draw(&figure, "series-beside.gp");
}

/* Limits both to the time that both have. */
static int read_both(struct plot_sweep *left, struct plot_sweep *right, struct hil_plot_span span)
{
    span.to_s = fmin(span.to_s, fmin(plot_sweep_end(left), plot_sweep_end(right)));
    const int rc = plot_sweep_read(left, span);

    return rc ? rc : plot_sweep_read(right, span);
}

int plot_beside_figure(const char *dir, const char *other, const char *to,
                       struct hil_plot_span span, FILE *messages)
{
    struct plot_sweep *left = NULL, *right = NULL;
    int rc = plot_sweep_open(&left, dir, to, messages);

    if (!rc)
        rc = plot_sweep_open(&right, other, NULL, messages);
    if (!rc)
        rc = read_both(left, right, span);
    if (!rc)
        rc = draw(left, right);
    plot_sweep_close(left);
    plot_sweep_close(right);
    return rc;
}
