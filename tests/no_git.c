/* Criterion shows how texts differ by libgit2, for assertions that no test has. libgit2 reads all
 * of the machine's certificates when it is set up. Criterion sets it up in each test's process, and
 * that is half of what a short test costs. These functions stand before those of libgit2. */
#define STANDS_BEFORE __attribute__((visibility("default")))

int git_libgit2_init(void);
int git_libgit2_shutdown(void);
int git_diff_buffers(void);

STANDS_BEFORE int git_libgit2_init(void)
{
    return 1;
}

STANDS_BEFORE int git_libgit2_shutdown(void)
{
    return 0;
}

STANDS_BEFORE int git_diff_buffers(void)
{
    return -1;
}
