/*
 * Copies between memory that others write at the same time: lowest address first, in words
 * as wide as the alignment of both sides allows (8 bytes at most), none of them torn.
 */
#ifndef LOCO_WORDS_H
#define LOCO_WORDS_H

#include <stddef.h>
#include <stdint.h>

#define LOCO_COPY_AS(type)                                                                         \
    for (; size >= sizeof(type) && ((uintptr_t)d | (uintptr_t)s) % sizeof(type) == 0;              \
         d += sizeof(type), s += sizeof(type), size -= sizeof(type))                               \
    __atomic_store_n((type *)d, __atomic_load_n((const type *)s, __ATOMIC_RELAXED),                \
                     __ATOMIC_RELAXED)

static inline void loco_copy(void *to, const void *from, size_t size)
{
    unsigned char *d = (unsigned char *)to;
    const unsigned char *s = (const unsigned char *)from;

    LOCO_COPY_AS(uint64_t);
    LOCO_COPY_AS(uint32_t);
    LOCO_COPY_AS(uint16_t);
    LOCO_COPY_AS(uint8_t);
}

#undef LOCO_COPY_AS

#endif
