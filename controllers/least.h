/* The least, the greatest, and what lies between. Unlike fmin and fmax, these do not hide that a
 * value is not a number. */
#ifndef HILOCO_CONTROLLERS_LEAST_H
#define HILOCO_CONTROLLERS_LEAST_H

#include <math.h>

static inline double least_of(double a, double b)
{
    return isnan(a) || a < b ? a : b;
}

static inline double greatest_of(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

/* The value, or the end of the range that is next to it. */
static inline double least_within(double value, double low, double high)
{
    return least_of(greatest_of(value, low), high);
}

#endif
