/* The loop's round trip against the controller's period, as the runs of a sweep measured it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plot_sweep.h"

static bool is_over_period(const struct plot_sweep *sweep)
{
    return strncmp(sweep->series[0].label, "T = ", 4) == 0 && !strchr(sweep->series[0].label, ',');
}

/* Writes "T p50 p99 p99.9", in us. */
static unsigned write_points(struct hil_figure *figure, const struct plot_sweep *sweep)
{
    FILE *data = hil_figure_data(figure, "points", 1);
    unsigned written = 0;

    if (!data)
        return 0;
    for (unsigned i = 0; i < sweep->count; i++) {
        const double *us = sweep->series[i].run.round_trip_us;

        if (!isfinite(us[0]))
            continue;
        fprintf(data, "%.9g %.9g %.9g %.9g\n", strtod(sweep->series[i].value, NULL), us[0], us[1],
                us[2]);
        written++;
    }
    hil_figure_data_end(figure, data);
    return written;
}

int plot_sweep_round_trip(const struct plot_sweep *sweep)
{
    struct hil_figure figure;

    if (!is_over_period(sweep))
        return 0;
    const int rc = hil_figure_open(&figure, sweep->dir, "round-trip", sweep->messages);
    if (rc)
        return rc;
    hil_figure_text(&figure, "title", "Round trip of the control loop");
    hil_figure_text(&figure, "subtitle", "%s", sweep->subtitle);
    if (write_points(&figure, sweep) == 0) {
        hil_figure_drop(&figure);
        return 0;
    }
    return hil_figure_draw(&figure, "series-round-trip.gp");
}
