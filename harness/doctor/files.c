#include "files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_file(const char *root, const char *path, va_list values)
{
    char full[4096];
    int length = snprintf(full, sizeof full, "%s", root);

    if (length >= (int)sizeof full)
        return -ENAMETOOLONG;
    vsnprintf(full + length, sizeof full - (size_t)length, path, values);
    int file = open(full, O_RDONLY | O_CLOEXEC);
    return file < 0 ? -errno : file;
}

/* The kernel's files report no size, so it reads until the end. */
static int read_all(int file, char *text, size_t size)
{
    size_t used = 0;
    ssize_t n = 0;

    while (used < size - 1 && (n = read(file, text + used, size - 1 - used)) > 0)
        used += (size_t)n;
    text[used] = '\0';
    if (used > 0 && text[used - 1] == '\n')
        text[used - 1] = '\0';
    return n < 0 ? -errno : 0;
}

static int read_file(const char *root, char *text, size_t size, const char *path, va_list values)
{
    int file = open_file(root, path, values);

    text[0] = '\0';
    if (file < 0)
        return file;
    int rc = read_all(file, text, size);
    close(file);
    return rc;
}

int hil_file_text(const char *root, char *text, size_t size, const char *path, ...)
{
    va_list values;

    va_start(values, path);
    int rc = read_file(root, text, size, path, values);
    va_end(values);
    return rc;
}

int hil_file_number(const char *root, long long *number, const char *path, ...)
{
    char text[64], *end;
    va_list values;

    va_start(values, path);
    int rc = read_file(root, text, sizeof text, path, values);
    va_end(values);
    if (rc)
        return rc;
    *number = strtoll(text, &end, 10);
    return end == text ? -EINVAL : 0;
}

void hil_chosen_word(char *text)
{
    size_t begin = strcspn(text, "[("), end = strcspn(text, "])");

    if (text[begin] == '\0' || end < begin)
        return;
    memmove(text, text + begin + 1, end - begin - 1);
    text[end - begin - 1] = '\0';
}

const char *hil_line_of(const char *text, const char *key)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, strlen(key)) == 0)
            return line + strlen(key) + strspn(line + strlen(key), " \t:");
    }
    return NULL;
}

void hil_boot_parameter(const char *root, const char *key, char *value, size_t size)
{
    char line[4096], *rest = line;

    value[0] = '\0';
    if (hil_file_text(root, line, sizeof line, "/proc/cmdline"))
        return;
    for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " "))
        if (strncmp(word, key, strlen(key)) == 0)
            snprintf(value, size, "%s", word + strlen(key));
}

int hil_process_runs(const char *root, const char *name)
{
    char path[4096], comm[64];
    int found = 0;

    snprintf(path, sizeof path, "%s/proc", root);
    DIR *entries = opendir(path);
    if (!entries)
        return -errno;
    for (struct dirent *e; !found && (e = readdir(entries));)
        found = isdigit((unsigned char)e->d_name[0]) &&
                hil_file_text(root, comm, sizeof comm, "/proc/%s/comm", e->d_name) == 0 &&
                strcmp(comm, name) == 0;
    closedir(entries);
    return found;
}
