/* Tests that the runner of the tests (tests/runner) tells apart how a test ends: runs this program
 * again with tests that end badly. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/nodes.h"
#include "tests/runner/test.h"

static bool told_to(const char *what)
{
    const char *how = getenv("TEST_ENDS");

    return how && strcmp(how, what) == 0;
}

static void say_after(void)
{
    if (getenv("TEST_ENDS"))
        puts("after it");
}

Test(runner, one_ends, .fini = say_after)
{
    if (told_to("hanging"))
        fork();
    while (told_to("hanging"))
        pause();
    for (int i = 0; told_to("moving") && i < 15; i++) {
        usleep(200000);
        test_moved();
    }
    if (told_to("crashing"))
        raise(SIGSEGV);
    if (told_to("leaving"))
        _exit(0);
    cr_expect(!told_to("expecting"), "%s", "one");
    cr_expect(!told_to("expecting"));
    cr_assert(!told_to("asserting"), "and ends");
    cr_assert(!told_to("asserting"), "and goes on");
    if (told_to("forking") && fork() == 0)
        cr_assert(false, "in a child");
    wait(NULL);
    if (told_to("skipping"))
        cr_skip_test("it is %d", 7);
}

Test(runner, others_do_not)
{
}

/* The output ends when every process has ended. Returns it, and whether the program has failed. */
static const char *run_ending(const char *how, bool *failed)
{
    static char self[4096], command[sizeof self + 200], said[4096];

    cr_assert_gt(readlink("/proc/self/exe", self, sizeof self - 1), 0);
    snprintf(command, sizeof command,
             "env -i TEST_ENDS=%s TEST_STILL_S=2 %s --filter 'runner/@(one|others)_*' 2>&1", how,
             self);
    FILE *out = popen(command, "r");
    said[fread(said, 1, sizeof said - 1, out)] = '\0';
    *failed = pclose(out) != 0;
    return said;
}

/* All of the texts are in what was said, in this order. */
static void expect_said(const char *how, bool fails, const char *const *texts)
{
    bool failed;
    const char *said = run_ending(how, &failed), *at = said;

    cr_expect_eq(failed, fails, "%s:\n%s", how, said);
    for (; *texts && at; texts++) {
        at = strstr(at, *texts);
        cr_expect_not_null(at, "%s: no %s:\n%s", how, *texts, said);
    }
    cr_expect_not_null(strstr(said, "  ok: runner/others_do_not ("), "%s:\n%s", how, said);
}

#define EXPECT_SAID(how, fails, ...)                                                               \
    expect_said(how, fails, (const char *const[]){__VA_ARGS__, NULL})

Test(runner, a_test_that_hangs_is_ended_with_its_processes_and_one_that_moves_is_not)
{
    EXPECT_SAID("hanging", true, "  FAILED, it stood still: runner/one_ends (",
                "  1 passed, 1 failed, 0 skipped\n");
    EXPECT_SAID("moving", false, "after it", "  ok: runner/one_ends (", "  2 passed, 0 failed");
}

Test(runner, a_test_whose_process_ends_before_it_has_failed)
{
    EXPECT_SAID("crashing", true, "runner/one_ends: crashed: Segmentation fault",
                "  FAILED: runner/one_ends (");
    EXPECT_SAID("leaving", true, "runner/one_ends: its process ended with status 0",
                "  FAILED: runner/one_ends (");
}

Test(runner, what_does_not_hold_is_told_and_assertions_end_the_test)
{
    bool failed;

    EXPECT_SAID("expecting", true, "!told_to(\"expecting\") one\n", "!told_to(\"expecting\")",
                "  FAILED: runner/one_ends (");
    EXPECT_SAID("asserting", true, "and ends\n", "  FAILED: runner/one_ends (");
    const char *said = run_ending("asserting", &failed);
    cr_expect_null(strstr(said, "and goes on"), "%s", said);
    cr_expect_not_null(strstr(said, "after it"), "%s", said);
    EXPECT_SAID("forking", true, "in a child\n", "  FAILED: runner/one_ends (");
}

Test(runner, a_skipped_test_says_why)
{
    EXPECT_SAID("skipping", false, "after it", "  skipped: runner/one_ends: it is 7 (",
                "  1 passed, 0 failed, 1 skipped\n");
}
