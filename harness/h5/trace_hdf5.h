/* What the writer and the reader of traces share of HDF5. */
#ifndef HIL_TRACE_HDF5_H
#define HIL_TRACE_HDF5_H

#include <errno.h>
#include <hdf5.h>
#include <stdint.h>

#define HIL_HISTOGRAMS "histograms"

/* The attributes of a column: what it is, of what, and what its numbers stand for. */
#define HIL_UNIT    "unit"
#define HIL_DOC     "doc"
#define HIL_SIGNALS "signals"
#define HIL_MEASURE "measure"
#define HIL_ROLE    "role"
#define HIL_NAMES   "names"

/* The attributes of a stream's group: its cadence. */
#define HIL_PHASE      "phase_ns"
#define HIL_PERIOD     "period_ns"
#define HIL_DECIMATION "decimation"

/*
 * At the beginning of each function that calls HDF5: it must not print errors of its own, must not
 * finish open files in a child process that exits, and loads no plugin that a file asks for.
 * Forgets the last errno, so that trace_hdf5_error() finds the one that made HDF5 fail.
 */
static inline void trace_hdf5_enter(void)
{
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0);
    errno = 0;
}

/* Why HDF5 failed: the system's reason where it had one. */
static inline int trace_hdf5_error(void)
{
    return errno ? -errno : -EIO;
}

/* Each sets an attribute of an object. */
int trace_hdf5_set_text(hid_t object, const char *name, const char *text);
int trace_hdf5_set_count(hid_t object, const char *name, uint64_t count);
int trace_hdf5_set_number(hid_t object, const char *name, double number);

/* Negative: it failed. */
hid_t trace_hdf5_create_group(hid_t parent, const char *name);

#endif
