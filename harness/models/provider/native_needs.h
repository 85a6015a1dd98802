/* What a shared library needs of others. */
#ifndef HIL_NATIVE_NEEDS_H
#define HIL_NATIVE_NEEDS_H

/* The name of a library that a loaded one needs, itself or for another, and that is in its folder
 * or below it; NULL: there is none. It is valid as long as the library is loaded. */
const char *hil_native_needs_beside(void *library);

#endif
