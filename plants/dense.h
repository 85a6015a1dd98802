/*
 * Linear systems of any size, and their exact sampling for inputs that are held:
 *
 *      continuous   x' = a x + b u      n states, m inputs; matrices are arrays, row by row
 *      sampled      x+ = a x + b u      one period later
 */
#ifndef HILOCO_PLANTS_DENSE_H
#define HILOCO_PLANTS_DENSE_H

/* Samples the system in place. Allocates. Returns 0 or -ENOMEM. */
int dense_sample(unsigned n, unsigned m, double *a, double *b, double period_s);

/* Does the same without allocating, so that a step may call it. `work` has room for
 * DENSE_WORK (n + m)^2 numbers. */
enum { DENSE_WORK = 4 };
void dense_sample_in(double *work, unsigned n, unsigned m, double *a, double *b, double period_s);

/* Advances x by one period of a sampled system. `scratch` has room for n numbers. */
void dense_advance(unsigned n, unsigned m, const double *a, const double *b, double *x,
                   const double *u, double *scratch);

#endif
