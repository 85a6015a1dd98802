/*
 * Every test ends: Criterion ends one that takes longer than the limit, says its name, and goes on
 * with the rest. Tests take seconds; the limit is against hangs, on a busy machine too. A machine
 * that is slower still has another one in TEST_LIMIT_S.
 *
 * Criterion's own option for it (--timeout) holds only for tests that have a limit already.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

static const double limit_s = 600;

/* Where Criterion gathers the tests from, when main begins. */
extern struct criterion_test *__start_cr_tst[], *__stop_cr_tst[];

__attribute__((constructor)) static void limit_all_tests(void)
{
    const char *other = getenv("TEST_LIMIT_S");

    for (struct criterion_test **t = __start_cr_tst; t < __stop_cr_tst; t++)
        (*t)->data->timeout = other ? atof(other) : limit_s;
}
