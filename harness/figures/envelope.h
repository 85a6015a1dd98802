/*
 * A curve of any number of points made small enough to draw, without losing what the eye
 * could see: of the points in each of the picture's columns it keeps the first, the last,
 * the least and the greatest. Drawn with lines that gives the picture of all points: an
 * oscillation too fast to resolve shows as the band it is, and a spike of one point is there
 * (Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014).
 *
 * Where samples are missing the curve is broken: nothing is drawn between the columns on either
 * side of a value that is not a number.
 */
#ifndef HIL_ENVELOPE_H
#define HIL_ENVELOPE_H

#include <stdbool.h>
#include <stdio.h>

struct hil_point {
    double x, y;
};

struct hil_envelope_column {
    struct hil_point first, last, least, greatest;
    unsigned long count;
    bool apart; /* not joined to the column before it */
};

struct hil_envelope {
    double from, to;
    struct hil_envelope_column *columns;
    unsigned column_count;
    bool broken; /* the next point is not joined to the last */
};

/* Of the points with from <= x < to. Returns 0 or -ENOMEM. */
int hil_envelope_init(struct hil_envelope *envelope, double from, double to, unsigned columns);
void hil_envelope_fini(struct hil_envelope *envelope);

/* Adds a point. One that lies outside is left out. One that is not a number breaks the curve: the
 * points before it are not joined to those that come after it. */
void hil_envelope_add(struct hil_envelope *envelope, double x, double y);

/* Writes the curve as lines "x y", x ascending and scaled, with an empty line where it is broken.
 * A point that stands alone is drawn as wide as a column. */
void hil_envelope_write_curve(const struct hil_envelope *envelope, double x_scale, FILE *to);

/* Writes the band as lines "x least greatest", one for the middle of each column that has points,
 * and broken as the curve is. A column that stands alone has one for either edge. */
void hil_envelope_write_band(const struct hil_envelope *envelope, double x_scale, FILE *to);

#endif
