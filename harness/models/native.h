/*
 * Native models: a shared library that exports one descriptor, hiloco_model of plants/model.h.
 *
 * To load one runs its code. Once loaded it stays until the program ends, so a scenario may point
 * at its tables.
 */
#ifndef HIL_NATIVE_H
#define HIL_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../plants/model.h"

struct hil_native {
    const struct hil_model *model;
    char *path;    /* absolute, without links */
    uint64_t hash; /* of the file, XXH3 */
    const struct hil_native *next;
};

/* Whether a model's name is that of a shared library: it has a '/', or ends in ".so". */
bool hil_native_is(const char *name);

/*
 * Loads the library called `name`: if that is relative, from `folder`, or else from the first of
 * the folders in HILOCO_MODELS (with ':' between them) that has it, or else from the folder of
 * installed models. Returns 0, or a negative errno after it has written, to `text`, what is wrong
 * and what is allowed.
 */
int hil_native_load(const struct hil_native **native, const char *name, const char *folder,
                    char *text, size_t size);

/* Those that are loaded, in a list; NULL: none. */
const struct hil_native *hil_natives(void);

/* The one of this path, or NULL. */
const struct hil_native *hil_native_find(const char *path);

#endif
