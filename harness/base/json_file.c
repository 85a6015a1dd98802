#include "json_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int hil_json_file_write(const json_t *root, const char *path, size_t flags)
{
    char part[PATH_MAX];

    if (!root)
        return -ENOMEM;
    if (snprintf(part, sizeof part, "%s.part", path) >= (int)sizeof part)
        return -ENAMETOOLONG;
    errno = 0;
    if (json_dump_file(root, part, flags | JSON_INDENT(2)) == 0 && rename(part, path) == 0)
        return 0;
    const int rc = errno ? -errno : -EIO;
    unlink(part);
    return rc;
}
