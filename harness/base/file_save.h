/*
 * Writes files, and keeps the error of a write that failed.
 */
#ifndef HIL_FILE_SAVE_H
#define HIL_FILE_SAVE_H

#include <stdio.h>

/* A stream that writes to `file`, a descriptor that it takes, and that fclose() ends. The first
 * write that fails, or else the end, sets *rc to its negative errno, unless *rc is set already.
 * (The variable errno may be another call's by then.) Returns NULL with *rc set if `file` is a
 * negative errno, or memory is short. */
FILE *hil_file_stream(int file, int *rc);

/* Writes the whole file. Returns 0 or a negative errno. Errors of the stream need not be checked;
 * the caller finds them. */
typedef int hil_file_put_fn(const void *arg, FILE *to);

/* Saves a file as a whole or not at all: writes PATH.part and renames it, so that an existing PATH
 * is kept if writing fails. Returns 0 or a negative errno. */
int hil_file_save(const char *path, hil_file_put_fn *put, const void *arg);

#endif
