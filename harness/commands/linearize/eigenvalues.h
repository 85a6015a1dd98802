/*
 * The eigenvalues of a small real matrix.
 */
#ifndef HIL_EIGENVALUES_H
#define HIL_EIGENVALUES_H

#include <complex.h>

/* Computes all eigenvalues of a, n by n, row by row, which stays as it is. Returns 0, -ENOMEM, or
 * -EDOM if an eigenvalue was not found, as when a number is not finite. */
int hil_eigenvalues(unsigned n, const double *a, double complex *values);

#endif
