/*
 * Reduces a curve of any number of points to what a picture can show. For each of the picture's
 * columns it keeps the first, last, least and greatest point. Drawn with lines, this gives the same
 * picture as all points would: a fast oscillation shows as a band, and a spike of one point remains
 * visible (Jugel et al., "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014).
 *
 * The curve is broken where samples are missing: nothing is drawn between the columns on either
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
    bool held;   /* each value holds until the next: the curve has steps, no slopes */
};

/* Takes the points with from <= x < to. Returns 0 or -ENOMEM. */
int hil_envelope_init(struct hil_envelope *envelope, double from, double to, unsigned columns);
void hil_envelope_fini(struct hil_envelope *envelope);

/* Adds a point. A point outside the range is ignored. A point that is not a number breaks the
 * curve: the points before it are not joined to the points after it. */
void hil_envelope_add(struct hil_envelope *envelope, double x, double y);

/* Writes the curve as lines "x y", with x ascending and scaled, and an empty line where it is
 * broken. An isolated point is drawn as wide as a column. */
void hil_envelope_write_curve(const struct hil_envelope *envelope, double x_scale, FILE *to);

/* Writes the band as lines "x least greatest": one at the middle of each column that has points,
 * and two, at its edges, for an isolated column. It is broken where the curve is. */
void hil_envelope_write_band(const struct hil_envelope *envelope, double x_scale, FILE *to);

#endif
