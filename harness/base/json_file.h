/*
 * A file of JSON, which is there as a whole or not at all.
 */
#ifndef HIL_JSON_FILE_H
#define HIL_JSON_FILE_H

#include <jansson.h>

/* Writes PATH.part and renames it, so that what was at PATH stays where it cannot be written. Of a
 * NULL root, which jansson makes when it has no memory, nothing is written. Returns 0 or a negative
 * errno. */
int hil_json_file_write(const json_t *root, const char *path, size_t flags);

#endif
