#include "file_save.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "result_file.h"

struct file_out {
    int file;
    int *rc;
};

static void file_remember(const struct file_out *out)
{
    if (!*out->rc)
        *out->rc = -errno;
}

/* Returns how much was written. A stream takes less for an error. */
static ssize_t file_write(void *cookie, const char *bytes, size_t size)
{
    const struct file_out *out = cookie;
    size_t done = 0;

    while (done < size) {
        const ssize_t now = write(out->file, bytes + done, size - done);
        if (now < 0 && errno == EINTR)
            continue;
        if (now < 0) {
            file_remember(out);
            break;
        }
        done += (size_t)now;
    }
    return (ssize_t)done;
}

static int file_close(void *cookie)
{
    struct file_out *out = cookie;
    const int rc = close(out->file);

    if (rc)
        file_remember(out);
    free(out);
    return rc;
}

FILE *hil_file_stream(int file, int *rc)
{
    const cookie_io_functions_t functions = {.write = file_write, .close = file_close};
    struct file_out *out = file < 0 ? NULL : malloc(sizeof *out);
    FILE *to = NULL;

    if (out) {
        *out = (struct file_out){file, rc};
        to = fopencookie(out, "w", functions);
    }
    if (to)
        return to;
    *rc = file < 0 ? file : -ENOMEM;
    free(out);
    if (file >= 0)
        close(file);
    return NULL;
}

static int file_put(const char *path, hil_file_put_fn *put, const void *arg)
{
    int rc = 0;
    FILE *to = hil_result_create(path, &rc);

    if (!to)
        return rc;
    const int put_rc = put(arg, to);
    fclose(to);
    return rc ? rc : put_rc;
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
