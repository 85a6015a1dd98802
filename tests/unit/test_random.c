/*
 * Tests that random numbers are the same everywhere.
 */
#include <criterion/criterion.h>
#include <math.h>

#include "harness/base/random.h"

/* The first numbers of splitmix64 from seed 42, as given by other programs. */
Test(random, is_splitmix64)
{
    uint64_t state = 42;

    cr_expect_eq(hil_random_uniform(&state), (double)(13679457532755275413u >> 11) * 0x1p-53);
    cr_expect_eq(hil_random_uniform(&state), (double)(2949826092126892291u >> 11) * 0x1p-53);
}

Test(random, normal_numbers_have_mean_0_and_deviation_1)
{
    enum { COUNT = 100000 };
    double sum = 0, squares = 0;
    unsigned within = 0;
    uint64_t state = 1;

    for (int i = 0; i < COUNT; i++) {
        const double x = hil_random_normal(&state);
        cr_assert(isfinite(x));
        sum += x;
        squares += x * x;
        within += fabs(x) < 1;
    }
    cr_expect_float_eq(sum / COUNT, 0, 0.02);
    cr_expect_float_eq(sqrt(squares / COUNT), 1, 0.02);
    cr_expect_float_eq((double)within / COUNT, 0.6827, 0.01);
}
