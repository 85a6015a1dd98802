/*
 * A folder of its own for each test of a suite, such as a machine of files. Fixtures make it and
 * remove it.
 */
#ifndef TESTS_FOLDER_H
#define TESTS_FOLDER_H

extern char folder[32];

void folder_open(void);
void folder_close(void);

/* A path in it, of which a few can be held at a time. */
const char *in_folder(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes a file of this text and a newline in it, and makes the folders on the way. */
void put(const char *path, const char *text);

/* Removes a file or a folder in it. */
void take_away(const char *path);

#endif
