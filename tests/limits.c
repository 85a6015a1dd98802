/*
 * Every test ends: Criterion ends one that takes longer than the limit, says its name, and goes on
 * with the rest. Tests take seconds; the limit is against hangs, on a busy machine too. A machine
 * that is slower still has another one in TEST_LIMIT_S.
 *
 * Criterion's own option for it (--timeout) holds only for tests that have a limit already.
 *
 * Signals that end a process end the tests' processes too: a shell's background job starts with
 * SIGINT and SIGQUIT ignored, and hands that down.
 */
#include <criterion/criterion.h>
#include <signal.h>
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

__attribute__((constructor)) static void heed_all_signals(void)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], SIG_DFL);
}
