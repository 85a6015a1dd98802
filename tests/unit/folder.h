/*
 * A folder for each test of a suite, which can hold the files of an imitated machine, for example.
 * Fixtures make and remove it.
 */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

#include "tests/temporary.h"

extern char folder[TEMPORARY_SIZE];

void folder_open(void);
void folder_close(void);

/* A path in the folder. A few paths can be held at a time. */
const char *in_folder(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes a file with this text and a newline to the folder. Makes subfolders as needed. */
void put(const char *path, const char *text);

/* Removes a file or a subfolder. */
void take_away(const char *path);

#endif
