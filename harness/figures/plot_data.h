/*
 * A run as the figures see it.
 */
#ifndef HIL_PLOT_DATA_H
#define HIL_PLOT_DATA_H

#include <stdbool.h>
#include <stdio.h>

#include "../h5/trace_reader.h"
#include "../record/told.h"
#include "envelope.h"
#include "figure.h"
#include "plot.h"
#include "plot_events.h"
#include "plot_gaps.h"

enum { PLOT_TEXT_BYTES = 256 };

/* A measure that was recorded. */
struct plot_measure {
    unsigned stream;
    unsigned value;                  /* its column */
    int reference;                   /* likewise; -1: it has none */
    const struct hil_column *column; /* of the value */
    const char *name;
    struct hil_told_measure told;
};

struct plot_run {
    const char *dir;
    FILE *messages;
    struct hil_trace_reader *trace;
    const struct hil_stream_config *streams;
    unsigned stream_count;
    struct hil_told told;
    struct plot_events events;
    double duration_s; /* that was recorded */

    /* What a sweep shows of it: the first measure that was recorded (name NULL: none was), and the
     * first array of measures that is told of. */
    struct plot_measure first;
    struct hil_told_measure worst;
    bool settled; /* all of these have */
};

/* Returns 0, or a negative errno after a message: -ENODATA where nothing was recorded. */
int plot_run_open(struct plot_run *run, const char *dir, FILE *messages);
void plot_run_close(struct plot_run *run);

/* Makes *measure number `i` of those that were recorded; false: there are no more. */
bool plot_run_measure(const struct plot_run *run, unsigned i, struct plot_measure *measure);

/* Calls `each` with every row of a column of the stream, and where rows are missing with values
 * that are no numbers. Returns 0, or a negative errno after a message. */
typedef void plot_each_fn(void *arg, double time_s, const double *values);
int plot_run_scan(const struct plot_run *run, unsigned stream, unsigned column, plot_each_fn *each,
                  void *arg);

/* The same of one place in the column's rows: one value each. */
int plot_run_scan_place(const struct plot_run *run, unsigned stream, unsigned column,
                        unsigned place, plot_each_fn *each, void *arg);

/* Calls `each` with the time of every step of the stream's loop that was missed; see
 * plot_gaps_each_missed. Returns 0, or a negative errno after a message. */
int plot_run_each_missed(const struct plot_run *run, unsigned stream, plot_missed_fn *each,
                         void *arg);

/* What ran, for under the title: "dcdc20, virtual time (sim fabric)". */
void plot_run_describe(const struct plot_run *run, char text[PLOT_TEXT_BYTES]);

/* How a measure went: "settles in 2.16 ms", and whether the run is "not valid"; empty where that is
 * not known. Of the run's first one, also how the worst of its array did. */
void plot_run_judge(const struct plot_run *run, const struct plot_measure *measure,
                    char text[PLOT_TEXT_BYTES]);

/* What it did once that was over: "0.05 V p-p, 0.1 to 0.2 s"; empty where that is not known. */
void plot_run_steady(const struct plot_measure *measure, char text[PLOT_TEXT_BYTES]);

/* What it is, for an axis: "sum of cell[*].current_a (A)". And its name in words. */
void plot_measure_label(const struct plot_measure *measure, char text[PLOT_TEXT_BYTES]);
void plot_measure_words(const struct plot_measure *measure, char text[PLOT_TEXT_BYTES]);

/* " (V)"; nothing of a pure number. Begins with a capital. */
void plot_in_unit(const char *unit, char text[40]);
void plot_capital(char *text);

/* How much of the beginning is worth a look of its own, in s. */
double plot_run_startup(const struct plot_run *run, const struct plot_measure *measure);

/* A part of the run in a figure: time in the unit that reads best. */
struct plot_window {
    double from_s, to_s;
    double scale; /* from s to the unit */
    const char *label;
};

struct plot_window plot_window(double from_s, double to_s);

/* Whether the span leaves anything out of a record that ends then. */
bool plot_span_is_part(struct hil_plot_span span, double end_s);

/* What there is of the span in a record that ends then. Returns 0, or -ERANGE after a message. */
int plot_span_cut(struct hil_plot_span *span, double end_s, const char *dir, FILE *messages);

/* A curve, or a band, as a data file of the figure. */
void plot_curve(struct hil_figure *figure, const char *series, unsigned i,
                const struct hil_envelope *envelope, const struct plot_window *window);
void plot_band(struct hil_figure *figure, const char *series, unsigned i,
               const struct hil_envelope *envelope, const struct plot_window *window);

/* The least and the greatest of several curves. */
struct plot_range {
    double low, high;
};

void plot_range_include(struct plot_range *range, const struct hil_envelope *envelope);

/* Sets y_from_1 and y_to_1 (of panel 1), with some room. */
void plot_range_set(struct hil_figure *figure, unsigned panel, struct plot_range range);

/* --- the figures ------------------------------------------------------------------------- */

int plot_run_figures(const char *dir, struct hil_plot_span span, FILE *messages);
int plot_sweep_figures(const char *dir, struct hil_plot_span span, FILE *messages);
int plot_beside_figure(const char *dir, const char *other, struct hil_plot_span span,
                       FILE *messages);

#endif
