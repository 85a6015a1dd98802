/*
 * Tests runs side by side.
 */
#include <criterion/criterion.h>
#include <sched.h>

#include "harness/launch/jobs.h"

/* With one core, runs go one at a time. */
Test(jobs, are_as_many_as_the_cores_that_this_process_may_use)
{
    cpu_set_t all, one;
    size_t core = 0;

    cr_assert_eq(sched_getaffinity(0, sizeof all, &all), 0);
    cr_expect_eq(hil_jobs_cores(), (unsigned)CPU_COUNT(&all));
    while (!CPU_ISSET(core, &all))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
    cr_expect_eq(hil_jobs_cores(), 1);
}
