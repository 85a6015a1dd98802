/* An FMU's shared library, and the functions that it exports. */
#ifndef HIL_FMU_LIBRARY_H
#define HIL_FMU_LIBRARY_H

#include "fmu_description.h"

/* The path of the library in the unpacked folder, to be freed. Returns 0, or a negative errno after
 * it has said which platforms there are instead. */
int fmu_library_find(char **path, const char *folder, const struct fmu_description *description,
                     const struct hil_said *said);

/*
 * Opens it; those that it needs and that lie beside it are found there. functions[] get what is
 * called symbols[], which NULL ends, each with `prefix` in front; after the first `needed` they may
 * be NULL. Returns 0, or a negative errno after it has said what is missing.
 */
int fmu_library_open(void **library, const char *path, const char *prefix,
                     const char *const *symbols, unsigned needed, void **functions,
                     const struct hil_said *said);

#endif
