/* One test in a process of its own, which tells in shared memory what becomes of it. */
#ifndef TESTS_RUNNER_ONE_H
#define TESTS_RUNNER_ONE_H

#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include "tests/runner/test.h"

enum test_verdict { TEST_PASSED, TEST_FAILED, TEST_SKIPPED, TEST_STOOD_STILL, TEST_VERDICTS };

struct test_told {
    _Atomic uint64_t moves;
    _Atomic bool failed; /* also by a process that the test has forked */
    bool ended;          /* the test, and what is called after it */
    bool skipped;
    char why[1000];
};

struct test_told *test_told_new(void);

/* Returns the id of the process, which leads a group. */
pid_t test_start(const struct test *test, const struct test_suite *suite, size_t parameter,
                 struct test_told *told);

#endif
