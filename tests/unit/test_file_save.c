/* The error of a write that failed is kept, whatever is called before the file is closed. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness/base/file_save.h"
#include "harness/base/result_file.h"

static char path[] = "/tmp/hil-test-file-save-XXXXXX";

static void limit_files(void)
{
    const struct rlimit limit = {1000, 1000};

    cr_assert_geq(mkstemp(path), 0);
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void remove_file(void)
{
    unlink(path);
}

/* Like a page that is made of many files: one of them is not there. */
static int put_much(const void *arg, FILE *to)
{
    (void)arg;
    for (int i = 0; i < 100000; i++)
        putc('x', to);
    cr_assert_neq(access("/nowhere/at/all", F_OK), 0);
    return 0;
}

TestSuite(file_save, .init = limit_files, .fini = remove_file);

Test(file_save, a_file_that_may_not_grow_is_told_as_that)
{
    cr_expect_eq(hil_file_save(path, put_much, NULL), -EFBIG);
}

Test(file_save, the_error_of_a_stream_is_that_of_its_first_write_that_failed)
{
    int rc = 0;
    FILE *to = hil_result_create(path, &rc);

    cr_assert(to);
    put_much(NULL, to);
    cr_expect_eq(rc, -EFBIG);
    fclose(to);
    cr_expect_eq(rc, -EFBIG);
}

Test(file_save, what_is_buffered_at_the_end_is_written_or_told)
{
    int rc = 0;
    FILE *to = hil_result_create(path, &rc);

    cr_assert(to);
    for (int i = 0; i < 1001; i++)
        putc('x', to);
    cr_expect_eq(rc, 0);
    fclose(to);
    cr_expect_eq(rc, -EFBIG);
}

Test(file_save, a_place_that_is_not_there_is_told_as_that)
{
    int rc = 0;

    cr_expect_null(hil_result_create("/nowhere/at/all", &rc));
    cr_expect_eq(rc, -ENOENT);
}
