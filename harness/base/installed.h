/* The shared libraries and programs that come with hiloco. */
#ifndef HIL_INSTALLED_H
#define HIL_INSTALLED_H

#include <stddef.h>

/* The path of one, "libhiloco-trace.so": beside the program or library that asks, as that is built,
 * or where it is installed. Returns 0 or -ENOENT. */
int hil_installed_find(const char *name, char *path, size_t size);

#endif
