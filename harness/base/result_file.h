/*
 * Files of a folder of results that somebody else may have made: where a file should be, there may
 * be a link to another, a pipe or a device. None is followed, and none makes a reader wait.
 */
#ifndef HIL_RESULT_FILE_H
#define HIL_RESULT_FILE_H

#include <stdio.h>

/* Opens a regular file, with `flags` as of open(). Returns the descriptor or a negative errno:
 * -ELOOP if it is a link, -EMEDIUMTYPE if it is a folder, a pipe or a device. */
int hil_result_open(const char *path, int flags);

/* The same for reading. Returns NULL with errno set. */
FILE *hil_result_read(const char *path);

/* Creates the file for writing; it takes the place of an existing one, also of a link. Returns a
 * stream as hil_file_stream() does. */
FILE *hil_result_create(const char *path, int *rc);

/* Makes the folder, unless there is one. Returns 0 or a negative errno: -ELOOP if there is a link.
 */
int hil_result_folder(const char *path);

/* Makes the folder and those above it, where they are missing. Returns 0 or a negative errno. */
int hil_result_folders(const char *path);

/* Such an errno, or another, in words. */
const char *hil_result_words(int rc);

#endif
