#include "summary_clocks.h"

#include <math.h>

#include "../base/json_number.h"

double hil_clock_drift_us(const struct hil_machine_clock *before,
                          const struct hil_machine_clock *after)
{
    return after->known ? (double)(after->ahead_ns - before->ahead_ns) * 1e-3 : NAN;
}

json_t *hil_clock_json(const struct hil_machine_clock *c, const struct hil_machine_clock *after)
{
    return json_pack("{s:s, s:o, s:o, s:o, s:o}", "by", hil_clock_by_name(c->by), "ahead_s",
                     hil_json_number((double)c->ahead_ns * 1e-9), "uncertainty_us",
                     hil_json_number((double)c->about_ns * 1e-3), "round_trip_us",
                     hil_json_number((double)c->trip_ns * 1e-3), "drift_us",
                     hil_json_number(hil_clock_drift_us(c, after)));
}
