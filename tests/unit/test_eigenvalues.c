/* The eigenvalues of matrices that have known ones. */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "../../harness/base/random.h"
#include "../../harness/commands/linearize/eigenvalues.h"

enum { MOST = 60 };

/* Each of the expected ones is found once. */
static void expect(unsigned n, const double *a, const double complex *expected, double within)
{
    double complex found[MOST];

    cr_assert_eq(hil_eigenvalues(n, a, found), 0);
    for (unsigned i = 0; i < n; i++) {
        unsigned nearest = i;
        for (unsigned k = i; k < n; k++)
            if (cabs(found[k] - expected[i]) < cabs(found[nearest] - expected[i]))
                nearest = k;
        cr_expect_lt(cabs(found[nearest] - expected[i]), within, "%u of %u: %g %+gi", i, n,
                     creal(expected[i]), cimag(expected[i]));
        found[nearest] = found[i];
    }
}

Test(eigenvalues, of_small_matrices)
{
    expect(1, (double[]){-3}, (double complex[]){-3}, 1e-15);
    expect(2, (double[]){0, 1, -1, 0}, (double complex[]){I, -I}, 1e-15);
    expect(2, (double[]){2, 1, 0, 2}, (double complex[]){2, 2}, 1e-15);
    expect(3, (double[]){0, 0, 1, 1, 0, 0, 0, 1, 0},
           (double complex[]){1, -0.5 + sqrt(0.75) * I, -0.5 - sqrt(0.75) * I}, 1e-14);
    expect(4, (double[16]){0}, (double complex[4]){0}, 1e-300);
    cr_expect_eq(hil_eigenvalues(0, NULL, NULL), 0);
}

/* A shift that goes in a circle without an odd one. */
Test(eigenvalues, of_a_matrix_that_turns)
{
    const double turns[16] = {0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

    expect(4, turns, (double complex[]){1, -1, I, -I}, 1e-14);
}

/* A diagonal of pairs, mixed by reflections, which leave the eigenvalues. */
Test(eigenvalues, of_mixed_matrices)
{
    uint64_t random = 7;

    for (unsigned n = 2; n <= MOST; n += 2) {
        static double a[MOST * MOST];
        double complex expected[MOST];
        for (unsigned i = 0; i < n * n; i++)
            a[i] = 0;
        for (unsigned i = 0; i < n; i += 2) {
            const double re = 2 * hil_random_uniform(&random) - 1, im = hil_random_uniform(&random);
            a[i * n + i] = a[(i + 1) * n + i + 1] = re;
            a[i * n + i + 1] = im;
            a[(i + 1) * n + i] = -im;
            expected[i] = re + I * im;
            expected[i + 1] = re - I * im;
        }
        for (unsigned times = 0; times < 3; times++) {
            double v[MOST], square = 0;
            for (unsigned i = 0; i < n; i++) {
                v[i] = hil_random_uniform(&random) - 0.5;
                square += v[i] * v[i];
            }
            for (unsigned j = 0; j < n; j++) {
                double sum = 0;
                for (unsigned i = 0; i < n; i++)
                    sum += v[i] * a[i * n + j];
                for (unsigned i = 0; i < n; i++)
                    a[i * n + j] -= 2 * sum / square * v[i];
            }
            for (unsigned i = 0; i < n; i++) {
                double sum = 0;
                for (unsigned j = 0; j < n; j++)
                    sum += a[i * n + j] * v[j];
                for (unsigned j = 0; j < n; j++)
                    a[i * n + j] -= 2 * sum / square * v[j];
            }
        }
        expect(n, a, expected, 1e-11);
    }
}

Test(eigenvalues, of_what_is_no_number)
{
    double complex found[2];

    cr_expect_eq(hil_eigenvalues(2, (double[]){1, NAN, 0, 1}, found), -EDOM);
}
