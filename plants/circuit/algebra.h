/* Small dense matrices, row by row: what the making of a configuration needs. Nothing allocates. */
#ifndef HILOCO_CIRCUIT_ALGEBRA_H
#define HILOCO_CIRCUIT_ALGEBRA_H

#include <stdbool.h>

/* The factors of a square matrix with complete pivoting, after its rows and columns were scaled. */
struct cir_factors {
    unsigned n, rank;
    double *a;                        /* n n */
    double *row_scale, *column_scale; /* n each */
    unsigned *row, *column;           /* n each: what stands there after the exchanges */
    double *scratch;                  /* n */
};

/* Factors the matrix in f->a. What is smaller than rounding is 0: then rank < n. */
void cir_factor(struct cir_factors *f);

/* Solves for one right-hand side, in place, when the rank is full. */
void cir_solve(const struct cir_factors *f, double *b);

/* A vector that the matrix turns into 0, when the rank is not full. */
void cir_null_vector(const struct cir_factors *f, double *x);

/* Replaces a symmetric matrix by its inverse. `work` has n n numbers. False: it is not positive
 * definite. */
bool cir_invert_symmetric(double *a, unsigned n, double *work);

#endif
