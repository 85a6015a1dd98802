/* Criterion shows how texts differ by libgit2, for assertions that no test has. Each test's process
 * loads it with thirteen other libraries and sets it up, for which it reads all of the machine's
 * certificates. That is most of what a short test costs. A library of these functions is loaded in
 * its place. */
#define IN_ITS_PLACE __attribute__((visibility("default")))

int git_libgit2_init(void);
int git_libgit2_shutdown(void);
int git_diff_buffers(void);

IN_ITS_PLACE int git_libgit2_init(void)
{
    return 1;
}

IN_ITS_PLACE int git_libgit2_shutdown(void)
{
    return 0;
}

IN_ITS_PLACE int git_diff_buffers(void)
{
    return -1;
}
