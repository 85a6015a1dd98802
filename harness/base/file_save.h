/*
 * Saves a file atomically: it is there as a whole or not at all.
 */
#ifndef HIL_FILE_SAVE_H
#define HIL_FILE_SAVE_H

#include <stdio.h>

/* Writes the whole file. Returns 0 or a negative errno. Errors of the stream need not be checked;
 * the caller finds them. */
typedef int hil_file_put_fn(const void *arg, FILE *to);

/* Writes PATH.part and renames it, so that an existing PATH is kept if writing fails. Returns 0 or
 * a negative errno. */
int hil_file_save(const char *path, hil_file_put_fn *put, const void *arg);

#endif
