/*
 * A sweep as the figures see it: one curve for each of its runs.
 */
#ifndef HIL_PLOT_SWEEP_H
#define HIL_PLOT_SWEEP_H

#include <jansson.h>

#include "../record/run_files.h"
#include "plot_data.h"

/* More panels, or curves, than these cannot be told apart. */
enum { PLOT_SERIES_MAX = 12 };

/* How much of the runs a figure shows: all; the start-up; and, where that would be too full
 * for one panel, a quarter of it. */
enum plot_view { PLOT_ALL, PLOT_STARTUP, PLOT_FIRST, PLOT_VIEWS };

struct plot_series {
    char dir[HIL_PATH_BYTES];
    struct plot_run run;
    char label[PLOT_TEXT_BYTES], note[PLOT_TEXT_BYTES], steady[PLOT_TEXT_BYTES];
    char value[PLOT_TEXT_BYTES]; /* of the key that varies */
    struct hil_envelope views[PLOT_VIEWS];
    double area; /* of the curve's band */
};

struct plot_sweep {
    const char *dir;
    FILE *messages;
    json_t *index; /* sweep.json */
    char title[PLOT_TEXT_BYTES], subtitle[PLOT_TEXT_BYTES];
    struct plot_series series[PLOT_SERIES_MAX];
    unsigned count;
    double to_s[PLOT_VIEWS];
};

/* Opens the runs. Returns 0, or a negative errno after a message. */
int plot_sweep_open(struct plot_sweep **sweep, const char *dir, FILE *messages);
void plot_sweep_close(struct plot_sweep *sweep);

/* Reads the curves, up to `to_s` (INFINITY: all). Returns 0, or a negative errno after a
 * message. */
int plot_sweep_read(struct plot_sweep *sweep, double to_s);

/* Sets n, and the arrays label, note, colour and order. */
void plot_sweep_set_series(const struct plot_sweep *sweep, struct hil_figure *figure);

/* Sets the labels of the axes, where time begins and ends, and the reference. */
void plot_sweep_set_axes(const struct plot_sweep *sweep, struct hil_figure *figure,
                         const struct plot_window *window);

/* The loop's round trip against the controller's period; nothing where another key varies.
 * Returns 0, or a negative errno after a message. */
int plot_sweep_round_trip(const struct plot_sweep *sweep);

#endif
