/*
 * Copies memory that others may access at the same time: in ascending order of addresses, and in
 * words as wide as the alignment of both sides allows (8 bytes at most). No word is torn.
 */
#ifndef LOCO_ATOMIC_COPY_H
#define LOCO_ATOMIC_COPY_H

#include <stddef.h>
#include <stdint.h>

#include "language.h"

LOCO_DECLARATIONS

#if defined(__x86_64__) && !defined(LOCO_TSAN)
/* Two words at a time. No x86 processor tears an aligned word of a vector, though none promises
 * that the pair is not torn. Long copies are three times as fast. */
typedef uint64_t loco_pair __attribute__((vector_size(16), aligned(8), may_alias));

#define LOCO_PAIRS 1

static inline void loco_copy_pair(uint64_t *to, const uint64_t *from)
{
    *(volatile loco_pair *)to = *(const volatile loco_pair *)from;
}

static inline size_t loco_copy_lines(unsigned char *to, const unsigned char *from, size_t size)
{
    volatile loco_pair *d = (volatile loco_pair *)to;
    const volatile loco_pair *s = (const volatile loco_pair *)from;
    size_t lines = ((uintptr_t)to | (uintptr_t)from) % sizeof(uint64_t) ? 0 : size / 64;

    for (size_t i = 0; i < lines; i++, d += 4, s += 4) {
        loco_pair a = s[0], b = s[1], c = s[2], e = s[3];
        d[0] = a;
        d[1] = b;
        d[2] = c;
        d[3] = e;
    }
    return 64 * lines;
}
#else
static inline size_t loco_copy_lines(unsigned char *to, const unsigned char *from, size_t size)
{
    (void)to;
    (void)from;
    (void)size;
    return 0;
}
#endif

static inline void loco_copy_8(unsigned char *to, const unsigned char *from)
{
    __atomic_store_n((uint64_t *)to, __atomic_load_n((const uint64_t *)from, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
}

static inline void loco_copy_4(unsigned char *to, const unsigned char *from)
{
    __atomic_store_n((uint32_t *)to, __atomic_load_n((const uint32_t *)from, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
}

static inline void loco_copy_2(unsigned char *to, const unsigned char *from)
{
    __atomic_store_n((uint16_t *)to, __atomic_load_n((const uint16_t *)from, __ATOMIC_RELAXED),
                     __ATOMIC_RELAXED);
}

static inline void loco_copy_1(unsigned char *to, const unsigned char *from)
{
    __atomic_store_n(to, __atomic_load_n(from, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

static inline void loco_copy_any(void *to, const void *from, size_t size)
{
    unsigned char *d = (unsigned char *)to;
    const unsigned char *s = (const unsigned char *)from;
    const uintptr_t alignment = (uintptr_t)d | (uintptr_t)s;
    size_t at = size >= 64 ? loco_copy_lines(d, s, size) : 0;

    if (alignment % 8 == 0)
        for (; size - at >= 8; at += 8)
            loco_copy_8(d + at, s + at);
    if (at == size)
        return;
    if (alignment % 4 == 0)
        for (; size - at >= 4; at += 4)
            loco_copy_4(d + at, s + at);
    if (alignment % 2 == 0)
        for (; size - at >= 2; at += 2)
            loco_copy_2(d + at, s + at);
    for (; at < size; at++)
        loco_copy_1(d + at, s + at);
}

/* Most copies have only a few words. They are copied word by word, because a processor can forward
 * a single word that it has just stored to a load, but not a pair of words. */
static inline void loco_copy(void *to, const void *from, size_t size)
{
    uint64_t *d = (uint64_t *)to;
    const uint64_t *s = (const uint64_t *)from;

    if (size >= 64 || ((uintptr_t)to | (uintptr_t)from | size) % sizeof(uint64_t)) {
        loco_copy_any(to, from, size);
        return;
    }
    for (size_t i = 0; i < size / sizeof(uint64_t); i++)
        __atomic_store_n(&d[i], __atomic_load_n(&s[i], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

LOCO_DECLARATIONS_END

#endif
