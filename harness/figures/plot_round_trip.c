/* The loop's round trip against the controller's period, as the runs of a sweep measured it. */
#include <math.h>
#include <stdlib.h>

#include "plot_sweep.h"

/* Writes "T p50 p99 p99.9", in us. */
static unsigned write_points(struct hil_figure *figure, const struct plot_sweep *sweep, int key)
{
    FILE *data = hil_figure_data(figure, "points", 1);
    unsigned written = 0;

    if (!data)
        return 0;
    for (unsigned i = 0; i < sweep->count; i++) {
        const double *us = sweep->series[i].run.round_trip_us;

        if (!isfinite(us[0]))
            continue;
        const char *period =
            json_string_value(json_array_get(sweep->series[i].values, (size_t)key));
        fprintf(data, "%.9g %.9g %.9g %.9g\n", strtod(period ? period : "", NULL), us[0], us[1],
                us[2]);
        written++;
    }
    hil_figure_data_end(figure, data);
    return written;
}

int plot_sweep_round_trip(const struct plot_sweep *sweep)
{
    const int key = plot_sweep_only_key(sweep, "controller.period_us");
    struct hil_figure figure;

    if (key < 0)
        return 0;
    const int rc = hil_figure_open(&figure, sweep->dir, "round-trip", sweep->messages);
    if (rc)
        return rc;
    hil_figure_text(&figure, "title", "Round trip of the control loop");
    hil_figure_text(&figure, "subtitle", "%s", sweep->subtitle);
    if (write_points(&figure, sweep, key) == 0) {
        hil_figure_drop(&figure);
        return 0;
    }
    return hil_figure_draw(&figure, "series-round-trip.gp");
}
