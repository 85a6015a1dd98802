/*
 * Shuffling, as HDF5's filter of that name does it: bytes 0 of all values, then bytes 1, and so on.
 * Values that are near each other have most of their bytes in common, and so pack better.
 */
#ifndef HIL_SHUFFLE_H
#define HIL_SHUFFLE_H

#include <stddef.h>

/* `bytes` has room for the values. */
void hil_shuffle(unsigned char *bytes, const double *values, size_t count);

/* The inverse. */
void hil_unshuffle(double *values, const unsigned char *bytes, size_t count);

#endif
