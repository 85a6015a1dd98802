/* The modes of x' = a x: how fast it can oscillate. */
#ifndef HILOCO_CIRCUIT_MODES_H
#define HILOCO_CIRCUIT_MODES_H

#include <complex.h>

/* The greatest angular frequency of a mode that rings: one that loses less than nine tenths of its
 * size in a period. Destroys a, which has n n entries. `work` has 2 n numbers. */
double cir_ringing(double complex *a, unsigned n, double complex *work);

#endif
