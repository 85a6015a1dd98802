/*
 * The folder of this process into which FMUs are unpacked: exclusive, mode 0700, in $TMPDIR or
 * /tmp.
 *
 * A separate process, the keeper, watches it. It keeps the files fresh so that programs that tidy
 * up old files do not remove them. It removes the folder when this process and all its forked
 * children have ended, for whatever reason.
 */
#ifndef HIL_FMU_FOLDER_H
#define HIL_FMU_FOLDER_H

#include <stddef.h>

/* Makes a new empty folder in it. Returns 0 or -errno. The caller frees *path. */
int fmu_folder_new(char **path);

/* Removes such a folder with its contents; it may be gone already. */
void fmu_folder_remove(const char *path);

/* Touches everything in the folder; the keeper does this every hour. */
void fmu_folder_freshen(const char *path);

#endif
