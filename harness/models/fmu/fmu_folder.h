/*
 * The folder of this process that FMUs are unpacked in: exclusive, mode 0700, in $TMPDIR or /tmp.
 *
 * A process of its own, the keeper, watches it. It keeps the files fresh, so that nothing that
 * tidies old files away takes them, and removes the folder when this process has ended, however
 * that was, and all that it forked have.
 */
#ifndef HIL_FMU_FOLDER_H
#define HIL_FMU_FOLDER_H

#include <stddef.h>

/* Makes a new folder in it, empty. Returns 0, or -errno; free(*path). */
int fmu_folder_new(char **path);

/* Removes such a folder, with all that is in it; it may be gone. */
void fmu_folder_remove(const char *path);

/* What the keeper does every hour: all in it was changed now. */
void fmu_folder_freshen(const char *path);

#endif
