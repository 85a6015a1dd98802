#include "result_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_save.h"

int hil_result_open(const char *path, int flags)
{
    /* Without O_NONBLOCK, open() would wait for the other end of a pipe. */
    const int file = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat s;

    if (file < 0)
        return -errno;
    const int rc = fstat(file, &s) ? -errno : S_ISREG(s.st_mode) ? 0 : -EMEDIUMTYPE;
    if (!rc)
        return file;
    close(file);
    return rc;
}

FILE *hil_result_read(const char *path)
{
    const int file = hil_result_open(path, O_RDONLY);
    FILE *stream = file < 0 ? NULL : fdopen(file, "r");

    const int error = file < 0 ? -file : errno;
    if (file >= 0 && !stream)
        close(file);
    errno = error;
    return stream;
}

static int result_make(const char *path)
{
    if (unlink(path) && errno != ENOENT)
        return -errno;
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return file < 0 ? -errno : file;
}

FILE *hil_result_create(const char *path, int *rc)
{
    return hil_file_stream(result_make(path), rc);
}

int hil_result_folder(const char *path)
{
    struct stat s;

    if (mkdir(path, 0777) == 0)
        return 0;
    if (errno != EEXIST)
        return -errno;
    if (lstat(path, &s))
        return -errno;
    return S_ISDIR(s.st_mode) ? 0 : S_ISLNK(s.st_mode) ? -ELOOP : -ENOTDIR;
}

int hil_result_folders(const char *path)
{
    char part[4096];

    if (strlen(path) >= sizeof part)
        return -ENAMETOOLONG;
    strcpy(part, path);
    for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(part, 0777) && errno != EEXIST)
            return -errno;
        *slash = '/';
    }
    return mkdir(part, 0777) && errno != EEXIST ? -errno : 0;
}

const char *hil_result_words(int rc)
{
    return rc == -ELOOP         ? "it is a link, and links in a folder of results are not followed"
           : rc == -EMEDIUMTYPE ? "it is no file"
                                : strerror(-rc);
}
