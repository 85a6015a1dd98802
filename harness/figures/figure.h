/*
 * A figure, drawn by gnuplot as DIR/NAME.png and DIR/NAME.svg.
 *
 * All that made it stays in DIR/plot: the data, the scripts, and NAME.gp, which sets the
 * values and loads them. So a figure can be changed by hand, and drawn again:
 *
 *      cd DIR/plot && gnuplot NAME.gp
 *
 * The scripts are those of traces/, which the program carries in itself.
 */
#ifndef HIL_FIGURE_H
#define HIL_FIGURE_H

#include <stdio.h>

/* Pixels across the plots of a figure: what an envelope need not be finer than. */
enum { HIL_FIGURE_COLUMNS = 1000 };

struct hil_figure {
    const char *dir, *name;
    FILE *messages; /* what failed is said here, a line each */
    FILE *values;   /* NAME.gp: "variable = number" may be written to it */
    int error;      /* the first */
};

/* Returns 0 or a negative errno; the strings must outlive the figure. */
int hil_figure_open(struct hil_figure *figure, const char *dir, const char *name, FILE *messages);

/* Sets a variable of the script to a text, whatever is in it. */
__attribute__((format(printf, 3, 4))) void
hil_figure_text(struct hil_figure *figure, const char *variable, const char *format, ...);

/* A data file, DIR/plot/NAME-SERIES-I.dat, to be given back; NULL after a message. */
FILE *hil_figure_data(struct hil_figure *figure, const char *series, unsigned i);
void hil_figure_data_end(struct hil_figure *figure, FILE *data);

/* Closes without drawing: there is nothing to see. */
void hil_figure_drop(struct hil_figure *figure);

/* Draws with this script of traces/, says so, and closes. Returns 0 or the first negative errno
 * that the figure met; -ENOPKG when there is no gnuplot. */
int hil_figure_draw(struct hil_figure *figure, const char *script);

#endif
