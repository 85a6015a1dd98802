/*
 * Unpacks an FMU, which is an untrusted zip archive: no path may leave the folder, nothing in it
 * may be a link, and the numbers of files and bytes are limited.
 */
#ifndef HIL_FMU_ARCHIVE_H
#define HIL_FMU_ARCHIVE_H

#include "../provider/provider.h"

enum { FMU_FILES_MAX = 20000 };
#define FMU_BYTES_MAX ((uint64_t)1 << 30)

/* Unpacks the archive into an empty folder. Of several files with one name the last one counts, and
 * `warning` says so. Returns 0, or a negative errno after a message; the caller removes the
 * folder. */
int fmu_unpack(const char *archive, const char *folder, char *warning, size_t size,
               const struct hil_said *said);

#endif
