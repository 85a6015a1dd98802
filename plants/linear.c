/*
 * The sampled matrices are blocks of the exponential of the augmented matrix:
 *
 *      exp [a h  b h]  =  [exp(M)  phi(M) b h]      M = a h
 *          [ 0    0 ]     [  0         1     ]      phi(M) = I + M/2! + M^2/3! + ...
 *
 * Since exp(M) = I + M phi(M), only phi has to be computed: by its Taylor series for a scaled-down
 * M, and from there by doubling (scaling and squaring) up to the requested M.
 *
 * M is 2 by 2. By the Cayley-Hamilton theorem M^2 = trace M - det I, so every polynomial in M is
 * p I + q M for two numbers p and q. The series is summed on such pairs. That takes an eighth of
 * the work of matrix products, and needs no special case for real, complex or equal eigenvalues.
 */
#include "linear.h"

#include <math.h>

/* The polynomial p I + q M. */
struct pair {
    double p, q;
};

/* The series needs only these two numbers of M. */
struct invariants {
    double trace, det;
};

static struct pair times_m(struct pair x, struct invariants m)
{
    return (struct pair){-m.det * x.q, x.p + m.trace * x.q};
}

/* For M up to this size, the terms of phi's series that are left out are below rounding. */
static const double series_size = 0.25;

static struct pair phi_series(struct invariants m)
{
    static const double one_over_factorial[] = {
        1.0,
        1.0 / 2,
        1.0 / 6,
        1.0 / 24,
        1.0 / 120,
        1.0 / 720,
        1.0 / 5040,
        1.0 / 40320,
        1.0 / 362880,
        1.0 / 3628800,
        1.0 / 39916800,
        1.0 / 479001600,
        1.0 / 6227020800,
    };
    struct pair phi = {0, 0};

    for (int k = (int)(sizeof(one_over_factorial) / sizeof(double)) - 1; k >= 0; k--) {
        phi = times_m(phi, m);
        phi.p += one_over_factorial[k];
    }
    return phi;
}

/* An upper bound of the magnitude of M's eigenvalues. */
static double size_of(struct invariants m)
{
    return fabs(m.trace) + sqrt(fabs(m.det));
}

struct matrix {
    double at[2][2];
};

static struct matrix times(struct matrix x, struct matrix y)
{
    struct matrix product;

    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            product.at[i][j] = x.at[i][0] * y.at[0][j] + x.at[i][1] * y.at[1][j];
    return product;
}

/* x + count I */
static struct matrix plus_identity(struct matrix x, double count)
{
    x.at[0][0] += count;
    x.at[1][1] += count;
    return x;
}

/* The polynomial x written out, for M = scale a. */
static struct matrix write_out(struct pair x, const double a[2][2], double scale)
{
    const double q = x.q * scale;
    const struct matrix of_m = {{{q * a[0][0], q * a[0][1]}, {q * a[1][0], q * a[1][1]}}};

    return plus_identity(of_m, x.p);
}

static void fill_nan(struct linear *system)
{
    *system = (struct linear){{{NAN, NAN}, {NAN, NAN}}, {NAN, NAN}};
}

void linear_sample(struct linear *sampled, const struct linear *continuous, double period_s)
{
    const double(*a)[2] = continuous->a;
    const double *b = continuous->b;
    struct invariants m = {
        .trace = (a[0][0] + a[1][1]) * period_s,
        .det = (a[0][0] * a[1][1] - a[0][1] * a[1][0]) * period_s * period_s,
    };
    double size = size_of(m);
    int doublings = 0;

    if (!isfinite(size)) {
        fill_nan(sampled);
        return;
    }
    for (; size > series_size; size /= 2)
        doublings++;

    const double scale = ldexp(period_s, -doublings);
    m.trace = ldexp(m.trace, -doublings);
    m.det = ldexp(m.det, -2 * doublings);

    /* `grown` is exp(M) - I: a small M added to I would lose digits to rounding. */
    const struct pair series = phi_series(m);
    struct matrix phi = write_out(series, a, scale);
    struct matrix grown = write_out(times_m(series, m), a, scale);

    for (int i = 0; i < doublings; i++) {
        const struct matrix factor = plus_identity(grown, 2); /* exp(M) + I */

        phi = times(factor, phi); /* integrates over twice the time */
        grown = times(factor, grown);
    }

    const struct matrix exponential = plus_identity(grown, 1);
    const double bh[2] = {scale * b[0], scale * b[1]};

    *sampled = (struct linear){
        .a = {{exponential.at[0][0], exponential.at[0][1]},
              {exponential.at[1][0], exponential.at[1][1]}},
        .b = {phi.at[0][0] * bh[0] + phi.at[0][1] * bh[1],
              phi.at[1][0] * bh[0] + phi.at[1][1] * bh[1]},
    };
}
