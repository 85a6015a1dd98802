/* An FMU's shared library and its exported functions. */
#ifndef HIL_FMU_LIBRARY_H
#define HIL_FMU_LIBRARY_H

#include "fmu_description.h"

/* Finds the path of the library in the unpacked folder; the caller frees it. Returns 0, or a
 * negative errno after a message that lists the platforms that the FMU has instead. */
int fmu_library_find(char **path, const char *folder, const struct fmu_description *description,
                     const struct hil_said *said);

/*
 * Opens the library, and finds libraries beside it that it depends on. functions[] are set to the
 * addresses of symbols[] (ended by NULL), each with `prefix` in front. Those after the first
 * `needed` may be NULL. Returns 0, or a negative errno after a message that says what is missing.
 */
int fmu_library_open(void **library, const char *path, const char *prefix,
                     const char *const *symbols, unsigned needed, void **functions,
                     const struct hil_said *said);

#endif
