/* Tests that what runs beside the loops shares their session, and that the session is raised. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/base/autogroup.h"
#include "harness/base/deaf.h"

static int nice_now(void)
{
    char text[64] = "";
    FILE *f = fopen("/proc/self/autogroup", "re");

    if (f && !fgets(text, sizeof text, f))
        text[0] = '\0';
    if (f)
        fclose(f);
    return hil_autogroup_parse(text);
}

Test(autogroup, the_kernels_text_is_understood)
{
    cr_expect_eq(hil_autogroup_parse("/autogroup-34566 nice 0\n"), 0);
    cr_expect_eq(hil_autogroup_parse("/autogroup-1 nice -20\n"), -20);
    cr_expect_eq(hil_autogroup_parse(""), HIL_AUTOGROUP_KEPT);
}

/* A session of its own is a group of its own, of the same weight as that of the loops. */
Test(autogroup, a_deaf_process_stays_in_the_session)
{
    const pid_t session = getsid(0), group = getpgid(0), child = hil_fork_deaf();
    int status;

    if (child == 0)
        _exit(getsid(0) == session && getpgid(0) != group ? 0 : 1);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(status, 0);
}

/* Status 0, or the number of what is wrong. A machine without groups, or a user who may not,
 * changes nothing. */
static int raise_and_put_back(void)
{
    setsid();
    const int usual = hil_autogroup_usual();
    if (usual != nice_now())
        return 1;
    hil_autogroup_raise();
    const int raised = nice_now();
    if (raised != usual && (raised != -20 || hil_autogroup_usual() != HIL_AUTOGROUP_KEPT))
        return 2;
    if (geteuid() == 0 && usual != HIL_AUTOGROUP_KEPT && raised != -20)
        return 3;
    hil_autogroup_put_back(HIL_AUTOGROUP_KEPT);
    if (nice_now() != raised)
        return 4;
    hil_autogroup_put_back(usual);
    return nice_now() == usual ? 0 : 5;
}

Test(autogroup, it_is_raised_and_put_back)
{
    const pid_t child = fork();
    int status;

    if (child == 0)
        _exit(raise_and_put_back());
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect_eq(WEXITSTATUS(status), 0);
}
