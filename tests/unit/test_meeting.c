/* Where nodes meet that are started by hand, and what they know. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/meeting.h"

static const struct loco_secret none, one = {"0123456789abcdef", 16},
                                      other = {"0123456789abcdeg", 16};

static char path[HIL_PLACE_SIZE], second[HIL_PLACE_SIZE];

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool has_usual_folder(void)
{
    char usual[40];

    snprintf(usual, sizeof usual, "/run/user/%u", (unsigned)geteuid());
    return access(usual, F_OK) == 0;
}

Test(meeting, nodes_meet_in_the_users_own_folder)
{
    char own[] = "/tmp/hiloco-own-XXXXXX", expected[80];

    cr_assert(mkdtemp(own));
    setenv("XDG_RUNTIME_DIR", own, 1);
    hil_meeting_derive(path, "a scenario", "", none);
    snprintf(expected, sizeof expected, "%s/hiloco-a_scenario", own);
    cr_expect_str_eq(path, expected);
    hil_meeting_derive(path, "../x", "7", one);
    snprintf(expected, sizeof expected, "%s/hiloco-___x-7", own);
    cr_expect_str_eq(path, expected);
    cr_expect_eq(hil_meeting_make(path), 0);
    cr_expect(starts_with(path, own));
    rmdir(path);

    /* One that others may enter, or that is no folder, is not the user's own. */
    chmod(own, 0755);
    hil_meeting_derive(path, "s", "", none);
    cr_expect_not(starts_with(path, own), "%s", path);
    chmod(own, 0700);
    setenv("XDG_RUNTIME_DIR", "relative", 1);
    hil_meeting_derive(path, "s", "", none);
    cr_expect_not(starts_with(path, "relative"), "%s", path);
    rmdir(own);
}

Test(meeting, a_folder_in_tmp_cannot_be_named_beforehand)
{
    unsetenv("XDG_RUNTIME_DIR");
    if (has_usual_folder())
        cr_skip_test("this user has a folder of its own, and nodes meet there");
    hil_meeting_derive(path, "s", "", one);
    hil_meeting_derive(second, "s", "", one);
    cr_expect_str_eq(path, second);
    hil_meeting_derive(second, "s", "", other);
    cr_expect_str_neq(path, second);
    hil_meeting_derive(second, "s", "", none);
    cr_expect_lt(strlen(second) + 15, strlen(path), "%s, %s", second, path);
}

Test(meeting, the_longest_names_fit)
{
    char longest[200];

    memset(longest, 'x', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    unsetenv("XDG_RUNTIME_DIR");
    hil_meeting_derive(path, longest, longest, one);
    cr_expect_lt(strlen(path), HIL_PLACE_SIZE);
    cr_expect_str_eq(strrchr(path, '-'), "-xxxxxxxxxxxxxxxx");
}

Test(meeting, a_secret_is_long_and_not_inherited)
{
    struct loco_secret secret;

    unsetenv("HILOCO_SECRET");
    cr_expect_eq(hil_secret_given(&secret), 0);
    cr_expect_eq(secret.size, 0);
    setenv("HILOCO_SECRET", "0123456789abcde", 1);
    cr_expect_eq(hil_secret_given(&secret), -EINVAL);
    setenv("HILOCO_SECRET", "0123456789abcdef", 1);
    cr_expect_eq(hil_secret_given(&secret), 0);
    cr_expect_eq(secret.size, 16);
    cr_expect_eq(memcmp(secret.bytes, "0123456789abcdef", 16), 0);
    cr_expect_null(getenv("HILOCO_SECRET"));
}
