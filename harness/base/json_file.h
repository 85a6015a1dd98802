/*
 * Saves a JSON file atomically: it is there as a whole or not at all.
 */
#ifndef HIL_JSON_FILE_H
#define HIL_JSON_FILE_H

#include <jansson.h>

/* Writes PATH.part and renames it, so that an existing PATH is kept if writing fails. A NULL root,
 * which jansson returns when memory is out, gives -ENOMEM and writes nothing. Returns 0 or a
 * negative errno. */
int hil_json_file_write(const json_t *root, const char *path, size_t flags);

#endif
