/* Folders and files of a test are in $TMPDIR. tests/run_all makes that, and takes it away. Names
 * are short, as in such a folder nodes are to meet (tests/suite.py). */
#ifndef TESTS_TEMPORARY_H
#define TESTS_TEMPORARY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEMPORARY_SIZE = 64 };

static inline char *temporary_name(char path[TEMPORARY_SIZE])
{
    static const char name[] = "/t-XXXXXX";
    const char *folder = getenv("TMPDIR");

    if (!folder || strlen(folder) + sizeof name > TEMPORARY_SIZE)
        folder = "/tmp";
    snprintf(path, TEMPORARY_SIZE, "%s%s", folder, name);
    return path;
}

/* Returns the path; NULL: it cannot be made. */
static inline char *temporary_folder(char path[TEMPORARY_SIZE])
{
    return mkdtemp(temporary_name(path));
}

/* Returns its descriptor, or -1. */
static inline int temporary_file(char path[TEMPORARY_SIZE])
{
    return mkstemp(temporary_name(path));
}

#endif
