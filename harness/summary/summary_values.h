/* The formats of a run's numbers in summary.json. */
#ifndef HIL_SUMMARY_VALUES_H
#define HIL_SUMMARY_VALUES_H

#include <jansson.h>
#include <math.h>
#include <stdint.h>

#include "../base/json_number.h"

static inline json_t *summary_whole(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static inline json_t *summary_seconds(uint64_t ns)
{
    return hil_json_number((double)ns * 1e-9);
}

static inline double summary_us(uint64_t ns)
{
    return (double)ns * 1e-3;
}

#endif
