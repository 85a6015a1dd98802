/*
 * A file that is there as a whole or not at all.
 */
#ifndef HIL_FILE_SAVE_H
#define HIL_FILE_SAVE_H

#include <stdio.h>

/* Writes all of the file. Returns 0 or a negative errno; what the stream failed in is noticed
 * anyway. */
typedef int hil_file_put_fn(const void *arg, FILE *to);

/* Writes PATH.part and renames it, so that what was at PATH stays where it cannot be written.
 * Returns 0 or a negative errno. */
int hil_file_save(const char *path, hil_file_put_fn *put, const void *arg);

#endif
