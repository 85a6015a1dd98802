/* The version of the programs and of libloco, set by the Makefile. */
#ifndef HIL_VERSION_H
#define HIL_VERSION_H

extern const char hil_version[];

#endif
