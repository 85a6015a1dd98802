#include "fmu_archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

enum { ARCHIVE_DEPTH_MAX = 64 };

/* The files of an archive whose names are there before. */
struct archive_twice {
    unsigned count;
    char first[200];
};

/* A file or folder in an archive. */
struct archive_entry {
    zip_t *zip;
    zip_stat_t is;
    const char *folder;
    struct archive_twice *twice;
    const struct hil_said *said;
    char path[PATH_MAX]; /* in the folder */
};

/* --- checks of entries ------------------------------------------------------------------------ */

/* Whether a path stays inside its folder. */
static bool archive_path_stays(const char *path)
{
    if (path[0] == '/' || path[0] == '\0')
        return false;
    for (const char *part = path; *part;) {
        const size_t length = strcspn(part, "/");
        if (length == 2 && memcmp(part, "..", 2) == 0)
            return false;
        part += length + (part[length] == '/');
    }
    return true;
}

/* The mode stored by a Unix archiver; 0 if another archiver made the archive. */
static mode_t archive_mode(const struct archive_entry *e)
{
    zip_uint8_t system;
    zip_uint32_t attributes;

    if (zip_file_get_external_attributes(e->zip, e->is.index, 0, &system, &attributes) ||
        system != ZIP_OPSYS_UNIX)
        return 0;
    return (mode_t)(attributes >> 16);
}

static unsigned archive_depth(const char *path)
{
    unsigned depth = 0;

    while ((path = strchr(path, '/'))) {
        depth++;
        path++;
    }
    return depth;
}

static int archive_check_entry(const struct archive_entry *e)
{
    const mode_t kind = archive_mode(e) & S_IFMT;

    if (!archive_path_stays(e->path))
        return hil_say(e->said, -EINVAL,
                       "'%.200s' in it leads out of its folder; allowed: paths without '..' and a "
                       "'/' in front",
                       e->is.name);
    if (archive_depth(e->path) > ARCHIVE_DEPTH_MAX)
        return hil_say(e->said, -EINVAL,
                       "'%.200s' in it is in more than %d folders; allowed: fewer", e->is.name,
                       ARCHIVE_DEPTH_MAX);
    if (kind && kind != S_IFREG && kind != S_IFDIR)
        return hil_say(e->said, -EINVAL,
                       "'%.200s' in it is a link or a device; allowed: files and folders",
                       e->is.name);
    if (e->is.valid & ZIP_STAT_ENCRYPTION_METHOD && e->is.encryption_method != ZIP_EM_NONE)
        return hil_say(e->said, -EINVAL, "'%.200s' in it is encrypted; allowed: plain files",
                       e->is.name);
    return 0;
}

/* --- one entry -------------------------------------------------------------------------------- */

/* Makes the folders of a path, one for each '/'. */
static int archive_make_folders(char *path, size_t base)
{
    for (char *at = strchr(path + base + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        const int rc = mkdir(path, 0700) && errno != EEXIST ? -errno : 0;
        *at = '/';
        if (rc)
            return rc;
    }
    return 0;
}

static int archive_write(int file, const char *block, size_t size)
{
    while (size) {
        const ssize_t written = write(file, block, size);
        if (written < 0 && errno != EINTR)
            return -errno;
        if (written > 0) {
            block += written;
            size -= (size_t)written;
        }
    }
    return 0;
}

/* Copies at most the size that the entry declares, because the limit was checked against that. */
static int archive_copy(const struct archive_entry *e, zip_file_t *from, int to)
{
    char block[65536];
    uint64_t left = e->is.size;
    zip_int64_t got;
    int rc = 0;

    while (!rc && (got = zip_fread(from, block, sizeof block)) > 0) {
        if ((uint64_t)got > left)
            return hil_say(e->said, -EINVAL, "'%.200s' in it is larger than it says", e->is.name);
        left -= (uint64_t)got;
        rc = archive_write(to, block, (size_t)got);
    }
    if (rc)
        return hil_say(e->said, rc, "'%.200s' in it cannot be unpacked to %s (%s)", e->is.name,
                       e->folder, strerror(-rc));
    if (got < 0 || left)
        return hil_say(e->said, -EINVAL, "'%.200s' in it is damaged (%s); allowed: a whole archive",
                       e->is.name, got < 0 ? zip_file_strerror(from) : "its end is missing");
    return 0;
}

/* Other tools let the later one of two files with the same name replace the earlier one. */
static int archive_new_file(const struct archive_entry *e, const char *path)
{
    const mode_t mode = archive_mode(e) & 0100 ? 0700 : 0600;
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const int made = open(path, flags, mode);

    if (made >= 0 || errno != EEXIST || unlink(path))
        return made;
    if (!e->twice->count++)
        snprintf(e->twice->first, sizeof e->twice->first, "%.180s", e->path);
    return open(path, flags, mode);
}

static int archive_unpack_file(const struct archive_entry *e, const char *path)
{
    const int to = archive_new_file(e, path);

    if (to < 0)
        return hil_say(e->said, -errno, "'%.200s' in it cannot be unpacked to %s (%s)", e->is.name,
                       e->folder, strerror(errno));
    zip_file_t *from = zip_fopen_index(e->zip, e->is.index, 0);
    int rc = from ? archive_copy(e, from, to)
                  : hil_say(e->said, -EINVAL, "'%.200s' in it cannot be read (%s)", e->is.name,
                            zip_strerror(e->zip));
    if (from)
        zip_fclose(from);
    if (close(to) && !rc)
        rc = hil_say(e->said, -errno, "'%.200s' in it cannot be unpacked to %s (%s)", e->is.name,
                     e->folder, strerror(errno));
    return rc;
}

static int archive_unpack_entry(const struct archive_entry *e)
{
    char path[PATH_MAX];
    const size_t base = strlen(e->folder), length = strlen(e->path);

    if (base + length + 2 > sizeof path)
        return hil_say(e->said, -ENAMETOOLONG, "'%.200s' in it has too long a name", e->is.name);
    memcpy(path, e->folder, base);
    path[base] = '/';
    memcpy(path + base + 1, e->path, length + 1);
    int rc = archive_make_folders(path, base);
    if (rc)
        return hil_say(e->said, rc, "'%.200s' in it cannot be unpacked to %s (%s)", e->is.name,
                       e->folder, strerror(-rc));
    return path[base + length] == '/' ? 0 : archive_unpack_file(e, path);
}

/* --- all of them ------------------------------------------------------------------------------ */

typedef int archive_do(const struct archive_entry *e);

/* Replaces '\\', which some archivers write between folders although the zip format does not allow
 * it. */
static int archive_take_path(struct archive_entry *e)
{
    const size_t length = strlen(e->is.name);

    if (length >= sizeof e->path)
        return hil_say(e->said, -ENAMETOOLONG, "'%.200s' in it has too long a name", e->is.name);
    memcpy(e->path, e->is.name, length + 1);
    for (char *c = e->path; *c; c++)
        if (*c == '\\')
            *c = '/';
    return 0;
}

/* Calls a function for each entry, and adds up the declared sizes. */
static int archive_each(zip_t *zip, const char *folder, struct archive_twice *twice,
                        const struct hil_said *said, uint64_t *size, archive_do *what)
{
    const zip_int64_t count = zip_get_num_entries(zip, 0);
    int rc = 0;

    for (zip_int64_t i = 0; !rc && i < count; i++) {
        struct archive_entry e = {.zip = zip, .folder = folder, .twice = twice, .said = said};
        const zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_INDEX | ZIP_STAT_SIZE;
        if (zip_stat_index(zip, (zip_uint64_t)i, 0, &e.is) || (e.is.valid & needed) != needed)
            return hil_say(said, -EINVAL, "its entry %lld is damaged; allowed: a whole archive",
                           (long long)i);
        *size = e.is.size > UINT64_MAX - *size ? UINT64_MAX : *size + e.is.size;
        rc = archive_take_path(&e);
        if (!rc)
            rc = what(&e);
    }
    return rc;
}

static int archive_unpack_all(zip_t *zip, const char *folder, struct archive_twice *twice,
                              const struct hil_said *said)
{
    const zip_int64_t count = zip_get_num_entries(zip, 0);
    uint64_t size = 0;

    if (count > FMU_FILES_MAX)
        return hil_say(said, -E2BIG, "it has %lld files; allowed: at most %d", (long long)count,
                       FMU_FILES_MAX);
    int rc = archive_each(zip, folder, twice, said, &size, archive_check_entry);
    if (rc)
        return rc;
    if (size > FMU_BYTES_MAX)
        return hil_say(said, -E2BIG, "unpacked it has %llu MiB; allowed: at most %llu MiB",
                       (unsigned long long)(size >> 20), (unsigned long long)FMU_BYTES_MAX >> 20);
    return archive_each(zip, folder, twice, said, &size, archive_unpack_entry);
}

int fmu_unpack(const char *archive, const char *folder, char *warning, size_t size,
               const struct hil_said *said)
{
    struct archive_twice twice = {0};
    zip_error_t error;
    int code;
    zip_t *zip = zip_open(archive, ZIP_RDONLY, &code);

    if (!zip) {
        zip_error_init_with_code(&error, code);
        const int rc =
            hil_say(said, -EINVAL, "it is not a complete zip archive (%s); allowed: an FMU",
                    zip_error_strerror(&error));
        zip_error_fini(&error);
        return rc;
    }
    int rc = archive_unpack_all(zip, folder, &twice, said);
    zip_discard(zip);
    if (!rc && twice.count)
        hil_warn(warning, size,
                 "%u of its files %s there twice, as %s; the last one of each counts", twice.count,
                 twice.count == 1 ? "is" : "are", twice.first);
    return rc;
}
