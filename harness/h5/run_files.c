#include "run_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/result_file.h"

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

int hil_run_save(const char *dir, const char *name, hil_file_put_fn *put, const void *arg,
                 FILE *messages)
{
    char path[HIL_PATH_BYTES];
    int rc = hil_run_path(path, dir, "%s", name);

    if (!rc)
        rc = hil_file_save(path, put, arg);
    if (rc)
        fprintf(messages, "%s/%s: %s\n", dir, name, strerror(-rc));
    return rc;
}

/* Whether the process is ours, root's, or the folder's owner's. Others can read the folder, and
 * lock it, but not write there. A process that cannot be seen may be ours in another container. */
static bool may_write(pid_t process, const struct stat *folder)
{
    char path[40];
    struct stat s;

    snprintf(path, sizeof path, "/proc/%d", (int)process);
    return stat(path, &s) || s.st_uid == geteuid() || s.st_uid == 0 || s.st_uid == folder->st_uid;
}

/* Whether a process that may write in the folder has locked it. *holder is 0 if the kernel does not
 * tell which one. */
static bool is_held(int folder, pid_t *holder)
{
    FILE *locks = fopen("/proc/locks", "re");
    bool told = false, held = false;
    struct stat s;
    char line[200];

    *holder = 0;
    while (locks && !held && fstat(folder, &s) == 0 && fgets(line, sizeof line, locks)) {
        unsigned long inode;
        int pid;
        if (sscanf(line, "%*d: FLOCK %*s %*s %d %*x:%*x:%lu", &pid, &inode) != 2 ||
            inode != s.st_ino)
            continue;
        told = true;
        held = pid <= 0 || may_write(pid, &s);
        *holder = held && pid > 0 ? pid : 0;
    }
    if (locks)
        fclose(locks);
    return held || !told;
}

int hil_run_lock(int folder, pid_t *holder)
{
    if (flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0;
    return is_held(folder, holder) ? -EBUSY : 0;
}

int hil_run_take(const char *dir)
{
    const int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    pid_t holder;

    if (folder < 0)
        return -errno;
    if (hil_run_lock(folder, &holder) == 0)
        return folder;
    close(folder);
    return -EBUSY;
}

bool hil_run_has_journal(const char *dir)
{
    char path[HIL_PATH_BYTES];

    return hil_run_path(path, dir, "trace.h5.journal") == 0 && access(path, F_OK) == 0;
}

/* A record with a journal is not whole: it is still being written, or its writer died. */
static int check_whole(const char *dir)
{
    if (!hil_run_has_journal(dir))
        return 0;
    const int folder = hil_run_take(dir);
    if (folder == -EBUSY)
        return folder;
    if (folder >= 0)
        close(folder);
    return -EOWNERDEAD;
}

static void cut_off(const char *dir, const char *path, FILE *messages)
{
    if (access(dir, W_OK) && (errno == EACCES || errno == EROFS))
        fprintf(messages,
                "%s: the run was cut off, and %s cannot be written into: copy it (cp -r), and "
                "hiloco recover makes the copy's record whole\n",
                path, dir);
    else
        fprintf(messages, "%s: the run was cut off; hiloco recover %s makes its record whole\n",
                path, dir);
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
    else if (rc == -EOWNERDEAD)
        cut_off(dir, path, messages);
    else if (rc == -EBUSY)
        fprintf(messages, "%s: a run is writing it now\n", path);
    else if (rc == -EBADMSG)
        fprintf(messages, "%s is damaged, or no trace\n", path);
    else
        fprintf(messages, "%s: %s\n", path, hil_result_words(rc));
    return rc;
}

int hil_run_open_trace(struct hil_trace_reader **trace, const char *dir, FILE *messages)
{
    char path[HIL_PATH_BYTES];
    int rc = hil_run_path(path, dir, "trace.h5");

    if (!rc)
        rc = check_whole(dir);
    if (!rc)
        rc = hil_trace_reader_open(trace, path);
    return rc ? no_trace(dir, path, rc, messages) : 0;
}
