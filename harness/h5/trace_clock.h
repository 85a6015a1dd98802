/*
 * Records how the clock of each stream's machine compared to the first node's clock in a run on
 * several machines. The attributes are in the stream's group: clock_by, clock_ahead_s,
 * clock_uncertainty_us and clock_drift_us.
 */
#ifndef HIL_TRACE_CLOCK_H
#define HIL_TRACE_CLOCK_H

#include "trace.h"

struct hil_stream_clock {
    const char *by; /* the method of comparison */
    bool known;     /* whether the numbers are known; unknown ones are not recorded */
    double ahead_s; /* how far the first node's clock is ahead */
    double uncertainty_us;
    double drift_us; /* increase of ahead_s during the run; NAN: not known */
};

/* Call it once for each stream before the trace is closed. Returns 0 or a negative errno. */
int hil_trace_add_clock(struct hil_trace *trace, const char *stream,
                        const struct hil_stream_clock *clock);

#endif
