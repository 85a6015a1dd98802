/*
 * In the record of a run on several machines, how the clock of each stream's machine stood to that
 * of the first node's: attributes of the stream's group, clock_by, clock_ahead_s,
 * clock_uncertainty_us and clock_drift_us.
 */
#ifndef HIL_TRACE_CLOCK_H
#define HIL_TRACE_CLOCK_H

#include "trace.h"

struct hil_stream_clock {
    const char *by; /* how it is known */
    bool known;     /* the numbers are; else they are no attributes */
    double ahead_s; /* what the first node's clock shows more */
    double uncertainty_us;
    double drift_us; /* what that became more in the run; NAN: not known */
};

/* Before the trace is closed, once for each stream. Returns 0 or a negative errno. */
int hil_trace_add_clock(struct hil_trace *trace, const char *stream,
                        const struct hil_stream_clock *clock);

#endif
