#include "run_files.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

int hil_run_path(char path[HIL_PATH_BYTES], const char *dir, const char *name, ...)
{
    const int used = snprintf(path, HIL_PATH_BYTES, "%s/", dir);
    if (used >= HIL_PATH_BYTES)
        return -ENAMETOOLONG;

    va_list arguments;
    va_start(arguments, name);
    const int length = vsnprintf(path + used, (size_t)(HIL_PATH_BYTES - used), name, arguments);
    va_end(arguments);
    return length < HIL_PATH_BYTES - used ? 0 : -ENAMETOOLONG;
}

static int no_trace(const char *dir, const char *path, int rc, FILE *messages)
{
    char sweep[HIL_PATH_BYTES];

    if (access(dir, F_OK) != 0)
        fprintf(messages, "%s: %s\n", dir, strerror(errno));
    else if (rc == -ENOENT && hil_run_path(sweep, dir, "sweep.json") == 0 &&
             access(sweep, F_OK) == 0)
        fprintf(messages, "%s holds a sweep, not a run: name one of its folders\n", dir);
    else if (rc == -ENOENT || rc == -ENOTDIR)
        fprintf(messages, "%s is not the folder of a run: it has no trace.h5\n", dir);
    else if (rc == -EBADMSG)
        fprintf(messages, "%s is damaged, or no trace\n", path);
    else
        fprintf(messages, "%s: %s\n", path, strerror(-rc));
    return rc;
}

int hil_run_open_trace(struct hil_trace_reader **trace, const char *dir, FILE *messages)
{
    char path[HIL_PATH_BYTES];
    int rc = hil_run_path(path, dir, "trace.h5");

    if (!rc)
        rc = hil_trace_reader_open(trace, path);
    return rc ? no_trace(dir, path, rc, messages) : 0;
}
