/*
 * A figure, drawn by gnuplot as DIR/NAME.png and DIR/NAME.svg.
 *
 * DIR/plot keeps the data, the scripts, and NAME.gp, which sets variables and loads the scripts. A
 * figure can therefore be changed by hand and drawn again:
 *
 *      cd DIR/plot && gnuplot NAME.gp
 *
 * The scripts are copies of those in traces/, which are built into the program.
 */
#ifndef HIL_FIGURE_H
#define HIL_FIGURE_H

#include <stdio.h>

/* Width of a figure's plots in pixels; an envelope need not be finer. */
enum { HIL_FIGURE_COLUMNS = 1000 };

struct hil_figure {
    const char *dir, *name;
    FILE *messages; /* failures are reported here, a line each */
    FILE *values;   /* NAME.gp: callers may write "variable = number" lines to it */
    int written;    /* the first error of writing its files; the streams know its address */
    int error;      /* the first error */
};

/* Returns 0 or a negative errno; the strings must outlive the figure. */
int hil_figure_open(struct hil_figure *figure, const char *dir, const char *name, FILE *messages);

/* Sets a variable of the script to any text. */
__attribute__((format(printf, 3, 4))) void
hil_figure_text(struct hil_figure *figure, const char *variable, const char *format, ...);

/* Opens the data file DIR/plot/NAME-SERIES-I.dat, which the caller gives back; NULL after a
 * message. */
FILE *hil_figure_data(struct hil_figure *figure, const char *series, unsigned i);
void hil_figure_data_end(struct hil_figure *figure, FILE *data);

/* Closes without drawing, because there is nothing to see. */
void hil_figure_drop(struct hil_figure *figure);

/* Draws the figure with this script of traces/, reports it, and closes. Returns 0 or the first
 * negative errno of the figure; -ENOPKG when gnuplot is missing. */
int hil_figure_draw(struct hil_figure *figure, const char *script);

#endif
