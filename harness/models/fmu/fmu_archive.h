/*
 * Unpacks an FMU, which is a zip archive from anywhere: no path leaves the folder, nothing in it is
 * a link, and files and bytes have limits.
 */
#ifndef HIL_FMU_ARCHIVE_H
#define HIL_FMU_ARCHIVE_H

#include "../provider.h"

enum { FMU_FILES_MAX = 20000 };
#define FMU_BYTES_MAX ((uint64_t)1 << 30)

/* Unpacks the archive into an empty folder. Returns 0, or a negative errno after it has said what
 * is wrong; the caller removes the folder. */
int fmu_unpack(const char *archive, const char *folder, const struct hil_said *said);

#endif
