/* The shared libraries and programs that come with hiloco. */
#ifndef HIL_INSTALLED_H
#define HIL_INSTALLED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* The path of one, "libhiloco-trace.so": beside the program or library that asks, as that is built,
 * or where it is installed. Returns 0 or -ENOENT. */
int hil_installed_find(const char *name, char *path, size_t size);

/* The path of the file that this code is in: of the program, or of libhiloco.so in a process that
 * joins a run. False: unknown. */
bool hil_installed_self(char path[PATH_MAX]);

#endif
