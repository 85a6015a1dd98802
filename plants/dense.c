/*
 * The sampled matrices are blocks of the exponential of the augmented matrix
 *
 *      exp [a h  b h]  =  [sampled a  sampled b]
 *          [ 0    0 ]     [    0          1    ]
 *
 * computed by scaling and squaring: the Taylor series gives the exponential for a small part of h,
 * and squaring extends it to h. The code stores the exponential minus the identity, so that short
 * periods lose no digits to rounding.
 */
#include "dense.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* to = x y; each matrix is size by size. */
static void dense_multiply(unsigned size, double *to, const double *x, const double *y)
{
    for (unsigned i = 0; i < size; i++)
        for (unsigned j = 0; j < size; j++) {
            double sum = 0;
            for (unsigned k = 0; k < size; k++)
                sum += x[i * size + k] * y[k * size + j];
            to[i * size + j] = sum;
        }
}

/* The greatest sum of absolute values in a row. */
static double dense_norm(unsigned size, const double *x)
{
    double norm = 0;

    for (unsigned i = 0; i < size; i++) {
        double sum = 0;
        for (unsigned j = 0; j < size; j++)
            sum += fabs(x[i * size + j]);
        norm = fmax(norm, sum);
    }
    return norm;
}

/* grown = exp(m) - I. Overwrites m; `term` and `product` are scratch. */
static void dense_exponential(unsigned size, double *grown, double *m, double *term,
                              double *product)
{
    const unsigned cells = size * size;
    int doublings = 0;

    for (double norm = dense_norm(size, m); norm > 0.25; norm /= 2)
        doublings++;
    for (unsigned i = 0; i < cells; i++)
        m[i] = ldexp(m[i], -doublings);
    memcpy(term, m, cells * sizeof(double));
    memcpy(grown, m, cells * sizeof(double));
    for (int k = 2; k <= 14; k++) {
        dense_multiply(size, product, term, m);
        for (unsigned i = 0; i < cells; i++) {
            term[i] = product[i] / k;
            grown[i] += term[i];
        }
    }
    for (; doublings > 0; doublings--) { /* (1 + g)^2 - 1 = 2 g + g g */
        dense_multiply(size, product, grown, grown);
        for (unsigned i = 0; i < cells; i++)
            grown[i] = 2 * grown[i] + product[i];
    }
}

void dense_sample_in(double *work, unsigned n, unsigned m, double *a, double *b, double period_s)
{
    const unsigned size = n + m, cells = size * size;
    double *augmented = work, *grown = &work[cells];

    memset(work, 0, (size_t)DENSE_WORK * cells * sizeof *work);
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < n; j++)
            augmented[i * size + j] = a[i * n + j] * period_s;
        for (unsigned j = 0; j < m; j++)
            augmented[i * size + n + j] = b[i * m + j] * period_s;
    }
    dense_exponential(size, grown, augmented, &work[2 * cells], &work[3 * cells]);
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < n; j++)
            a[i * n + j] = grown[i * size + j] + (i == j);
        for (unsigned j = 0; j < m; j++)
            b[i * m + j] = grown[i * size + n + j];
    }
}

int dense_sample(unsigned n, unsigned m, double *a, double *b, double period_s)
{
    double *work = malloc((size_t)DENSE_WORK * (n + m) * (n + m) * sizeof *work);

    if (!work)
        return -ENOMEM;
    dense_sample_in(work, n, m, a, b, period_s);
    free(work);
    return 0;
}

void dense_advance(unsigned n, unsigned m, const double *a, const double *b, double *x,
                   const double *u, double *scratch)
{
    for (unsigned i = 0; i < n; i++) {
        scratch[i] = 0;
        for (unsigned j = 0; j < n; j++)
            scratch[i] += a[i * n + j] * x[j];
        for (unsigned j = 0; j < m; j++)
            scratch[i] += b[i * m + j] * u[j];
    }
    memcpy(x, scratch, n * sizeof(double));
}
