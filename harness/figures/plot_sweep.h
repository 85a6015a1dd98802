/*
 * A sweep as the figures use it: one curve for each of its runs.
 */
#ifndef HIL_PLOT_SWEEP_H
#define HIL_PLOT_SWEEP_H

#include <jansson.h>

#include "../h5/run_files.h"
#include "plot_data.h"

/* More panels than these do not fit in a figure; further keys are ignored. */
enum { PLOT_SERIES_MAX = 64, PLOT_KEYS_MAX = 64 };

/* If there are too many runs to show, one in every this many is shown, beginning with the first. */
size_t plot_sweep_step(size_t all);

/* The part of the runs that a figure shows: everything; the start-up; or, where that is too crowded
 * for one panel, the first quarter of the start-up. */
enum plot_view { PLOT_ALL, PLOT_STARTUP, PLOT_FIRST, PLOT_VIEWS };

struct plot_series {
    char dir[HIL_PATH_BYTES];
    struct plot_run run;
    char label[PLOT_TEXT_BYTES], note[PLOT_TEXT_BYTES], steady[PLOT_TEXT_BYTES];
    const json_t *values; /* the value of each key of the sweep */
    struct hil_envelope views[PLOT_VIEWS], reference[PLOT_VIEWS];
    double area; /* area of the curve's band */
};

struct plot_sweep {
    const char *dir, *to; /* of the results, and of the figures */
    FILE *messages;
    json_t *index;    /* sweep.json */
    uint64_t varying; /* a bit for each key whose value varies */
    char title[PLOT_TEXT_BYTES], subtitle[PLOT_TEXT_BYTES];
    char
        described[PLOT_TEXT_BYTES]; /* what ran; the subtitle also tells what a figure leaves out */
    struct plot_series series[PLOT_SERIES_MAX];
    unsigned count;
    unsigned step, left_out, no_record; /* one in every `step` runs is shown; runs that are not
                                         * shown */
    double from_s, to_s[PLOT_VIEWS];    /* only PLOT_ALL does not begin at 0 */
};

/* Opens the runs; `to` is NULL where it is DIR itself. Returns 0, or a negative errno after a
 * message. */
int plot_sweep_open(struct plot_sweep **sweep, const char *dir, const char *to, FILE *messages);
void plot_sweep_close(struct plot_sweep *sweep);

/* When the longest of the runs ends, in s. */
double plot_sweep_end(const struct plot_sweep *sweep);

/* The index of the only varying key if it is the period of a node's loop; else -1. */
int plot_sweep_only_period(const struct plot_sweep *sweep);
/* The key's name in words. */
void plot_sweep_key_words(const struct plot_sweep *sweep, int key, char words[PLOT_TEXT_BYTES]);

/* Reads the curves; PLOT_ALL is cut to this span. Returns 0, or a negative errno after a message.
 */
int plot_sweep_read(struct plot_sweep *sweep, struct hil_plot_span span);

/* Sets n, the number of panels in a row, the room for words, and the arrays label, note, colour and
 * order. */
void plot_sweep_set_series(const struct plot_sweep *sweep, struct hil_figure *figure);

/* Writes the curves of run i and of its reference, and extends the range by both. */
void plot_series_curves(const struct plot_series *series, struct hil_figure *figure, unsigned i,
                        enum plot_view view, const struct plot_window *window,
                        struct plot_range *range);

/* Sets the axis labels, and the limits of the time axis. */
void plot_sweep_set_axes(const struct plot_sweep *sweep, struct hil_figure *figure,
                         const struct plot_window *window);

/* Draws the loop's round trip against the period of a node. Draws nothing if another key varies.
 * Returns 0, or a negative errno after a message. */
int plot_sweep_round_trip(const struct plot_sweep *sweep);

/* Draws maps of the verdict and of the first measure's figures if two keys vary. Returns 0, or a
 * negative errno after a message. */
int plot_sweep_maps(const struct plot_sweep *sweep);

#endif
