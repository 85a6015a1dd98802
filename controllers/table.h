/* Places in a table of points, for the models that look up values. */
#ifndef HILOCO_CONTROLLERS_TABLE_H
#define HILOCO_CONTROLLERS_TABLE_H

#include <math.h>
#include <stdint.h>

/* The point before an input, and the share of the way to the next one. Beyond the ends it is the
 * point at the end. */
struct table_place {
    uint32_t point;
    double share; /* 0 to below 1; 0 at the last point; NAN: the input is not a number */
};

/* `at` are the points in increasing order, at least one. */
static inline struct table_place table_find(const double *at, uint32_t count, double input)
{
    uint32_t low = 0, high = count;

    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (at[middle] <= input)
            low = middle;
        else
            high = middle;
    }
    if (isnan(input))
        return (struct table_place){0, NAN};
    if (input <= at[0] || low + 1 == count)
        return (struct table_place){low, 0};
    return (struct table_place){low, (input - at[low]) / (at[low + 1] - at[low])};
}

/* The value on the line from a to b. */
static inline double table_between(double a, double b, double share)
{
    return a + (b - a) * share;
}

#endif
