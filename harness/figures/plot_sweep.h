/*
 * A sweep as the figures see it: one curve for each of its runs.
 */
#ifndef HIL_PLOT_SWEEP_H
#define HIL_PLOT_SWEEP_H

#include <jansson.h>

#include "../h5/run_files.h"
#include "plot_data.h"

/* More panels than these do not fit in a figure, and no more keys are looked at. */
enum { PLOT_SERIES_MAX = 64, PLOT_KEYS_MAX = 64 };

/* Of so many runs one of every so many is shown, from the first on. */
size_t plot_sweep_step(size_t all);

/* How much of the runs a figure shows: all; the start-up; and, where that would be too full
 * for one panel, a quarter of it. */
enum plot_view { PLOT_ALL, PLOT_STARTUP, PLOT_FIRST, PLOT_VIEWS };

struct plot_series {
    char dir[HIL_PATH_BYTES];
    struct plot_run run;
    char label[PLOT_TEXT_BYTES], note[PLOT_TEXT_BYTES], steady[PLOT_TEXT_BYTES];
    const json_t *values; /* of each key of the sweep */
    struct hil_envelope views[PLOT_VIEWS], reference[PLOT_VIEWS];
    double area; /* of the curve's band */
};

struct plot_sweep {
    const char *dir;
    FILE *messages;
    json_t *index;    /* sweep.json */
    uint64_t varying; /* a bit for each key: its value is not the same everywhere */
    char title[PLOT_TEXT_BYTES], subtitle[PLOT_TEXT_BYTES];
    char
        described[PLOT_TEXT_BYTES]; /* what ran; the subtitle says what of it is left out as well */
    struct plot_series series[PLOT_SERIES_MAX];
    unsigned count;
    unsigned step, left_out, no_record; /* every so many is shown; runs that are not */
    double from_s, to_s[PLOT_VIEWS];    /* only PLOT_ALL does not begin at 0 */
};

/* Opens the runs. Returns 0, or a negative errno after a message. */
int plot_sweep_open(struct plot_sweep **sweep, const char *dir, FILE *messages);
void plot_sweep_close(struct plot_sweep *sweep);

/* When the longest of the runs ends, in s. */
double plot_sweep_end(const struct plot_sweep *sweep);

/* Whether a key is the period of a node's loop. */
bool plot_is_period(const char *key);

/* The period of a node's loop, where in the values it is, if no other key varies; else -1. */
int plot_sweep_only_period(const struct plot_sweep *sweep);
/* The key's name in words. */
void plot_sweep_key_words(const struct plot_sweep *sweep, int key, char words[PLOT_TEXT_BYTES]);

/* Reads the curves, of PLOT_ALL in this span. Returns 0, or a negative errno after a message. */
int plot_sweep_read(struct plot_sweep *sweep, struct hil_plot_span span);

/* Sets n, the panels in a row, the room for words, and the arrays label, note, colour and order. */
void plot_sweep_set_series(const struct plot_sweep *sweep, struct hil_figure *figure);

/* Writes the curves of a run, the i-th, and of its reference, and includes both in the range. */
void plot_series_curves(const struct plot_series *series, struct hil_figure *figure, unsigned i,
                        enum plot_view view, const struct plot_window *window,
                        struct plot_range *range);

/* Sets the labels of the axes, and where time begins and ends. */
void plot_sweep_set_axes(const struct plot_sweep *sweep, struct hil_figure *figure,
                         const struct plot_window *window);

/* The loop's round trip against the period of a node; nothing where another key varies.
 * Returns 0, or a negative errno after a message. */
int plot_sweep_round_trip(const struct plot_sweep *sweep);

/* Maps of the verdict and of the first measure's figures, where two keys vary. Returns likewise. */
int plot_sweep_maps(const struct plot_sweep *sweep);

#endif
