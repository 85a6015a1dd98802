#include "verdict_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "../base/file_save.h"
#include "../base/result_file.h"
#include "results.h"

/* A file in the folder of results is created at the end. An existing one is gone from now on, as it
 * is elsewhere. */
static FILE *open_verdicts(const char *out, const char *path, const char **late, int *rc)
{
    FILE *file = NULL;

    if (!path || *rc)
        return NULL;
    if (strcmp(path, "-") == 0)
        return stdout;
    const int inside = out ? hil_results_hold(out, path, stderr) : 0;
    if (inside < 0) {
        *rc = inside;
        return NULL;
    }
    if (inside) {
        *late = path;
        *rc = unlink(path) && errno != ENOENT ? -errno : 0;
    } else {
        const int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
        file = hil_file_stream(to < 0 ? -errno : to, rc);
    }
    if (*rc)
        fprintf(stderr, "%s: cannot be written: %s\n", path, strerror(-*rc));
    return file;
}

static FILE *create_late(FILE *file, const char *path, int *rc)
{
    return path ? hil_result_create(path, rc) : file;
}

static void close_verdicts(FILE *file, int *rc)
{
    if (file && file != stdout)
        fclose(file);
    else if (file && fflush(file) && !*rc)
        *rc = -errno;
    else if (file && ferror(file) && !*rc)
        *rc = -EIO;
}

int hil_verdict_files_open(struct hil_verdict_files *files, const char *out, const char *junit,
                           const char *tap)
{
    *files = (struct hil_verdict_files){0};
    files->junit = open_verdicts(out, junit, &files->late_junit, &files->rc);
    files->tap = open_verdicts(out, tap, &files->late_tap, &files->rc);
    if (files->rc)
        close_verdicts(files->junit, &files->rc);
    return files->rc;
}

int hil_verdict_files_end(struct hil_verdict_files *files, const struct hil_tested *runs,
                          unsigned count)
{
    files->junit = create_late(files->junit, files->late_junit, &files->rc);
    files->tap = create_late(files->tap, files->late_tap, &files->rc);
    if (files->junit)
        hil_verdicts_junit(files->junit, runs, count);
    if (files->tap)
        hil_verdicts_tap(files->tap, runs, count);
    close_verdicts(files->junit, &files->rc);
    close_verdicts(files->tap, &files->rc);
    const int rc = files->rc;
    if (rc)
        fprintf(stderr, "the verdicts cannot be written: %s\n", strerror(-rc));
    *files = (struct hil_verdict_files){0};
    return rc;
}
