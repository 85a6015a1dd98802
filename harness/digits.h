/* How numbers of any unit are shown to a person. */
#ifndef HIL_DIGITS_H
#define HIL_DIGITS_H

#include <math.h>

/* How many decimals show a number of this size in so many digits, and beside it, with as many, how
 * far it strays: 240 V in five digits is 240.00 V, and its ripple of a picovolt 0.00 V. */
static inline int hil_decimals(double size, int digits)
{
    if (!isfinite(size) || size == 0)
        return 3;
    const int decimals = digits - 1 - (int)floor(log10(fabs(size)));

    return decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
}

#endif
