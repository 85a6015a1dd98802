/* Tests the meeting place of nodes that are started by hand, and what they know of each other. */
#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/launch/meeting.h"
#include "tests/temporary.h"

static const struct loco_secret none, one = {"0123456789abcdef", 16},
                                      other = {"0123456789abcdeg", 16};

static char path[HIL_PLACE_SIZE], second[HIL_PLACE_SIZE];

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static int remove_one(const char *name, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(name);
}

static bool has_usual_folder(void)
{
    char usual[40];

    snprintf(usual, sizeof usual, "/run/user/%u", (unsigned)geteuid());
    return access(usual, F_OK) == 0;
}

Test(meeting, nodes_meet_in_the_users_own_folder)
{
    char own[TEMPORARY_SIZE], expected[120];

    cr_assert(temporary_folder(own));
    setenv("XDG_RUNTIME_DIR", own, 1);
    hil_meeting_derive(path, "a scenario", "", none);
    snprintf(expected, sizeof expected, "%s/hiloco-a_scenario", own);
    cr_expect_str_eq(path, expected);
    hil_meeting_derive(path, "../x", "7", one);
    snprintf(expected, sizeof expected, "%s/hiloco-___x-7", own);
    cr_expect_str_eq(path, expected);
    const int held = hil_meeting_make(path);
    cr_expect_geq(held, 0);
    cr_expect(starts_with(path, own));
    hil_meeting_remove(path);
    cr_expect_neq(access(path, F_OK), 0);
    close(held);

    /* A place that others may enter, or that is not a folder, is not accepted. */
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

/* In a process that ends abruptly, like a killed launcher. */
static void leave_a_folder(void)
{
    char socket[HIL_PLACE_SIZE + 8];
    const pid_t pid = fork();

    if (pid == 0) {
        hil_meeting_make(path);
        snprintf(socket, sizeof socket, "%s/node7", path);
        creat(socket, 0600);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static unsigned folders_in(const char *own)
{
    DIR *entries = opendir(own);
    const struct dirent *entry;
    unsigned count = 0;

    while ((entry = readdir(entries)))
        count += entry->d_name[0] != '.';
    closedir(entries);
    return count;
}

/* Making a folder removes the folders whose owners were killed. It does not remove those of other
 * users, nor those of programs that were started by hand, which no process holds. */
Test(meeting, a_folder_that_nobody_holds_goes)
{
    char own[TEMPORARY_SIZE], by_hand[HIL_PLACE_SIZE];

    cr_assert(temporary_folder(own));
    setenv("XDG_RUNTIME_DIR", own, 1);
    hil_meeting_derive(by_hand, "dcdc20", "", none);
    cr_assert_eq(mkdir(by_hand, 0700), 0);
    leave_a_folder();
    leave_a_folder();
    const int first = hil_meeting_make(path), other_one = hil_meeting_make(second);
    cr_expect(first >= 0 && other_one >= 0);
    cr_expect_eq(access(path, F_OK), 0);
    cr_expect_eq(access(second, F_OK), 0);
    cr_expect_eq(access(by_hand, F_OK), 0);
    cr_expect_eq(folders_in(own), 3);
    hil_meeting_remove(path);
    hil_meeting_remove(second);
    rmdir(by_hand);
    rmdir(own);
}

/* Files that others may have put there are not removed, nor anything that they may have replaced it
 * with. */
Test(meeting, what_is_no_folder_of_a_run_stays)
{
    char own[TEMPORARY_SIZE], target[120], name[120];

    cr_assert(temporary_folder(own));
    setenv("XDG_RUNTIME_DIR", own, 1);
    snprintf(target, sizeof target, "%s/elsewhere", own);
    cr_assert_eq(mkdir(target, 0700), 0);
    snprintf(name, sizeof name, "%s/hiloco.abcdef", own);
    cr_assert_eq(symlink(target, name), 0);
    snprintf(name, sizeof name, "%s/hiloco.fedcba", own);
    cr_assert_eq(mkdir(name, 0700), 0);
    snprintf(target, sizeof target, "%s/hiloco.fedcba/notes", own);
    creat(target, 0600);
    const int held = hil_meeting_make(path);
    cr_expect_eq(folders_in(own), 4);
    cr_expect_eq(access(target, F_OK), 0);
    close(held);
    nftw(own, remove_one, 16, FTW_DEPTH | FTW_PHYS);
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
