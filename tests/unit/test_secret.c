/* Tests the secret that programs started by hand are given. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/launch/secret.h"
#include "tests/temporary.h"

static struct loco_secret secret;
static char said[500], path[TEMPORARY_SIZE];

static int give(void)
{
    FILE *messages = fmemopen(said, sizeof said, "w");

    cr_assert(messages);
    secret = (struct loco_secret){0};
    const int rc = hil_secret_given(&secret, messages);
    fclose(messages);
    return rc;
}

static void expect_given(const char *text)
{
    cr_expect_eq(give(), 0, "%s", said);
    cr_assert_eq(secret.size, strlen(text));
    cr_expect_eq(memcmp(secret.bytes, text, secret.size), 0);
    cr_expect_null(getenv("HILOCO_SECRET"));
    cr_expect_null(getenv("HILOCO_SECRET_FILE"));
}

static void expect_refused(const char *why)
{
    cr_expect_eq(give(), -EINVAL);
    cr_expect(strstr(said, why), "%s", said);
}

static void write_file(const char *bytes, size_t size)
{
    const int fd = open(path, O_WRONLY | O_TRUNC);

    cr_assert(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    close(fd);
    setenv("HILOCO_SECRET_FILE", path, 1);
}

static void begin(void)
{
    unsetenv("HILOCO_SECRET");
    unsetenv("HILOCO_SECRET_FILE");
    const int fd = temporary_file(path);
    cr_assert_geq(fd, 0);
    close(fd);
}

static void end(void)
{
    remove(path);
}

TestSuite(secret, .init = begin, .fini = end);

Test(secret, is_long_and_not_inherited)
{
    expect_given("");
    setenv("HILOCO_SECRET", "0123456789abcde", 1);
    expect_refused("HILOCO_SECRET: 16 to 255 random characters are allowed");
    setenv("HILOCO_SECRET", "0123456789abcdef", 1);
    expect_given("0123456789abcdef");
}

/* A process that joins a second run belongs to the same network. */
Test(secret, is_kept)
{
    setenv("HILOCO_SECRET", "0123456789abcdef", 1);
    expect_given("0123456789abcdef");
    expect_given("0123456789abcdef");
}

/* The formats of echo and openssl, and of a program that does not end the line. */
Test(secret, may_be_the_line_of_a_file)
{
    write_file("0123456789abcdef\n", 17);
    expect_given("0123456789abcdef");
    write_file("0123456789abcdeg", 16);
    expect_given("0123456789abcdeg");
}

Test(secret, may_be_written_by_an_editor_of_another_system)
{
    char longest[3 + 255 + 2] = "\xef\xbb\xbf";

    write_file("0123456789abcdef\r\n", 18);
    expect_given("0123456789abcdef");
    memset(longest + 3, 'x', 255);
    memcpy(longest + 258, "\r\n", 2);
    write_file(longest, sizeof longest);
    longest[258] = '\0';
    expect_given(longest + 3);
}

Test(secret, is_not_in_a_file_that_others_may_use)
{
    write_file("0123456789abcdef\n", 17);
    for (mode_t bit = 1; bit <= 0040; bit <<= 1) {
        chmod(path, 0600 | bit);
        expect_refused("others may read or write it: chmod 600");
    }
    chmod(path, 0400);
    expect_given("0123456789abcdef");
}

Test(secret, is_not_in_a_file_of_another_user)
{
    write_file("0123456789abcdef\n", 17);
    if (chown(path, geteuid() + 1, (gid_t)-1))
        cr_skip_test("only root can give a file away");
    expect_refused("belongs to another user");
}

Test(secret, is_one_line_of_a_file)
{
    char longest[257];

    memset(longest, 'x', sizeof longest);
    setenv("HILOCO_SECRET_FILE", "/nowhere/at/all", 1);
    expect_refused("HILOCO_SECRET_FILE: /nowhere/at/all: No such file");
    setenv("HILOCO_SECRET_FILE", "/dev/zero", 1);
    expect_refused("/dev/zero: is no file");
    write_file("", 0);
    expect_refused("HILOCO_SECRET_FILE: 16 to 255 random characters are allowed");
    write_file(longest, sizeof longest);
    expect_refused("16 to 255 random characters");
    write_file("0123456789abcdef\nx", 18);
    expect_refused("has more than one line of text");
    write_file("0123456789abcdef\0x", 18);
    expect_refused("has more than one line of text");
    write_file(longest, 255);
    longest[255] = '\0';
    expect_given(longest);
}

Test(secret, is_given_once)
{
    write_file("0123456789abcdef\n", 17);
    setenv("HILOCO_SECRET", "0123456789abcdef", 1);
    expect_refused("HILOCO_SECRET and HILOCO_SECRET_FILE are both set");
}
