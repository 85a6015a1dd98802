/*
 * How the clock of the first node's machine stands to this one, in a summary.
 */
#ifndef HIL_SUMMARY_CLOCKS_H
#define HIL_SUMMARY_CLOCKS_H

#include <jansson.h>

#include "../run/machine_clock.h"

/* What the first node's clock had become more ahead by the end; NAN: nobody knows. */
double hil_clock_drift_us(const struct hil_machine_clock *before,
                          const struct hil_machine_clock *after);

/* {by, ahead_s, uncertainty_us, round_trip_us, drift_us}; the clock is known. */
json_t *hil_clock_json(const struct hil_machine_clock *before,
                       const struct hil_machine_clock *after);

#endif
