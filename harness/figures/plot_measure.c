/* A measure of a run beside its reference. */
#include <math.h>

#include "plot_run.h"

/* The value, the reference, and the missed steps of the node. */
struct measured {
    struct plot_pair value, reference, missed;
};

static void add_missed(void *missed, double time_s)
{
    plot_pair_add(missed, time_s, 0);
}

/* Writes one mark for each column of the picture in which steps were missed. Returns their
 * number. */
static unsigned plot_marks(struct hil_figure *figure, unsigned view,
                           const struct hil_envelope *missed, double x_scale)
{
    FILE *data = hil_figure_data(figure, "missed", view + 1);
    const double width = (missed->to - missed->from) / missed->column_count;
    unsigned count = 0;

    if (!data)
        return 0;
    for (unsigned i = 0; i < missed->column_count; i++) {
        if (missed->columns[i].count == 0)
            continue;
        fprintf(data, "%.9g\n", (missed->from + width * (i + 0.5)) * x_scale);
        count++;
    }
    hil_figure_data_end(figure, data);
    return count;
}

static void plot_missed(struct hil_figure *figure, const struct plot_pair *missed,
                        const struct plot_views *views)
{
    unsigned counts[PLOT_RUN_VIEWS];

    for (unsigned view = 0; view < views->count; view++)
        counts[view] = plot_marks(figure, view, &missed->views[view], views->windows[view].scale);
    fprintf(figure->values, "missed = %u\n", counts[PLOT_WHOLE]);
}

static void set_words(struct hil_figure *figure, const struct plot_run *run,
                      const struct plot_measure *m)
{
    char note[PLOT_TEXT_BYTES], overshoot[PLOT_TEXT_BYTES] = "", steady[PLOT_TEXT_BYTES];
    char words[PLOT_TEXT_BYTES], when[PLOT_TEXT_BYTES];

    plot_run_judge(run, m, note);
    hil_figure_text(figure, "note", "%s", note);
    plot_run_steady(m, steady);
    plot_event_words(run, &m->told.overshoot_event, when);
    if (isfinite(m->told.figures.overshoot_pct))
        snprintf(overshoot, sizeof overshoot, "overshoot %.3g %%%.40s%s",
                 m->told.figures.overshoot_pct, when, steady[0] ? "; " : "");
    hil_figure_text(figure, "overshoot", "%s%s%s", overshoot, steady, steady[0] ? " (shaded)" : "");
    plot_measure_words(m, words);
    hil_figure_text(figure, "value_label", "%s", words);
    plot_measure_label(m, words);
    hil_figure_text(figure, "y_label", "%s", words);
}

static int draw_measure(const struct plot_run *run, const struct plot_measure *m, const char *name,
                        const struct plot_views *views, const struct measured *measured)
{
    char title[PLOT_TEXT_BYTES];
    struct hil_figure figure;

    plot_measure_words(m, title);
    plot_capital(title);
    const int rc = plot_views_open(&figure, run, name, title);
    if (rc)
        return rc;
    set_words(&figure, run, m);
    plot_views_set(&figure, run, views);
    fprintf(figure.values, "has_reference = %d\n", m->reference >= 0);
    plot_pair_draw(&figure, "value", &measured->value, views);
    if (m->reference >= 0)
        plot_pair_draw(&figure, "reference", &measured->reference, views);
    plot_missed(&figure, &measured->missed, views);
    plot_pair_ranges(&figure, &measured->value, &measured->reference);
    return hil_figure_draw(&figure, "run-measure.gp");
}

int plot_run_draw_measure(const struct plot_run *run, const struct plot_measure *m,
                          const char *name, struct hil_plot_span span)
{
    const struct plot_views views = plot_views_of_events(run, m, span);
    struct measured measured = {0};
    int rc = plot_pair_open(&measured.value, &views);

    if (!rc)
        rc = plot_pair_open(&measured.reference, &views);
    if (!rc)
        rc = plot_pair_open(&measured.missed, &views);
    plot_pair_hold(&measured.reference);
    if (hil_column_is_held(m->column))
        plot_pair_hold(&measured.value);
    if (rc)
        rc = plot_no_memory(run);
    if (!rc)
        rc = plot_run_scan(run, m->stream, m->value, plot_pair_each, &measured.value);
    if (!rc && m->reference >= 0)
        rc = plot_run_scan(run, m->stream, (unsigned)m->reference, plot_pair_each,
                           &measured.reference);
    if (!rc)
        rc = plot_run_each_missed(run, m->stream, add_missed, &measured.missed);
    if (!rc)
        rc = draw_measure(run, m, name, &views, &measured);
    plot_pair_close(&measured.value);
    plot_pair_close(&measured.reference);
    plot_pair_close(&measured.missed);
    return rc;
}
