/*
 * Native models: shared libraries that export one descriptor, hiloco_model of plants/model.h.
 *
 * The name of a native model has a '/' in it, or ends in ".so". A relative name is searched in the
 * scenario's folder, then in the folders of HILOCO_MODELS (separated by ':'), then in the folder of
 * installed models. Loading a model runs its code.
 */
#ifndef HIL_NATIVE_H
#define HIL_NATIVE_H

#include "provider.h"

extern const struct hil_provider hil_native_provider;

/* Finds a file as described above, for providers whose models are files. It serves as the locate()
 * of a provider. */
int hil_model_file(char **whole, const char *name, const char *folder, const struct hil_said *said);

/* Hashes a file with XXH3. Returns 0, or -errno after a message. */
int hil_model_file_hash(int file, uint64_t *hash, const struct hil_said *said);

#endif
