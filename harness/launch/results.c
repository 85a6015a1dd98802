#include "results.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../base/foreign.h"
#include "../base/result_file.h"
#include "../h5/run_files.h"

/* A second run within the same second gets a different name. */
static int make_default(char *path, size_t size, const char *name)
{
    char stamp[32];
    time_t now = time(NULL);
    struct tm local;

    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", localtime_r(&now, &local));
    int rc = hil_result_folders("results");
    for (int i = 1; !rc && i < 1000; i++) {
        if (i == 1)
            snprintf(path, size, "results/%s-%s", name, stamp);
        else
            snprintf(path, size, "results/%s-%s-%d", name, stamp, i);
        if (mkdir(path, 0777) == 0)
            return 0;
        if (errno != EEXIST)
            return -errno;
    }
    return rc ? rc : -EEXIST;
}

static int write_text(const char *path, const char *text)
{
    int rc = 0;
    FILE *f = hil_result_create(path, &rc);

    if (!f)
        return rc;
    fputs(text, f);
    fclose(f);
    return rc;
}

/* Reads its command line: "hiloco run configs/dcdc20.yaml --out results/first"; empty if
 * unknown. */
static void read_command(pid_t process, char *command, size_t size)
{
    char path[40];
    size_t length = 0;

    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)process);
    FILE *file = fopen(path, "r");
    if (file) {
        length = fread(command, 1, size - 1, file);
        fclose(file);
    }
    while (length > 0 && command[length - 1] == '\0')
        length--;
    for (size_t i = 0; i < length; i++)
        command[i] = command[i] == '\0' ? ' ' : command[i];
    command[length] = '\0';
}

static void say_who_has_it(const char *path, pid_t holder, FILE *messages)
{
    char read[300], command[300];

    read_command(holder, read, sizeof read);
    hil_foreign_text(command, sizeof command, read, sizeof read);
    if (holder && *command)
        fprintf(messages,
                "%s: process %d is writing its results there now (%s): name another folder\n", path,
                (int)holder, command);
    else
        fprintf(messages, "%s: another run is writing its results there now: name another folder\n",
                path);
}

static int take(const char *path, int folder, enum hil_results_kind kind, FILE *messages)
{
    pid_t holder;

    if (hil_run_lock(folder, &holder) == 0)
        return hil_results_clear(path, kind, messages);
    say_who_has_it(path, holder, messages);
    return -EBUSY;
}

int hil_results_open(char *path, size_t size, const char *wanted, const char *name,
                     enum hil_results_kind kind, FILE *messages)
{
    snprintf(path, size, "%s", wanted ? wanted : "results");
    int rc = wanted ? hil_result_folders(wanted) : make_default(path, size, name);
    int folder = rc ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (folder < 0) {
        rc = rc ? rc : -errno;
        fprintf(messages, "%s: %s\n", path, strerror(-rc));
        return rc;
    }
    rc = take(path, folder, kind, messages);
    if (!rc)
        return folder;
    close(folder);
    return rc;
}

/* The folder that the file is in, without links; false if there is none. */
static bool find_folder(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    char text[PATH_MAX];

    if ((size_t)snprintf(text, sizeof text, "%.*s", slash ? (int)(slash - path) + 1 : 1,
                         slash ? path : ".") >= sizeof text)
        return false;
    return realpath(text, folder);
}

int hil_results_hold(const char *out, const char *path, FILE *messages)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char folder[PATH_MAX], whole[PATH_MAX];
    const bool there = access(out, F_OK) == 0;

    if (!find_folder(path, folder) && (there || hil_result_folders(out)))
        return 0;
    if (!find_folder(path, folder) || !realpath(out, whole)) {
        if (!there)
            rmdir(out);
        return 0;
    }
    const size_t length = strlen(whole);
    if (strncmp(folder, whole, length) != 0 || (folder[length] && folder[length] != '/'))
        return 0;
    if (!folder[length] && !hil_results_have_name(name))
        return 1;
    fprintf(messages, "%s: %s\n", path,
            folder[length] ? "the folders below the results are the run's own: name a file in that "
                             "folder itself, or elsewhere"
                           : "a file of the results has this name: name another");
    return -EINVAL;
}

int hil_results_add_scenario(const char *path, const struct hil_scenario *s)
{
    char file[4200];

    snprintf(file, sizeof file, "%s/scenario.yaml", path);
    return write_text(file, s->resolved);
}
