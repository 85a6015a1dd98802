/*
 * A chart of Braille characters, which are two columns wide and four dots high. The reference is
 * visible where no curve is drawn over it.
 */
#ifndef HIL_CHART_H
#define HIL_CHART_H

#include <stdbool.h>

/* A measure's extremes in an interval of time. */
struct hil_chart_column {
    double min, max, reference; /* NAN: none */
    bool there;
};

struct hil_scale {
    double low, high;
};

struct hil_cell {
    unsigned char dots; /* Unicode character U+2800 + dots */
    bool reference;     /* the reference passes through it */
};

enum { HIL_CELL_COLUMNS = 2, HIL_CELL_DOTS = 4 };

/* Round limits around all values, wide enough that noise does not look like a signal. */
struct hil_scale hil_chart_scale(const struct hil_chart_column *columns, unsigned count);

/* Draws HIL_CELL_COLUMNS * width columns into height rows of width cells, from the top. */
void hil_chart_draw(const struct hil_chart_column *columns, unsigned width, unsigned height,
                    struct hil_scale scale, struct hil_cell *cells);

#endif
