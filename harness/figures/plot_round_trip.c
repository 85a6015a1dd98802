/* The loop's round trip against the period of a node, as measured in the runs of a sweep. */
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
        double us[3];

        hil_summary_reader_round_trip(&sweep->series[i].run.told, us);
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
    const int key = plot_sweep_only_period(sweep);
    char words[PLOT_TEXT_BYTES];
    struct hil_figure figure;

    if (key < 0)
        return 0;
    const int rc = hil_figure_open(&figure, sweep->to, "round-trip", sweep->messages);
    if (rc)
        return rc;
    plot_sweep_key_words(sweep, key, words);
    hil_figure_text(&figure, "x_label", "%s (µs)", words);
    hil_figure_text(&figure, "title", "Round trip of the control loop");
    hil_figure_text(&figure, "subtitle", "%s", sweep->subtitle);
    if (write_points(&figure, sweep, key) == 0) {
        hil_figure_drop(&figure);
        return 0;
    }
    return hil_figure_draw(&figure, "series-round-trip.gp");
}
