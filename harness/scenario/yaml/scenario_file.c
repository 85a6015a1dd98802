/* Reads the file of a scenario, or standard input, into the tree. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../base/text_mark.h"
#include "scenario_tree.h"

enum { FILE_BYTES_MAX = 16 << 20 };

static bool is_standard_input(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* Reads all that is left of a file; the caller frees *text. */
static int read_rest(FILE *file, char **text, size_t *length)
{
    int error = 0;

    char *buffer = malloc(FILE_BYTES_MAX + 1);
    if (buffer == NULL)
        return -ENOMEM;
    *length = fread(buffer, 1, FILE_BYTES_MAX + 1, file);
    if (ferror(file))
        error = errno != 0 ? -errno : -EIO;
    else if (*length > FILE_BYTES_MAX)
        error = -EFBIG;
    if (error != 0)
        free(buffer);
    else
        *text = buffer;
    return error;
}

/* Puts a copy that can be opened again in place of standard input. A sweep reads its scenario anew
 * in the process of each run. */
static int keep_standard_input(void)
{
    char *text = NULL;
    size_t length = 0;
    int error = read_rest(stdin, &text, &length);
    if (error != 0)
        return error;
    const int copy = memfd_create("scenario", MFD_CLOEXEC);

    if (copy < 0 || write(copy, text, length) != (ssize_t)length || dup2(copy, STDIN_FILENO) < 0)
        error = errno != 0 ? -errno : -EIO;
    if (copy >= 0)
        close(copy);
    free(text);
    return error;
}

static int open_standard_input(FILE **file)
{
    struct stat status;

    if (fstat(STDIN_FILENO, &status) != 0)
        return -errno;
    const int error = S_ISREG(status.st_mode) ? 0 : keep_standard_input();
    if (error != 0)
        return error;
    *file = fopen("/proc/self/fd/0", "re");
    return *file != NULL ? 0 : -errno;
}

/* Reads a whole file; the caller frees *text. */
static int read_file(const char *path, char **text, size_t *length)
{
    FILE *file = NULL;
    int error = 0;

    if (is_standard_input(path))
        error = open_standard_input(&file);
    else if ((file = fopen(path, "re")) == NULL)
        error = -errno;
    if (error != 0)
        return error;
    error = read_rest(file, text, length);
    fclose(file);
    return error;
}

/* What a file or folder is that is no scenario, and what helps; false: it may be one. */
static bool is_no_scenario(const char *path, struct scenario_report *report)
{
    static const char *const models[] = {".so", ".fmu", ".cir", ".csv"};
    const struct scenario_place place = {.file = path, .line = 1, .column = 1};
    const char *end = strrchr(path, '.');
    char inside[4200];
    struct stat status;

    snprintf(inside, sizeof(inside), "%s/scenario.yaml", path);
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        if (access(inside, F_OK) == 0)
            scenario_mistake(report, &place, "a folder of results; its scenario is %s", inside);
        else
            scenario_mistake(report, &place, "a folder; required: a scenario, a YAML file");
        return true;
    }
    if (end && strcmp(end, ".py") == 0) {
        scenario_mistake(report, &place,
                         "a Python file; required: a scenario, a YAML file. It may be a model "
                         "there: python:%s:CLASS",
                         path);
        return true;
    }
    for (size_t i = 0; end && i < sizeof(models) / sizeof(models[0]); i++) {
        if (strcmp(end, models[i]) != 0)
            continue;
        scenario_mistake(report, &place,
                         "a model; required: a scenario, a YAML file. hiloco models %s shows it",
                         path);
        return true;
    }
    return false;
}

int scenario_tree_read(struct scenario_node **root, const char *path,
                       struct scenario_report *report)
{
    struct scenario_place place = {.file = path, .line = 1, .column = 1};
    char *text = NULL;
    size_t length = 0;

    if (!is_standard_input(path) && is_no_scenario(path, report))
        return -EINVAL;
    int error = read_file(path, &text, &length);

    if (error == -ENOMEM)
        return error;
    if (error != 0) {
        scenario_mistake(report, &place,
                         "cannot be read (%s); allowed: a scenario, a YAML file of up to 16 MiB",
                         strerror(-error));
        return error;
    }
    const size_t mark = hil_text_mark(text, length);
    error = scenario_tree_parse(root, text + mark, length - mark, &place, report);
    free(text);
    return error;
}
