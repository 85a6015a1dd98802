/*
 * A run as the figures use it.
 */
#ifndef HIL_PLOT_DATA_H
#define HIL_PLOT_DATA_H

#include <stdbool.h>
#include <stdio.h>

#include "../h5/trace_reader.h"
#include "../record/summary_reader.h"
#include "envelope.h"
#include "figure.h"
#include "plot.h"
#include "plot_events.h"
#include "plot_gaps.h"

enum { PLOT_TEXT_BYTES = 256 };

/* A recorded measure. */
struct plot_measure {
    unsigned stream;
    unsigned value;                  /* its column */
    int reference;                   /* column of the reference; -1: there is none */
    const struct hil_column *column; /* the column of the value */
    const char *name;
    struct hil_summary_reader_measure told;
};

struct plot_run {
    const char *dir, *to; /* of the results, and of the figures */
    FILE *messages;
    struct hil_trace_reader *trace;
    const struct hil_stream_config *streams;
    unsigned stream_count;
    struct hil_summary_reader told;
    struct plot_events events;
    double duration_s; /* length of the record */

    /* The measure that a sweep shows: the first one that was recorded (name NULL: none), and the
     * first array of measures in the summary. */
    struct plot_measure first;
    struct hil_summary_reader_measure worst;
    bool settled; /* all measures of the array have settled */
};

/* `told` is the run's summary, or NULL to read it. Returns 0, or a negative errno after a message:
 * -ENODATA when nothing was recorded. */
int plot_run_open(struct plot_run *run, const char *dir, const struct hil_summary_reader *told,
                  FILE *messages);
void plot_run_close(struct plot_run *run);

/* Sets *measure to recorded measure number `i`; false if there are no more. */
bool plot_run_measure(const struct plot_run *run, unsigned i, struct plot_measure *measure);

/* Calls `each` with every row of a column of the stream. Where rows are missing it passes values
 * that are not numbers. Returns 0, or a negative errno after a message. */
typedef void plot_each_fn(void *arg, double time_s, const double *values);
int plot_run_scan(const struct plot_run *run, unsigned stream, unsigned column, plot_each_fn *each,
                  void *arg);

/* The same for one place in the column's rows: one value per row. */
int plot_run_scan_place(const struct plot_run *run, unsigned stream, unsigned column,
                        unsigned place, plot_each_fn *each, void *arg);

/* Calls `each` with the time of every missed step of the stream's loop; see plot_gaps_each_missed.
 * Returns 0, or a negative errno after a message. */
int plot_run_each_missed(const struct plot_run *run, unsigned stream, plot_missed_fn *each,
                         void *arg);

/* A subtitle that says what ran: "dcdc20, virtual time (sim fabric)". */
void plot_run_describe(const struct plot_run *run, char text[PLOT_TEXT_BYTES]);

/* " (event at 0.2 s)"; "" if the run has no other event. */
void plot_event_words(const struct plot_run *run, const struct hil_summary_reader_event *event,
                      char text[PLOT_TEXT_BYTES]);

/* The result of a measure in its worst event: "settles in 2.16 ms (event at 0.2 s)", and "not
 * valid" if the run is not; empty if unknown. For the run's first measure it includes the worst of
 * its array. */
void plot_run_judge(const struct plot_run *run, const struct plot_measure *measure,
                    char text[PLOT_TEXT_BYTES]);

/* The steady state of a measure: "0.05 V p-p, 0.1 to 0.2 s"; empty if unknown. */
void plot_run_steady(const struct plot_measure *measure, char text[PLOT_TEXT_BYTES]);

/* An axis label for the measure, "sum of cell[*].current_a (A)"; and its name in words. */
void plot_measure_label(const struct plot_measure *measure, char text[PLOT_TEXT_BYTES]);
void plot_measure_words(const struct plot_measure *measure, char text[PLOT_TEXT_BYTES]);

/* " (V)"; empty for a pure number. The result begins with a capital. */
void plot_in_unit(const char *unit, char text[40]);
void plot_capital(char *text);

/* How much of the time from an event on deserves a view, in s, if the measure settled within this
 * time; NAN: it did not. */
double plot_run_interval(const struct plot_run *run, double settling_ms);

/* How much of the beginning deserves a view of its own, in s. */
double plot_run_startup(const struct plot_run *run, const struct plot_measure *measure);

/* A time span of the run in a figure, in the unit that reads best. */
struct plot_window {
    double from_s, to_s;
    double scale; /* units per second */
    const char *label;
};

struct plot_window plot_window(double from_s, double to_s);

/* Whether the span leaves out a part of a record that ends at `end_s`. */
bool plot_span_is_part(struct hil_plot_span span, double end_s);

/* Cuts the span to a record that ends at `end_s`. Returns 0, or -ERANGE after a message. */
int plot_span_cut(struct hil_plot_span *span, double end_s, const char *dir, FILE *messages);

/* Writes a curve, or a band, to a data file of the figure. */
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

int plot_run_figures(const char *dir, const char *to, struct hil_plot_span span, FILE *messages);
int plot_sweep_figures(const char *dir, const char *to, struct hil_plot_span span, FILE *messages);
int plot_beside_figure(const char *dir, const char *other, const char *to,
                       struct hil_plot_span span, FILE *messages);

#endif
