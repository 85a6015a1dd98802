/* Damaged input ends the process that reads it, and no other. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/base/in_child.h"
#include "harness/launch/launcher.h"

static char said[512];

static int do_in_child(int (*work)(const void *), const void *arg)
{
    FILE *messages = fmemopen(said, sizeof said, "w");
    const int status = hil_in_child(work, arg, "results/x", messages);

    fclose(messages);
    return status;
}

static int give_status(const void *status)
{
    hil_in_child_within(60);
    hil_in_child_within(0);
    return *(const int *)status;
}

static int raise_signal(const void *number)
{
    signal(*(const int *)number, SIG_DFL);
    raise(*(const int *)number);
    return 0;
}

static int stand_still(const void *unused)
{
    (void)unused;
    hil_in_child_within(1);
    while (pause() < 0)
        continue;
    return 0;
}

Test(in_child, the_status_is_handed_on)
{
    for (int status = 0; status < 4; status++)
        cr_expect_eq(do_in_child(give_status, &status), status);
    cr_expect_str_empty(said);
}

Test(in_child, a_signal_ends_the_work_alone)
{
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE};

    for (int i = 0; i < 4; i++) {
        cr_expect_eq(do_in_child(raise_signal, &signals[i]), HIL_EXIT_FAILED);
        cr_expect(strstr(said, "results/x: it is damaged") && strstr(said, strsignal(signals[i])),
                  "%s", said);
    }
}

Test(in_child, what_stands_still_is_ended)
{
    cr_expect_eq(do_in_child(stand_still, NULL), HIL_EXIT_FAILED);
    cr_expect_str_eq(said, "results/x: it is damaged: reading it did not end\n");
}
