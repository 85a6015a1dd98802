#include "limits.h"

enum {
    MEASURE = 1 << HIL_OF_MEASURE,
    SIGNAL = 1 << HIL_OF_SIGNAL,
    NODES = 1 << HIL_OF_NODES,
    LINK = 1 << HIL_OF_LINK,
};

const struct hil_bound_key hil_bound_keys[HIL_BOUNDS] = {
    [HIL_BOUND_OVERSHOOT] = {"overshoot_pct", MEASURE, "%", true},
    [HIL_BOUND_SETTLING] = {"settling_ms", MEASURE, "ms", true},
    [HIL_BOUND_RECOVERY] = {"recovery_ms", MEASURE, "ms", true},
    [HIL_BOUND_DIP] = {"dip_pct", MEASURE, "%", true},
    [HIL_BOUND_RISE] = {"rise_pct", MEASURE, "%", true},
    [HIL_BOUND_RIPPLE] = {"ripple", MEASURE, NULL, false},
    [HIL_BOUND_RMS_ERROR] = {"rms_error", MEASURE, NULL, true},
    [HIL_BOUND_STEADY_ERROR] = {"steady_error", MEASURE, NULL, true},
    [HIL_BOUND_RISE_TIME] = {"rise_time_ms", MEASURE, "ms", true},
    [HIL_BOUND_MIN] = {"min", MEASURE | SIGNAL, NULL, false},
    [HIL_BOUND_MAX] = {"max", MEASURE | SIGNAL, NULL, false},
    [HIL_BOUND_SLOPE_MIN] = {"slope_min", SIGNAL, NULL, false},
    [HIL_BOUND_SLOPE_MAX] = {"slope_max", SIGNAL, NULL, false},
    [HIL_BOUND_STEP] = {"step", SIGNAL, NULL, false},
    [HIL_BOUND_LIKE] = {"like", SIGNAL, NULL, false},
    [HIL_BOUND_MISSED] = {"missed_percent", NODES, "%", false},
    [HIL_BOUND_LATE] = {"late_us", NODES, "us", false},
    [HIL_BOUND_BUSY] = {"step_us", NODES, "us", false},
    [HIL_BOUND_AGE] = {"age_us", LINK, "us", false},
    [HIL_BOUND_ROUND_TRIP] = {"round_trip_us", LINK, "us", false},
};

const struct hil_limit_time hil_limit_times[HIL_LIMIT_TIMES] = {
    {"p50", 0.5}, {"p99", 0.99}, {"p999", 0.999}, {"p9999", 0.9999}, {"max", 1}};
