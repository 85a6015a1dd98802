/*
 * A stand-in for Criterion: the same test files, run by tests/plain/main.c. It is for builds in
 * which Criterion cannot run (ThreadSanitizer), and for slow machines: Criterion starts its
 * program, of thirty libraries, anew for each test, which takes an emulated machine a second.
 */
#ifndef PLAIN_CRITERION_H
#define PLAIN_CRITERION_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plain_test {
    const char *suite, *name;
    void (*run)(void);
    struct plain_test *next;
};

void plain_add(struct plain_test *test);

/* Counts a failure of the test that runs, and says what did not hold and where. */
void plain_fail(const char *file, int line, const char *condition, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The test that runs ends here, as skipped. */
_Noreturn void plain_skip(const char *why);

#define Test(suite_, name_, ...)                                                                   \
    static void plain_##suite_##_##name_(void);                                                    \
    __attribute__((constructor)) static void plain_add_##suite_##_##name_(void)                    \
    {                                                                                              \
        static struct plain_test test = {#suite_, #name_, plain_##suite_##_##name_, NULL};         \
        plain_add(&test);                                                                          \
    }                                                                                              \
    static void plain_##suite_##_##name_(void)

/* What follows the condition is a literal, and what it formats. */
#define cr_expect(condition, ...)                                                                  \
    do {                                                                                           \
        if (!(condition))                                                                          \
            plain_fail(__FILE__, __LINE__, #condition, " " __VA_ARGS__);                           \
    } while (0)
#define cr_assert(condition, ...)                                                                  \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            plain_fail(__FILE__, __LINE__, #condition, " " __VA_ARGS__);                           \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)
#define cr_expect_eq(a, b, ...) cr_expect((a) == (b), __VA_ARGS__)
#define cr_assert_eq(a, b, ...) cr_assert((a) == (b), __VA_ARGS__)
#define cr_assert_gt(a, b, ...) cr_assert((a) > (b), __VA_ARGS__)
#define cr_assert_lt(a, b, ...) cr_assert((a) < (b), __VA_ARGS__)
#define cr_skip_test(why)       plain_skip(why)

#endif
