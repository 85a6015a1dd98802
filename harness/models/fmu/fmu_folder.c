#include "fmu_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/detached.h"

enum { FOLDER_FRESH_MS = 3600 * 1000, FOLDER_FILES_OPEN = 16 };

/* This process's folder; "": none yet. */
static char folder_base[PATH_MAX - 32];
static pid_t folder_owner;
static unsigned folder_count;

/* --- operations on all files in a folder ------------------------------------------------------ */

static int folder_remove_one(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s, (void)kind, (void)at;
    remove(path);
    return 0;
}

static int folder_freshen_one(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s, (void)kind, (void)at;
    utimensat(AT_FDCWD, path, NULL, AT_SYMLINK_NOFOLLOW);
    return 0;
}

void fmu_folder_remove(const char *path)
{
    nftw(path, folder_remove_one, FOLDER_FILES_OPEN, FTW_DEPTH | FTW_PHYS);
}

void fmu_folder_freshen(const char *path)
{
    nftw(path, folder_freshen_one, FOLDER_FILES_OPEN, FTW_PHYS);
}

/* --- the keeper ------------------------------------------------------------------------------- */

/* The keeper must not hold anything whose end others wait for, such as a pipe that is this
 * process's output. */
static void folder_close_all_but(int kept)
{
    const int nothing = open("/dev/null", O_RDWR);

    for (int i = 0; i < 3; i++)
        dup2(nothing, i);
    close_range(3, (unsigned)kept - 1, 0);
    close_range((unsigned)kept + 1, ~0u, 0);
}

/* The keeper's report about the folder. */
struct folder_made {
    int rc;
    char base[PATH_MAX - 64];
};

/* Nobody writes to the socket: it ends when all its owners have ended. */
static void folder_keep(int owner, const char *base)
{
    struct pollfd wait = {.fd = owner, .events = POLLIN};

    while (poll(&wait, 1, FOLDER_FRESH_MS) <= 0)
        fmu_folder_freshen(base);
    fmu_folder_remove(base);
}

/* The keeper makes the folder, so there is never a folder without a keeper. */
static void folder_keeper(int owner, struct folder_made *made)
{
    folder_close_all_but(owner);
    if (chdir("/") || !mkdtemp(made->base))
        made->rc = -errno;
    const bool told = send(owner, made, sizeof *made, MSG_NOSIGNAL) == (ssize_t)sizeof *made;
    if (!made->rc && told)
        folder_keep(owner, made->base);
    else if (!made->rc)
        fmu_folder_remove(made->base);
}

static int folder_start_keeper(struct folder_made *made)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return -errno;
    const int kept = fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
    const pid_t pid = kept < 0 ? -1 : hil_fork_detached();
    if (pid == 0) {
        folder_keeper(kept, made);
        _exit(0);
    }
    int rc = pid < 0 ? -errno : 0;
    close(ends[1]);
    if (kept >= 0)
        close(kept);
    if (!rc && recv(ends[0], made, sizeof *made, 0) != (ssize_t)sizeof *made)
        rc = -EIO;
    if (!rc)
        rc = made->rc;
    if (rc)
        close(ends[0]);
    return rc; /* ends[0] stays open as long as this process runs */
}

/* --- the folder ------------------------------------------------------------------------------- */

/* At a normal end the folder is removed before the process ends. */
static void folder_end(void)
{
    if (folder_owner == getpid())
        fmu_folder_remove(folder_base);
}

static int folder_open(void)
{
    const char *temporary = getenv("TMPDIR");
    struct folder_made made = {0};

    if (folder_base[0])
        return 0;
    if (snprintf(made.base, sizeof made.base, "%s/hiloco-fmu-XXXXXX",
                 temporary && temporary[0] == '/' ? temporary : "/tmp") >= (int)sizeof made.base)
        return -ENAMETOOLONG;
    int rc = folder_start_keeper(&made);
    if (rc)
        return rc;
    snprintf(folder_base, sizeof folder_base, "%s", made.base);
    folder_owner = getpid();
    atexit(folder_end);
    return 0;
}

int fmu_folder_new(char **path)
{
    int rc = folder_open();

    if (rc)
        return rc;
    if (asprintf(path, "%s/%u", folder_base, folder_count++) < 0)
        return -ENOMEM;
    if (mkdir(*path, 0700) == 0)
        return 0;
    rc = -errno;
    free(*path);
    return rc;
}
