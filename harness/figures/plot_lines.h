/*
 * Lines of recorded signals over time: a panel for each unit, with the lines of that unit over each
 * other.
 */
#ifndef HIL_PLOT_LINES_H
#define HIL_PLOT_LINES_H

#include "plot_views.h"

/* More could not be told apart. */
enum { PLOT_LINES_MAX = 64 };

struct plot_line {
    const struct plot_run *run;
    unsigned of; /* number of the run */
    unsigned stream, column, place;
    char label[PLOT_TEXT_BYTES];
};

/* Sorted by unit, otherwise in the order of adding. Of one run each signal has a colour; of several
 * runs each run has one, and its signals differ by their dashes. */
struct plot_lines {
    struct plot_line at[PLOT_LINES_MAX];
    unsigned count;
    bool several;
};

/* There must be room for it. */
void plot_lines_add(struct plot_lines *lines, const struct plot_line *line);

/* Draws them in a figure that has its views, and closes it. Returns 0 or a negative errno, after a
 * message. */
int plot_lines_draw(struct hil_figure *figure, const struct plot_lines *lines,
                    const struct plot_views *views);

#endif
