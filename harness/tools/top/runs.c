#include "runs.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- finding -------------------------------------------------------------------------------- */

/* Opens the process's memory file of a run; -1: it has none. */
static int open_file_of(pid_t pid)
{
    static const char wanted[] = "/memfd:" HIL_STATE_NAME " (deleted)";
    char folder[32], path[sizeof folder + 1 + NAME_MAX], target[sizeof wanted];
    struct dirent *entry;
    int file = -1;

    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)pid);
    DIR *entries = opendir(folder);
    while (entries && file < 0 && (entry = readdir(entries))) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        ssize_t length = readlink(path, target, sizeof target);
        if (length == sizeof wanted - 1 && memcmp(target, wanted, sizeof wanted - 1) == 0)
            file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    }
    if (entries)
        closedir(entries);
    return file;
}

int hil_run_open_file(const struct hil_run_entry *run)
{
    return open_file_of(run->pid);
}

/* Ownership is taken from the file: /proc/PID belongs to root if a process is not dumpable. */
static bool is_own(const struct stat *file)
{
    return file->st_uid == geteuid();
}

/* A process that a launcher has just started still has the launcher's file. The first of these
 * processes is the launcher. */
static bool is_found(const struct hil_runs *runs, ino_t file)
{
    for (unsigned i = 0; i < runs->count; i++)
        if (runs->at[i].file == file)
            return true;
    return false;
}

static int open_process(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

static int add_run(struct hil_runs *runs, const struct hil_run_entry *one)
{
    struct hil_run_entry *more = realloc(runs->at, (runs->count + 1) * sizeof *more);

    if (!more)
        return -ENOMEM;
    runs->at = more;
    runs->at[runs->count++] = *one;
    return 0;
}

/* The pidfd is opened first. Anything found by the pid afterwards belongs to the process, or the
 * pidfd says that it has ended. */
static void look_at(struct hil_runs *runs, pid_t pid, bool all_users)
{
    struct hil_run_entry one = {.pid = pid, .process = open_process(pid)};
    struct stat memory;
    int status;

    if (one.process < 0)
        return;
    int file = open_file_of(pid), rc = -ENOENT;
    if (file >= 0 && fstat(file, &memory) == 0 && (all_users || is_own(&memory)) &&
        !is_found(runs, memory.st_ino)) {
        one.file = memory.st_ino;
        rc = hil_state_attach(&one.attached, file);
    }
    if (file >= 0)
        close(file);
    if (!rc && !hil_run_ended(&one, &status) && add_run(runs, &one) == 0)
        return;
    runs->others += rc == -EPROTO;
    if (one.attached.state)
        hil_state_detach(&one.attached);
    close(one.process);
}

static int by_pid(const void *a, const void *b)
{
    const struct hil_run_entry *x = a, *y = b;

    return (x->pid > y->pid) - (x->pid < y->pid);
}

int hil_runs_find(struct hil_runs *runs, bool all_users)
{
    DIR *processes = opendir("/proc");
    struct dirent *entry;

    *runs = (struct hil_runs){0};
    if (!processes)
        return -errno;
    while ((errno = 0, entry = readdir(processes)))
        if (isdigit((unsigned char)entry->d_name[0]))
            look_at(runs, (pid_t)atoi(entry->d_name), all_users);
    const int rc = -errno; /* of readdir() */
    closedir(processes);
    if (runs->count)
        qsort(runs->at, runs->count, sizeof *runs->at, by_pid);
    if (rc)
        hil_runs_close(runs);
    return rc;
}

void hil_runs_close(struct hil_runs *runs)
{
    for (unsigned i = 0; i < runs->count; i++) {
        hil_state_detach(&runs->at[i].attached);
        close(runs->at[i].process);
    }
    free(runs->at);
    *runs = (struct hil_runs){0};
}

/* --- asking --------------------------------------------------------------------------------- */

bool hil_run_is(const struct hil_run_entry *run, const char *which)
{
    char *folder = realpath(which, NULL), *end;
    bool is = strtol(which, &end, 10) == run->pid && !*end;

    is = is || strcmp(which, run->attached.card.name) == 0 ||
         (folder && strcmp(folder, run->attached.card.results) == 0);
    free(folder);
    return is;
}

bool hil_run_ended(const struct hil_run_entry *run, int *status)
{
    struct pollfd process = {.fd = run->process, .events = POLLIN};
    bool gone = poll(&process, 1, 0) > 0;
    uint32_t ended = atomic_load(&run->attached.state->ended);

    *status = (int)ended - 1;
    return gone || ended;
}
