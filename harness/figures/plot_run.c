/* All figures of a run. */
#include "plot_run.h"
#include "plot_names.h"

static int draw_named(const struct plot_run *run, const struct plot_names *names,
                      const struct plot_named *named, const struct plot_views *views,
                      struct hil_plot_span span)
{
    const struct plot_group *groups = names->groups.at;
    struct plot_measure m;

    switch (named->shows) {
    case PLOT_SHOWS_MEASURE:
        plot_run_measure(run, named->number, &m);
        return plot_run_draw_measure(run, &m, named->name, span);
    case PLOT_SHOWS_ARRAY:
        return plot_run_draw_array(run, &groups[named->number], named->name, views);
    default:
        return plot_run_draw_node(run, &names->groups, groups[named->number].node, named->name,
                                  views);
    }
}

static int draw_signals(const struct plot_run *run, struct hil_plot_span span)
{
    const struct plot_views views = plot_views_of(run, &run->first, span);
    struct plot_names names;
    int rc = plot_names_open(&names, run) ? plot_no_memory(run) : 0;

    for (unsigned i = 0; i < names.count && !rc; i++)
        rc = draw_named(run, &names, &names.at[i], &views, span);
    plot_names_close(&names);
    return rc;
}

/* These figures have no time axis: they cover the whole run. */
static int draw_times(const struct plot_run *run)
{
    const int rc =
        plot_run_draw_histograms(run, "latency", "Step latencies (µs)", "run-latency.gp");

    return rc ? rc
              : plot_run_draw_histograms(run, "tail", "Share of steps that took longer",
                                         "run-tail.gp");
}

static int draw_run(const struct plot_run *run, struct hil_plot_span span)
{
    const bool is_part = plot_span_is_part(span, run->duration_s);
    int rc = plot_span_cut(&span, run->duration_s, run->dir, run->messages);

    if (!rc)
        rc = draw_signals(run, span);
    if (!rc && !is_part)
        rc = draw_times(run);
    return rc;
}

int plot_run_figures(const char *dir, const char *to, struct hil_plot_span span, FILE *messages)
{
    struct plot_run run;
    int rc = plot_run_open(&run, dir, NULL, messages);
    if (rc)
        return rc;

    run.to = to ? to : dir;
    rc = draw_run(&run, span);
    plot_run_close(&run);
    return rc;
}
