#include "folder.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char folder[TEMPORARY_SIZE];

void folder_open(void)
{
    cr_assert_not_null(temporary_folder(folder));
}

void folder_close(void)
{
    take_away("");
}

const char *in_folder(const char *format, ...)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    int length = snprintf(path, sizeof paths[0], "%s/", folder);
    va_list values;

    va_start(values, format);
    vsnprintf(path + length, sizeof paths[0] - (size_t)length, format, values);
    va_end(values);
    return path;
}

void put(const char *path, const char *text)
{
    char full[256];

    snprintf(full, sizeof full, "%s", in_folder("%s", path));
    for (char *slash = strchr(full + strlen(folder) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    cr_assert(file, "%s", full);
    fprintf(file, "%s\n", text);
    fclose(file);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status, (void)type, (void)where;
    return remove(path);
}

void take_away(const char *path)
{
    nftw(in_folder("%s", path), remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
