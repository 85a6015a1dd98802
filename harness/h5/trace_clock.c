#include "trace_clock.h"

#include "trace_parts.h"

static int clock_write(hid_t group, const struct hil_stream_clock *c)
{
    int rc = trace_hdf5_set_text(group, "clock_by", c->by);

    if (!rc && c->known)
        rc = trace_hdf5_set_number(group, "clock_ahead_s", c->ahead_s);
    if (!rc && c->known)
        rc = trace_hdf5_set_number(group, "clock_uncertainty_us", c->uncertainty_us);
    if (!rc && c->known)
        rc = trace_hdf5_set_number(group, "clock_drift_us", c->drift_us);
    return rc;
}

int hil_trace_add_clock(struct hil_trace *trace, const char *stream,
                        const struct hil_stream_clock *clock)
{
    trace_hdf5_enter();
    if (trace->error)
        return trace->error;
    const hid_t group = H5Gopen2(trace->file, stream, H5P_DEFAULT);
    if (group < 0)
        return trace_hdf5_error();
    const int rc = clock_write(group, clock);
    H5Gclose(group);
    return rc;
}
