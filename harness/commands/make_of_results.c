#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/in_child.h"
#include "../base/result_file.h"
#include "../launch/results_files.h"
#include "commands.h"

static bool is_one_of_these(const struct hil_arguments *a, const struct stat *to)
{
    struct stat of;

    for (unsigned i = 0; i < a->scenario_count; i++)
        if (stat(a->scenarios[i], &of) == 0 && of.st_dev == to->st_dev && of.st_ino == to->st_ino)
            return true;
    return false;
}

/* Figures of one run do not get between the results of another. */
static int check_folder(const struct hil_arguments *a, const char *path, const struct stat *to)
{
    if (is_one_of_these(a, to) || !hil_results_are_in(path))
        return 0;
    fprintf(stderr, "--to %s: it holds other results: name another folder\n", path);
    return -EINVAL;
}

static int open_folder(const struct hil_arguments *a, const char *path, bool *made)
{
    struct stat to;

    if (stat(path, &to) == 0 && S_ISDIR(to.st_mode))
        return check_folder(a, path, &to);
    *made = true;
    const int rc = hil_result_folders(path);
    if (rc)
        fprintf(stderr, "--to %s: %s\n", path, strerror(-rc));
    return rc;
}

int hil_make_of_results(int (*work)(const void *arguments), const struct hil_arguments *a,
                        const char *to, bool elsewhere)
{
    bool made = false;

    if (to && open_folder(a, to, &made))
        return HIL_EXIT_USAGE;
    const int status = hil_in_child(work, a, a->scenario, stderr);
    if (!to && !elsewhere && access(a->scenario, W_OK) && (errno == EACCES || errno == EROFS))
        fprintf(stderr, "%s cannot be written into: --to DIR names another folder\n", a->scenario);
    if (made && status != HIL_EXIT_OK)
        rmdir(to); /* if nothing was written */
    return status;
}
