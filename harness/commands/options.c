#include "options.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../base/digits.h"

int hil_read_flag(const char *name, const char *text, void *to)
{
    (void)name;
    (void)text;
    *(bool *)to = true;
    return 0;
}

int hil_read_text(const char *name, const char *text, void *to)
{
    (void)name;
    *(const char **)to = text;
    return 0;
}

int hil_read_whole(const char *name, const char *text, uint64_t least, uint64_t most,
                   uint64_t *number)
{
    if (hil_whole_number(text, most, number) && *number >= least)
        return 0;
    fprintf(stderr, "--%s %s: a whole number from %" PRIu64 " to %" PRIu64 " is allowed\n", name,
            text, least, most);
    return -EINVAL;
}

int hil_read_count(const char *name, const char *text, void *to)
{
    uint64_t number;
    const int rc = hil_read_whole(name, text, 1, 100000, &number);

    if (!rc)
        *(unsigned *)to = (unsigned)number;
    return rc;
}

static int read_number(const char *name, const char *text, double most, const char *what,
                       double *number)
{
    char *end;

    *number = strtod(text, &end);
    if (*text && !*end && *number >= 0 && *number <= most)
        return 0;
    fprintf(stderr, "--%s %s: %s is allowed\n", name, text, what);
    return -EINVAL;
}

int hil_read_time(const char *name, const char *text, void *to)
{
    return read_number(name, text, 1e9, "a time in seconds, 0 to 1e9,", to);
}

int hil_read_number(const char *name, const char *text, void *to)
{
    return read_number(name, text, DBL_MAX, "a number, 0 or more,", to);
}

int hil_read_period(const char *name, const char *text, void *to)
{
    double *period_us = to;
    char *end;

    *period_us = strtod(text, &end);
    const double ns = *period_us * 1e3;
    if (*text && !*end && ns >= 1 && ns <= 1e12 && fabs(ns - round(ns)) < 1e-6)
        return 0;
    fprintf(stderr, "--%s %s: 0.001 to 1e9, in whole nanoseconds, is allowed\n", name, text);
    return -EINVAL;
}
