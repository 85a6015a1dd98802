/*
 * A stand-in for Criterion, for builds in which Criterion cannot run (ThreadSanitizer): the
 * same test files, run one after the other in one process.
 */
#ifndef PLAIN_CRITERION_H
#define PLAIN_CRITERION_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plain_test {
    const char *suite, *name;
    void (*run)(void);
    struct plain_test *next;
};

static struct plain_test *plain_tests;

#define Test(suite_, name_, ...)                                                                   \
    static void plain_##suite_##_##name_(void);                                                    \
    __attribute__((constructor)) static void plain_add_##suite_##_##name_(void)                    \
    {                                                                                              \
        static struct plain_test test = {#suite_, #name_, plain_##suite_##_##name_, NULL};         \
        test.next = plain_tests;                                                                   \
        plain_tests = &test;                                                                       \
    }                                                                                              \
    static void plain_##suite_##_##name_(void)

#define cr_assert(condition, ...)                                                                  \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define cr_assert_eq(a, b, ...) cr_assert((a) == (b))
#define cr_skip_test(why)                                                                          \
    do {                                                                                           \
        fprintf(stderr, "skipped: %s\n", why);                                                     \
        return;                                                                                    \
    } while (0)

/* The simulator runs all its fibers on one thread, and has nothing for ThreadSanitizer to see. */
static int plain_is_simulated(const char *name)
{
    return strstr(name, "_sim") || strstr(name, "chaos");
}

int main(void)
{
    int passed = 0, skipped = 0;

    for (struct plain_test *t = plain_tests; t; t = t->next) {
        if (plain_is_simulated(t->name)) {
            skipped++;
            continue;
        }
        fprintf(stderr, "%s::%s\n", t->suite, t->name);
        t->run();
        passed++;
    }
    printf("%d passed, 0 failed, %d skipped: they run on the simulator, in one thread\n", passed,
           skipped);
    return 0;
}

#endif
