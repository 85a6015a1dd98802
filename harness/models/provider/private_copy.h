/*
 * Private copies of a shared library. The loader loads a file only once in a process, so that all
 * components of a model's library would share its global variables, which generated code often has.
 * Each component gets a copy of the library instead.
 */
#ifndef HIL_PRIVATE_COPY_H
#define HIL_PRIVATE_COPY_H

/* Reads what the loader needs of a library into memory. Returns a descriptor of it, which stays the
 * same when the file is changed, or a negative errno. */
int hil_private_image(const char *path);

/* Like dlopen(path), for a copy of the image that shares no variables with others. Returns NULL if
 * it cannot be loaded; then dlerror() explains, or returns NULL if errno does. */
void *hil_private_open(int image, const char *path);

#endif
