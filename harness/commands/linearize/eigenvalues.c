/*
 * The QR algorithm, in complex numbers: the matrix is made upper Hessenberg by Householder's
 * reflections, and then triangular by steps
 *
 *      H - s I = Q R,   H <- R Q + s I
 *
 * with Givens rotations. The shift s is the eigenvalue of the last two rows that is nearer to the
 * last number (Wilkinson's shift). An eigenvalue stands alone when the number left of it is below
 * rounding.
 */
#include "eigenvalues.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Steps for one eigenvalue. It usually takes two or three; every tenth shift is another one, in
 * case the shifts go in a circle. */
enum { STEPS_MOST = 100, STEPS_ODD = 10 };

struct hessenberg {
    unsigned n;
    double complex *at;
    double complex *reflection;
};

static double complex *cell(const struct hessenberg *h, unsigned row, unsigned column)
{
    return &h->at[row * h->n + column];
}

/* Reflects the rows and columns from `first` on, so that column first - 1 is zero below `first`. */
static void reflect(struct hessenberg *h, unsigned first)
{
    const unsigned n = h->n;
    double complex *v = h->reflection;
    double below = 0, length = 0;

    for (unsigned i = first; i < n; i++) {
        v[i] = *cell(h, i, first - 1);
        length = hypot(length, cabs(v[i]));
        below = i > first ? fmax(below, cabs(v[i])) : below;
    }
    if (below == 0)
        return;
    v[first] += v[first] == 0 ? length : length * v[first] / cabs(v[first]);
    double square = 0;
    for (unsigned i = first; i < n; i++)
        square += creal(v[i] * conj(v[i]));
    for (unsigned j = 0; j < n; j++) { /* from the left */
        double complex sum = 0;
        for (unsigned i = first; i < n; i++)
            sum += conj(v[i]) * *cell(h, i, j);
        for (unsigned i = first; i < n; i++)
            *cell(h, i, j) -= 2 * sum / square * v[i];
    }
    for (unsigned i = 0; i < n; i++) { /* and from the right */
        double complex sum = 0;
        for (unsigned j = first; j < n; j++)
            sum += *cell(h, i, j) * v[j];
        for (unsigned j = first; j < n; j++)
            *cell(h, i, j) -= 2 * sum / square * conj(v[j]);
    }
    for (unsigned i = first + 1; i < n; i++)
        *cell(h, i, first - 1) = 0;
}

static double complex wilkinson(const struct hessenberg *h, unsigned last)
{
    const double complex a = *cell(h, last - 1, last - 1), b = *cell(h, last - 1, last);
    const double complex c = *cell(h, last, last - 1), d = *cell(h, last, last);
    const double complex middle = (a + d) / 2, root = csqrt((a - d) * (a - d) / 4 + b * c);

    return cabs(middle + root - d) < cabs(middle - root - d) ? middle + root : middle - root;
}

/* A rotation turns (x, y) into (length, 0): (c, s; -conj s, c). */
struct rotation {
    double c;
    double complex s;
};

static struct rotation rotation_of(double complex x, double complex y)
{
    const double length = hypot(cabs(x), cabs(y));

    if (length == 0 || y == 0)
        return (struct rotation){1, 0};
    if (x == 0)
        return (struct rotation){0, conj(y) / cabs(y)};
    return (struct rotation){cabs(x) / length, x / cabs(x) * conj(y) / length};
}

/* One step on the rows first to last. `rotations` has room for one each. */
static void step(struct hessenberg *h, unsigned first, unsigned last, double complex shift,
                 struct rotation *rotations)
{
    for (unsigned i = first; i <= last; i++)
        *cell(h, i, i) -= shift;
    for (unsigned k = first; k < last; k++) {
        const struct rotation r = rotation_of(*cell(h, k, k), *cell(h, k + 1, k));
        for (unsigned j = k; j <= last; j++) {
            const double complex x = *cell(h, k, j), y = *cell(h, k + 1, j);
            *cell(h, k, j) = r.c * x + r.s * y;
            *cell(h, k + 1, j) = -conj(r.s) * x + r.c * y;
        }
        rotations[k] = r;
    }
    for (unsigned k = first; k < last; k++) {
        const struct rotation r = rotations[k];
        for (unsigned i = first; i <= k + 1; i++) {
            const double complex x = *cell(h, i, k), y = *cell(h, i, k + 1);
            *cell(h, i, k) = r.c * x + conj(r.s) * y;
            *cell(h, i, k + 1) = -r.s * x + r.c * y;
        }
    }
    for (unsigned i = first; i <= last; i++)
        *cell(h, i, i) += shift;
}

/* The first row of the part that ends at `last` and is not divided. */
static unsigned part_of(const struct hessenberg *h, unsigned last, double size)
{
    unsigned first = last;

    while (first > 0) {
        double around = cabs(*cell(h, first, first)) + cabs(*cell(h, first - 1, first - 1));
        if (around == 0)
            around = size;
        if (!(cabs(*cell(h, first, first - 1)) > DBL_EPSILON * around))
            break;
        first--;
    }
    return first;
}

static double size_of(const struct hessenberg *h)
{
    double size = 0;

    for (unsigned i = 0; i < h->n * h->n; i++)
        size = hypot(size, cabs(h->at[i]));
    return size;
}

static int triangular(struct hessenberg *h, struct rotation *rotations)
{
    const double size = size_of(h);
    unsigned tries = 0;

    if (!isfinite(size))
        return -EDOM;
    for (unsigned last = h->n - 1; last > 0;) {
        const unsigned first = part_of(h, last, size);
        if (first == last) {
            last--;
            tries = 0;
            continue;
        }
        if (tries++ == STEPS_MOST)
            return -EDOM;
        const double complex odd = *cell(h, last, last) + cabs(*cell(h, last, last - 1));
        step(h, first, last, tries % STEPS_ODD ? wilkinson(h, last) : odd, rotations);
    }
    return 0;
}

int hil_eigenvalues(unsigned n, const double *a, double complex *values)
{
    struct hessenberg h = {.n = n};
    struct rotation *rotations = malloc((n + 1) * sizeof *rotations);
    int rc = -ENOMEM;

    h.at = malloc(((size_t)n * n + 1) * sizeof *h.at);
    h.reflection = malloc((n + 1) * sizeof *h.reflection);
    if (h.at && h.reflection && rotations) {
        for (unsigned i = 0; i < n * n; i++)
            h.at[i] = a[i];
        for (unsigned first = 1; first + 1 < n; first++)
            reflect(&h, first);
        rc = n == 0 ? 0 : triangular(&h, rotations);
        for (unsigned i = 0; i < n; i++)
            values[i] = *cell(&h, i, i);
    }
    free(h.at);
    free(h.reflection);
    free(rotations);
    return rc;
}
