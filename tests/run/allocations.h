/*
 * The allocator of this program counts what each thread asks of it.
 */
#ifndef TEST_ALLOCATIONS_H
#define TEST_ALLOCATIONS_H

#include <stdint.h>

/* How often the calling thread has allocated memory, or freed some, of any kind. */
uint64_t allocations(void);

#endif
