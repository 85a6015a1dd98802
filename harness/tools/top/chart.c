#include "chart.h"

#include <math.h>

/* --- the scale ------------------------------------------------------------------------------ */

/* The least of 1, 2, 5, 10 ... that is not below the value. */
static double round_up(double value)
{
    double power = pow(10, floor(log10(value))), digit = value / power;

    return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

struct hil_scale hil_chart_scale(const struct hil_chart_column *columns, unsigned count)
{
    static const double nearest = 1e-3; /* the least height of a chart, relative to the greatest
                                         * value */
    double low = INFINITY, high = -INFINITY;

    for (unsigned i = 0; i < count; i++) {
        if (!columns[i].there)
            continue;
        low = fmin(low, fmin(columns[i].min, columns[i].reference));
        high = fmax(high, fmax(columns[i].max, columns[i].reference));
    }
    if (!(low <= high))
        return (struct hil_scale){0, 1};
    double least = nearest * fmax(fabs(low), fabs(high));
    if (high - low < least || high <= low) {
        double middle = (low + high) / 2, half = least > 0 ? least / 2 : 0.5;
        low = middle - half;
        high = middle + half;
    }
    double step = round_up((high - low) / 4);
    return (struct hil_scale){floor(low / step) * step, ceil(high / step) * step};
}

/* --- the picture ---------------------------------------------------------------------------- */

/* The row of dots for a value, with 0 at the top. */
static unsigned dot_row(double value, struct hil_scale scale, unsigned rows)
{
    double row = (scale.high - value) / (scale.high - scale.low) * rows;

    if (!(row > 0)) /* also NAN if the scale is too large */
        return 0;
    return row < rows ? (unsigned)row : rows - 1;
}

static unsigned char dot(unsigned column, unsigned row)
{
    static const unsigned char dots[HIL_CELL_COLUMNS][HIL_CELL_DOTS] = {{0x01, 0x02, 0x04, 0x40},
                                                                        {0x08, 0x10, 0x20, 0x80}};

    return dots[column % HIL_CELL_COLUMNS][row % HIL_CELL_DOTS];
}

/* Extends a column to the one before, so that a steep edge is a continuous line. */
static void reach(struct hil_chart_column *column, const struct hil_chart_column *before)
{
    if (!before->there)
        return;
    column->min = fmin(column->min, before->max);
    column->max = fmax(column->max, before->min);
}

void hil_chart_draw(const struct hil_chart_column *columns, unsigned width, unsigned height,
                    struct hil_scale scale, struct hil_cell *cells)
{
    unsigned rows = height * HIL_CELL_DOTS;

    for (unsigned i = 0; i < width * height; i++)
        cells[i] = (struct hil_cell){0};
    for (unsigned x = 0; x < width * HIL_CELL_COLUMNS; x++) {
        struct hil_chart_column c = columns[x];
        struct hil_cell *top = &cells[x / HIL_CELL_COLUMNS];
        if (!c.there)
            continue;
        if (x > 0)
            reach(&c, &columns[x - 1]);
        for (unsigned y = dot_row(c.max, scale, rows); y <= dot_row(c.min, scale, rows); y++)
            top[y / HIL_CELL_DOTS * width].dots |= dot(x, y);
        if (!isnan(c.reference))
            top[dot_row(c.reference, scale, rows) / HIL_CELL_DOTS * width].reference = true;
    }
}
