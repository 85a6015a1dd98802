#include "algebra.h"

#include <math.h>
#include <string.h>

/* A pivot below this, in a scaled matrix, is rounding. */
#define ROUNDING 1e-14

static double power_of_two_near(double x)
{
    int exponent;

    if (!(x > 0) || !isfinite(x))
        return 1;
    frexp(x, &exponent);
    return ldexp(1, -exponent);
}

/* Scales rows, then columns, by powers of two, so that their greatest entries are near 1. */
static void scale(struct cir_factors *f)
{
    const unsigned n = f->n;

    for (unsigned i = 0; i < n; i++) {
        double greatest = 0;
        for (unsigned j = 0; j < n; j++)
            greatest = fmax(greatest, fabs(f->a[i * n + j]));
        f->row_scale[i] = power_of_two_near(greatest);
        for (unsigned j = 0; j < n; j++)
            f->a[i * n + j] *= f->row_scale[i];
    }
    for (unsigned j = 0; j < n; j++) {
        double greatest = 0;
        for (unsigned i = 0; i < n; i++)
            greatest = fmax(greatest, fabs(f->a[i * n + j]));
        f->column_scale[j] = power_of_two_near(greatest);
        for (unsigned i = 0; i < n; i++)
            f->a[i * n + j] *= f->column_scale[j];
    }
}

static void swap_rows(struct cir_factors *f, unsigned i, unsigned k)
{
    const unsigned row = f->row[i];

    for (unsigned j = 0; i != k && j < f->n; j++) {
        const double a = f->a[i * f->n + j];
        f->a[i * f->n + j] = f->a[k * f->n + j];
        f->a[k * f->n + j] = a;
    }
    f->row[i] = f->row[k];
    f->row[k] = row;
}

static void swap_columns(struct cir_factors *f, unsigned j, unsigned k)
{
    const unsigned column = f->column[j];

    for (unsigned i = 0; j != k && i < f->n; i++) {
        const double a = f->a[i * f->n + j];
        f->a[i * f->n + j] = f->a[i * f->n + k];
        f->a[i * f->n + k] = a;
    }
    f->column[j] = f->column[k];
    f->column[k] = column;
}

/* Brings the greatest entry of what is left to place (k, k). Returns its size. */
static double pivot(struct cir_factors *f, unsigned k)
{
    unsigned row = k, column = k;
    double greatest = 0;

    for (unsigned i = k; i < f->n; i++)
        for (unsigned j = k; j < f->n; j++)
            if (fabs(f->a[i * f->n + j]) > greatest) {
                greatest = fabs(f->a[i * f->n + j]);
                row = i;
                column = j;
            }
    swap_rows(f, k, row);
    swap_columns(f, k, column);
    return greatest;
}

void cir_factor(struct cir_factors *f)
{
    const unsigned n = f->n;

    for (unsigned i = 0; i < n; i++)
        f->row[i] = f->column[i] = i;
    scale(f);
    for (f->rank = 0; f->rank < n; f->rank++) {
        const unsigned k = f->rank;
        if (pivot(f, k) < ROUNDING)
            return;
        for (unsigned i = k + 1; i < n; i++) {
            const double factor = f->a[i * n + k] / f->a[k * n + k];
            f->a[i * n + k] = factor;
            for (unsigned j = k + 1; factor != 0 && j < n; j++)
                f->a[i * n + j] -= factor * f->a[k * n + j];
        }
    }
}

/* x[0 .. rank) := the solution of U x = x. */
static void back_substitute(const struct cir_factors *f, double *x)
{
    for (unsigned i = f->rank; i-- > 0;) {
        for (unsigned j = i + 1; j < f->rank; j++)
            x[i] -= f->a[i * f->n + j] * x[j];
        x[i] /= f->a[i * f->n + i];
    }
}

/* From the order and the scale of the columns back to those of the unknowns. */
static void put_back(const struct cir_factors *f, const double *x, double *to)
{
    for (unsigned j = 0; j < f->n; j++)
        to[f->column[j]] = x[j] * f->column_scale[f->column[j]];
}

void cir_solve(const struct cir_factors *f, double *b)
{
    double *x = f->scratch;

    for (unsigned i = 0; i < f->n; i++) {
        x[i] = b[f->row[i]] * f->row_scale[f->row[i]];
        for (unsigned j = 0; j < i; j++)
            x[i] -= f->a[i * f->n + j] * x[j];
    }
    back_substitute(f, x);
    put_back(f, x, b);
}

void cir_null_vector(const struct cir_factors *f, double *to)
{
    double *x = f->scratch;

    memset(x, 0, f->n * sizeof *x);
    for (unsigned i = 0; i < f->rank; i++)
        x[i] = -f->a[i * f->n + f->rank];
    back_substitute(f, x);
    x[f->rank] = 1;
    put_back(f, x, to);
}

/* a = c c^T, and then the inverse column by column. */
bool cir_invert_symmetric(double *a, unsigned n, double *c)
{
    memcpy(c, a, n * n * sizeof *c);
    for (unsigned j = 0; j < n; j++) {
        const double before = c[j * n + j];
        for (unsigned k = 0; k < j; k++)
            c[j * n + j] -= c[j * n + k] * c[j * n + k];
        if (!(c[j * n + j] > 1e-12 * before))
            return false;
        c[j * n + j] = sqrt(c[j * n + j]);
        for (unsigned i = j + 1; i < n; i++) {
            for (unsigned k = 0; k < j; k++)
                c[i * n + j] -= c[i * n + k] * c[j * n + k];
            c[i * n + j] /= c[j * n + j];
        }
    }
    for (unsigned column = 0; column < n; column++) {
        for (unsigned i = 0; i < n; i++) {
            double x = i == column;
            for (unsigned k = 0; k < i; k++)
                x -= c[i * n + k] * a[k * n + column];
            a[i * n + column] = x / c[i * n + i];
        }
        for (unsigned i = n; i-- > 0;) {
            double x = a[i * n + column];
            for (unsigned k = i + 1; k < n; k++)
                x -= c[k * n + i] * a[k * n + column];
            a[i * n + column] = x / c[i * n + i];
        }
    }
    return true;
}
