/* Tests that what runs beside the loops shares their session, and that the session is raised. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/base/autogroup.h"
#include "harness/base/detached.h"

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
    const pid_t session = getsid(0), group = getpgid(0), child = hil_fork_detached();
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
    struct hil_autogroup group, inner;

    setsid();
    const int usual = nice_now();
    hil_autogroup_raise(&group);
    const int raised = nice_now();
    if (raised != (geteuid() || usual == HIL_AUTOGROUP_KEPT ? usual : -20))
        return 1;
    hil_autogroup_raise(&inner);
    hil_autogroup_put_back(&inner);
    if (nice_now() != raised)
        return 2;
    hil_autogroup_put_back(&group);
    if (nice_now() != usual)
        return 3;
    hil_autogroup_put_back(&group);
    return nice_now() == usual ? 0 : 4;
}

static int status_of(int (*look)(void))
{
    const pid_t child = fork();
    int status;

    if (child == 0)
        _exit(look());
    cr_assert_eq(waitpid(child, &status, 0), child);
    return status;
}

Test(autogroup, it_is_raised_and_put_back)
{
    cr_expect_eq(status_of(raise_and_put_back), 0);
}

static void raise_and_be_killed(void)
{
    struct hil_autogroup group;

    setpgid(0, 0);
    hil_autogroup_raise(&group);
    kill(0, SIGKILL); /* all of its process group */
}

/* Whether the session's nice is back after some time. */
static int outlive_one_that_is_killed(void)
{
    setsid();
    const int usual = nice_now();
    const pid_t child = fork();

    if (child == 0)
        raise_and_be_killed();
    waitpid(child, NULL, 0);
    for (int i = 0; i < 6000 && nice_now() != usual; i++)
        usleep(10000);
    return nice_now() == usual ? 0 : 1;
}

/* The session may be that of a shell, which lives on. */
Test(autogroup, one_that_is_killed_leaves_it_as_it_was)
{
    cr_expect_eq(status_of(outlive_one_that_is_killed), 0);
}
