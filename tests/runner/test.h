/*
 * The tests' framework: a small part of what Criterion has, by the same names. Criterion starts its
 * program, of sixty libraries, anew for each test, which takes longer than most tests do, and
 * cannot run under ThreadSanitizer. Here each test is a fork of the program (main.c).
 *
 *     TestSuite(SUITE, .init = ..., .fini = ...);      optional: for each test of the suite
 *     Test(SUITE, NAME) { cr_expect_eq(1 + 1, 2); }    Test(SUITE, NAME, .fini = ...), too
 *
 * cr_expect counts a failure, and cr_assert also ends the test. What fails in a process that the
 * test has forked is a failure of the test. Further arguments are a format, a literal, and what it
 * formats.
 */
#ifndef TESTS_RUNNER_TEST_H
#define TESTS_RUNNER_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is called in the test's process before the test, and after it however it ends. */
struct test_around {
    void (*init)(void), (*fini)(void);
    bool alone; /* of a suite: no other test runs then, and it runs after the others */
};

struct test_suite {
    const char *name;
    struct test_around around;
    struct test_suite *next;
};

struct test {
    const char *suite, *name;
    void (*run)(size_t *parameter);
    size_t (*parameters)(void); /* how many there are; NULL: it has none, and runs once */
    struct test_around around;
    struct test *next;
};

void test_add(struct test *test);
void test_add_suite(struct test_suite *suite);

/* How many tests run at a time, unless --jobs says so. */
extern unsigned test_jobs;

/* Called before all tests and after them, where a program has them. */
void tests_begin(void) __attribute__((weak));
void tests_end(void) __attribute__((weak));

#define TestSuite(suite_, ...)                                                                     \
    __attribute__((constructor)) static void suite_add_##suite_(void)                              \
    {                                                                                              \
        static struct test_suite suite = {.name = #suite_, .around = {__VA_ARGS__}};               \
        test_add_suite(&suite);                                                                    \
    }                                                                                              \
    struct test_suite

#define TEST_ADD(suite_, name_, parameters_, ...)                                                  \
    static void test_##suite_##_##name_(size_t *);                                                 \
    __attribute__((constructor)) static void test_add_##suite_##_##name_(void)                     \
    {                                                                                              \
        static struct test test = {.suite = #suite_,                                               \
                                   .name = #name_,                                                 \
                                   .run = test_##suite_##_##name_,                                 \
                                   .parameters = parameters_,                                      \
                                   .around = {__VA_ARGS__}};                                       \
        test_add(&test);                                                                           \
    }

#define Test(suite_, name_, ...)                                                                   \
    TEST_ADD(suite_, name_, NULL, __VA_ARGS__)                                                     \
    static void test_##suite_##_##name_(size_t *test_parameter __attribute__((unused)))

/* A test that runs once for each number below the one that the function TestParameters returns. */
#define TestParameters(suite_, name_) static size_t parameters_##suite_##_##name_(void)
#define ParameterizedTest(parameter_, suite_, name_, ...)                                          \
    TEST_ADD(suite_, name_, parameters_##suite_##_##name_, __VA_ARGS__)                            \
    static void test_##suite_##_##name_(parameter_)

/* Counts a failure of the test that runs, and says what did not hold and where. */
void test_fail(const char *file, int line, const char *condition, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The test that runs ends here: as it is so far; as skipped. */
_Noreturn void test_end(void);
_Noreturn void test_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define cr_expect(condition, ...)                                                                  \
    do {                                                                                           \
        if (!(condition))                                                                          \
            test_fail(__FILE__, __LINE__, #condition, " " __VA_ARGS__);                            \
    } while (0)
#define cr_assert(condition, ...)                                                                  \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            test_fail(__FILE__, __LINE__, #condition, " " __VA_ARGS__);                            \
            test_end();                                                                            \
        }                                                                                          \
    } while (0)
#define cr_assert_fail(...) cr_assert(!"reached", __VA_ARGS__)
#define cr_skip_test(...)   test_skip(__VA_ARGS__)

static inline bool test_texts_equal(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

#define TEST_NEAR(a, b, epsilon)               ((a) - (b) <= (epsilon) && (b) - (a) <= (epsilon))

#define cr_expect_not(a, ...)                  cr_expect(!(a), __VA_ARGS__)
#define cr_expect_eq(a, b, ...)                cr_expect((a) == (b), __VA_ARGS__)
#define cr_expect_neq(a, b, ...)               cr_expect((a) != (b), __VA_ARGS__)
#define cr_expect_gt(a, b, ...)                cr_expect((a) > (b), __VA_ARGS__)
#define cr_expect_geq(a, b, ...)               cr_expect((a) >= (b), __VA_ARGS__)
#define cr_expect_lt(a, b, ...)                cr_expect((a) < (b), __VA_ARGS__)
#define cr_expect_leq(a, b, ...)               cr_expect((a) <= (b), __VA_ARGS__)
#define cr_expect_null(a, ...)                 cr_expect((a) == NULL, __VA_ARGS__)
#define cr_expect_not_null(a, ...)             cr_expect((a) != NULL, __VA_ARGS__)
#define cr_expect_str_eq(a, b, ...)            cr_expect(test_texts_equal(a, b), __VA_ARGS__)
#define cr_expect_str_neq(a, b, ...)           cr_expect(!test_texts_equal(a, b), __VA_ARGS__)
#define cr_expect_str_empty(a, ...)            cr_expect(!*(a), __VA_ARGS__)
#define cr_expect_str_not_empty(a, ...)        cr_expect(*(a), __VA_ARGS__)
#define cr_expect_arr_eq(a, b, size, ...)      cr_expect(memcmp(a, b, size) == 0, __VA_ARGS__)
#define cr_expect_float_eq(a, b, epsilon, ...) cr_expect(TEST_NEAR(a, b, epsilon), __VA_ARGS__)

#define cr_assert_not(a, ...)                  cr_assert(!(a), __VA_ARGS__)
#define cr_assert_eq(a, b, ...)                cr_assert((a) == (b), __VA_ARGS__)
#define cr_assert_neq(a, b, ...)               cr_assert((a) != (b), __VA_ARGS__)
#define cr_assert_gt(a, b, ...)                cr_assert((a) > (b), __VA_ARGS__)
#define cr_assert_geq(a, b, ...)               cr_assert((a) >= (b), __VA_ARGS__)
#define cr_assert_lt(a, b, ...)                cr_assert((a) < (b), __VA_ARGS__)
#define cr_assert_leq(a, b, ...)               cr_assert((a) <= (b), __VA_ARGS__)
#define cr_assert_null(a, ...)                 cr_assert((a) == NULL, __VA_ARGS__)
#define cr_assert_not_null(a, ...)             cr_assert((a) != NULL, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...)            cr_assert(test_texts_equal(a, b), __VA_ARGS__)
#define cr_assert_str_empty(a, ...)            cr_assert(!*(a), __VA_ARGS__)
#define cr_assert_float_eq(a, b, epsilon, ...) cr_assert(TEST_NEAR(a, b, epsilon), __VA_ARGS__)

#endif
