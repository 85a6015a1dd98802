/* HDF5 helpers for both the writer and the reader of traces. */
#ifndef HIL_TRACE_HDF5_H
#define HIL_TRACE_HDF5_H

#include <errno.h>
#include <hdf5.h>
#include <stdint.h>

#include "../base/in_child.h"

#define HIL_HISTOGRAMS "histograms"

/* The attributes of a column: its unit, its explanation and its origin. */
#define HIL_UNIT    "unit"
#define HIL_DOC     "doc"
#define HIL_SIGNALS "signals"
#define HIL_MEASURE "measure"
#define HIL_ROLE    "role"
#define HIL_NAMES   "names"
#define HIL_BETWEEN "between_rows"

/* The attributes of a stream's group: its cadence. */
#define HIL_PHASE      "phase_ns"
#define HIL_PERIOD     "period_ns"
#define HIL_DECIMATION "decimation"

/*
 * Call it at the beginning of each function that calls HDF5. It makes sure that HDF5 prints no
 * errors of its own, does not finish open files in an exiting child process, and loads no plugin
 * that a file asks for.
 */
static inline void trace_hdf5_enter(void)
{
    hil_in_child_goes_on();
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0);
}

/* Why the last HDF5 call failed: the negative errno of the system's call, or `otherwise` if the
 * failure was none of the system's. Every HDF5 call forgets the failure before it, so this has to
 * be the next one. */
int trace_hdf5_reason(int otherwise);

static inline int trace_hdf5_error(void)
{
    return trace_hdf5_reason(-EIO);
}

/* Each of these sets an attribute of an object. */
int trace_hdf5_set_text(hid_t object, const char *name, const char *text);
int trace_hdf5_set_count(hid_t object, const char *name, uint64_t count);
int trace_hdf5_set_number(hid_t object, const char *name, double number);

/* Sets *group on success only. */
int trace_hdf5_create_group(hid_t parent, const char *name, hid_t *group);

#endif
