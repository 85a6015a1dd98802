/*
 * Eigenvalues by the shifted QR iteration on a Hessenberg matrix. Complex arithmetic keeps it
 * short: a pair of modes needs no case of its own.
 */
#include "modes.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { ROUNDS = 60 };

#define A(i, j) a[(i)*n + (j)]

/* Makes everything below the first subdiagonal 0, by eliminations that keep the eigenvalues. */
static void reduce(double complex *a, unsigned n)
{
    for (unsigned k = 0; k + 2 < n; k++) {
        unsigned best = k + 1;
        for (unsigned i = k + 2; i < n; i++)
            if (cabs(A(i, k)) > cabs(A(best, k)))
                best = i;
        if (A(best, k) == 0)
            continue;
        for (unsigned j = 0; best != k + 1 && j < n; j++) {
            const double complex t = A(best, j);
            A(best, j) = A(k + 1, j);
            A(k + 1, j) = t;
        }
        for (unsigned i = 0; best != k + 1 && i < n; i++) {
            const double complex t = A(i, best);
            A(i, best) = A(i, k + 1);
            A(i, k + 1) = t;
        }
        for (unsigned i = k + 2; i < n; i++) {
            const double complex factor = A(i, k) / A(k + 1, k);
            if (factor == 0)
                continue;
            for (unsigned j = 0; j < n; j++)
                A(i, j) -= factor * A(k + 1, j);
            for (unsigned j = 0; j < n; j++)
                A(j, k + 1) += factor * A(j, i);
        }
    }
}

/* The eigenvalue of the last two rows' corner that is nearer to its last entry. */
static double complex shift_of(const double complex *a, unsigned n, unsigned last)
{
    const double complex p = A(last - 1, last - 1), q = A(last - 1, last), r = A(last, last - 1),
                         s = A(last, last);
    const double complex half = (p - s) / 2, root = csqrt(half * half + q * r);
    const double complex sum = cabs(half + root) > cabs(half - root) ? half + root : half - root;

    return sum == 0 ? s : s - q * r / sum;
}

/* One step on the rows and columns first..last: a - shift = Q R, and a becomes R Q + shift. */
static void turn(double complex *a, unsigned n, unsigned first, unsigned last, double complex *work)
{
    const double complex shift = shift_of(a, n, last);
    double complex *cosines = work, *sines = work + n;

    for (unsigned i = first; i <= last; i++)
        A(i, i) -= shift;
    for (unsigned k = first; k < last; k++) {
        const double size = hypot(cabs(A(k, k)), cabs(A(k + 1, k)));
        cosines[k] = size > 0 ? A(k, k) / size : 1;
        sines[k] = size > 0 ? A(k + 1, k) / size : 0;
        for (unsigned j = k; j <= last; j++) {
            const double complex upper = A(k, j), lower = A(k + 1, j);
            A(k, j) = conj(cosines[k]) * upper + conj(sines[k]) * lower;
            A(k + 1, j) = cosines[k] * lower - sines[k] * upper;
        }
    }
    for (unsigned k = first; k < last; k++)
        for (unsigned i = first; i <= (k + 2 < last ? k + 2 : last); i++) {
            const double complex left = A(i, k), right = A(i, k + 1);
            A(i, k) = left * cosines[k] + right * sines[k];
            A(i, k + 1) = right * conj(cosines[k]) - left * conj(sines[k]);
        }
    for (unsigned i = first; i <= last; i++)
        A(i, i) += shift;
}

/* Whether the entry below the diagonal in column k is 0 as far as rounding can tell. */
static bool is_split(const double complex *a, unsigned n, unsigned k)
{
    return cabs(A(k + 1, k)) <= DBL_EPSILON * (cabs(A(k, k)) + cabs(A(k + 1, k + 1)));
}

double cir_ringing(double complex *a, unsigned n, double complex *work)
{
    double greatest = 0;

    reduce(a, n);
    for (unsigned last = n ? n - 1 : 0; last > 0;) {
        unsigned rounds = 0;
        while (rounds++ < ROUNDS && !is_split(a, n, last - 1)) {
            unsigned first = last - 1;
            while (first > 0 && !is_split(a, n, first - 1))
                first--;
            turn(a, n, first, last, work);
        }
        last--;
    }
    /* In a period a mode shrinks by exp(2 pi re / im). */
    for (unsigned i = 0; i < n; i++)
        if (fabs(cimag(A(i, i))) * log(10) > 2 * M_PI * -creal(A(i, i)))
            greatest = fmax(greatest, fabs(cimag(A(i, i))));
    return greatest;
}
