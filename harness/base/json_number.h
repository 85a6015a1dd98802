/*
 * Numbers in JSON, which has neither NaN nor infinity: those become null.
 */
#ifndef HIL_JSON_NUMBER_H
#define HIL_JSON_NUMBER_H

#include <jansson.h>
#include <math.h>

static inline json_t *hil_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

#endif
