/*
 * Marks for figures with a time axis: the events of a run, its faults and failed limits as the
 * summary lists them, and the window of the steady state.
 */
#ifndef HIL_PLOT_EVENTS_H
#define HIL_PLOT_EVENTS_H

#include <jansson.h>

#include "../h5/trace_reader.h"
#include "figure.h"

/* More marks than these would hide the curve. */
enum { PLOT_EVENTS_MAX = 32, PLOT_FAULTS_MAX = 32, PLOT_FAILURES_MAX = 16 };

struct plot_events {
    struct plot_event {
        double at_s;
        char text[128];    /* "load 10 to 8 Ω", a line for each change of several */
    } at[PLOT_EVENTS_MAX]; /* without the start-up */
    unsigned count;
    struct plot_fault {
        double from_s, to_s; /* infinite: to the end */
        char name[80];
    } faults[PLOT_FAULTS_MAX];
    unsigned fault_count;
    struct plot_failure {
        double at_s;
        char limit[120], figure[80]; /* "output.dip_pct", and the name of the figure that shows
                                      * it */
    } failures[PLOT_FAILURES_MAX];
    unsigned failure_count;
};

/* A time; NAN: there is none. */
struct plot_steady {
    double from_s, to_s;
};

/* Reads them from a summary; there are none if the summary lists none. */
void plot_events_read(struct plot_events *events, const json_t *summary);

/* Adds the changes made by hand during the run, from its record. */
void plot_events_add_changes(struct plot_events *events, const struct hil_trace_reader *trace);

/* Sets the script variables for figure `i`: events[i], faults[i], fault_names[i], failures[i] (only
 * failures that belong to this figure), window_from[i] and window_to[i]. They cover the marks
 * between two times, in a unit with `scale` units per second. style.gp draws them: eval marks(i).
 */
void plot_events_set(struct hil_figure *figure, unsigned i, const struct plot_events *events,
                     struct plot_steady steady, double from_s, double to_s, double scale);

/* Sets event_text, an array that describes the events between two times. */
void plot_events_set_texts(struct hil_figure *figure, const struct plot_events *events,
                           double from_s, double to_s);

/* Creates the arrays for `count` calls of plot_events_set. */
void plot_events_open(struct hil_figure *figure, unsigned count);

#endif
