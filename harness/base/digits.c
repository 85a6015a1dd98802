#include "digits.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

int hil_decimals(double size, int digits)
{
    if (!isfinite(size) || size == 0)
        return 3;
    const int decimals = digits - 1 - (int)floor(log10(fabs(size)));

    return decimals < 0 ? 0 : decimals > 9 ? 9 : decimals;
}

const char *hil_value(char text[HIL_VALUE_BYTES], double value, int decimals, const char *unit)
{
    const char *space = *unit ? " " : "";

    if (fabs(value) < 1e15)
        snprintf(text, HIL_VALUE_BYTES, "%.*f%s%s", decimals, value, space, unit);
    else
        snprintf(text, HIL_VALUE_BYTES, "%.6g%s%s", value, space, unit);
    return text;
}

const char *hil_number(char text[HIL_NUMBER_BYTES], double value)
{
    snprintf(text, HIL_NUMBER_BYTES, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, HIL_NUMBER_BYTES, "%.17g", value);
    return text;
}

bool hil_whole_number(const char *text, uint64_t most, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(text, &end, 10);
    return isdigit((unsigned char)text[0]) && !*end && !errno && *number <= most;
}
