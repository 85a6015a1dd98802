/*
 * A chart in characters: each cell is two columns wide and four dots high, as a Braille
 * pattern is. The reference shows where nothing is drawn over it.
 */
#ifndef HIL_CHART_H
#define HIL_CHART_H

#include <stdbool.h>

/* What a measure did in some time. */
struct hil_chart_column {
    double min, max, reference; /* NAN: there is none */
    bool there;
};

struct hil_scale {
    double low, high;
};

struct hil_cell {
    unsigned char dots; /* of the Unicode character U+2800 + dots */
    bool reference;     /* goes through it */
};

enum { HIL_CELL_COLUMNS = 2, HIL_CELL_DOTS = 4 };

/* Round limits around all of them, and never so near that noise looks like a signal. */
struct hil_scale hil_chart_scale(const struct hil_chart_column *columns, unsigned count);

/* Draws HIL_CELL_COLUMNS * width columns into height rows of width cells, the top first. */
void hil_chart_draw(const struct hil_chart_column *columns, unsigned width, unsigned height,
                    struct hil_scale scale, struct hil_cell *cells);

#endif
