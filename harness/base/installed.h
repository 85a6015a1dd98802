/* Finds the shared libraries and programs that come with hiloco. */
#ifndef HIL_INSTALLED_H
#define HIL_INSTALLED_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Finds the path of one, such as "libhiloco-trace.so": beside the running program or library,
 * either in the build or where it is installed. Returns 0 or -ENOENT. */
int hil_installed_find(const char *name, char *path, size_t size);

/* The path of the file that has this code: the program, or libhiloco.so in a process that joins a
 * run. Returns false if it is unknown. */
bool hil_installed_self(char path[PATH_MAX]);

#endif
