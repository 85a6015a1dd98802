/*
 * Native models: a shared library that exports one descriptor, hiloco_model of plants/model.h.
 *
 * Its name has a '/', or ends in ".so". A relative one is looked for in the scenario's folder, or
 * else in the folders of HILOCO_MODELS (with ':' between them), or else in that of installed
 * models. To load one runs its code.
 */
#ifndef HIL_NATIVE_H
#define HIL_NATIVE_H

#include "provider.h"

extern const struct hil_provider hil_native_provider;

/* Finds a file as described above: for providers whose models are files. As locate() of a
 * provider. */
int hil_model_file(char **whole, const char *name, const char *folder, const struct hil_said *said);

/* Hashes a file with XXH3. Returns 0, or -errno after it has said why it cannot be read. */
int hil_model_file_hash(int file, uint64_t *hash, const struct hil_said *said);

#endif
