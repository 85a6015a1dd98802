#include "file_save.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "result_file.h"

static int file_put(const char *path, hil_file_put_fn *put, const void *arg)
{
    FILE *to = hil_result_create(path);

    if (!to)
        return -errno;
    errno = 0;
    int rc = put(arg, to);
    if (ferror(to))
        rc = errno ? -errno : -EIO;
    if (fclose(to) && !rc)
        rc = -errno;
    return rc;
}

int hil_file_save(const char *path, hil_file_put_fn *put, const void *arg)
{
    char part[PATH_MAX];

    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
        return -ENAMETOOLONG;
    int rc = file_put(part, put, arg);
    if (!rc && rename(part, path))
        rc = -errno;
    if (rc)
        unlink(part);
    return rc;
}
