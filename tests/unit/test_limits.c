/* Tests that a hanging test is ended (tests/limits.c): runs this program again with a test that
 * hangs. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

Test(limits, some_hang)
{
    while (getenv("TEST_HANGS"))
        pause();
}

Test(limits, others_do_not)
{
}

Test(limits, a_test_that_hangs_is_ended_and_named)
{
    char self[4096] = "", command[sizeof self + 200], said[4096];

    cr_assert_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
    snprintf(command, sizeof command,
             "env -i TEST_HANGS=1 TEST_LIMIT_S=2 %s --filter 'limits/@(some|others)*' 2>&1", self);
    FILE *out = popen(command, "r");
    size_t size = fread(said, 1, sizeof said - 1, out);
    said[size] = '\0';
    cr_assert_neq(pclose(out), 0);
    cr_assert(strstr(said, "limits::some_hang: Timed out"), "%s", said);
    cr_assert(strstr(said, "Passing: 1 | Failing: 1"), "%s", said);
}
