/*
 * The part of a summary that compares the first node's clock with this machine's.
 */
#ifndef HIL_SUMMARY_CLOCKS_H
#define HIL_SUMMARY_CLOCKS_H

#include <jansson.h>

#include "../run/machine_clock.h"

/* By how much the first node's clock moved ahead during the run; NAN: unknown. */
double hil_clock_drift_us(const struct hil_machine_clock *before,
                          const struct hil_machine_clock *after);

/* {by, ahead_s, uncertainty_us, round_trip_us, drift_us}; only for a known clock. */
json_t *hil_clock_json(const struct hil_machine_clock *before,
                       const struct hil_machine_clock *after);

#endif
