/*
 * Copies between the memory that nodes share and buffers of any alignment: in ascending order of
 * addresses, and each aligned word of the memory by one access. words.h is for copies whose both
 * sides have the same alignment.
 */
#ifndef LOCO_TCP_WORDS_H
#define LOCO_TCP_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The parts of a copy that are not whole aligned words of the memory. */
void tcp_place_rest(unsigned char *to, const unsigned char *from, size_t size);
void tcp_fetch_rest(unsigned char *to, const unsigned char *from, size_t size);

/* Places bytes in the order of addresses, each word of the memory by one store. */
static inline void tcp_place(unsigned char *to, const unsigned char *from, size_t size)
{
    uint64_t word;

    if ((uintptr_t)to % sizeof word == 0)
        for (; size >= sizeof word; to += sizeof word, from += sizeof word, size -= sizeof word) {
            memcpy(&word, from, sizeof word);
            __atomic_store_n((uint64_t *)(void *)to, word, __ATOMIC_RELAXED);
        }
    if (size > 0)
        tcp_place_rest(to, from, size);
}

static inline void tcp_fetch(unsigned char *to, const unsigned char *from, size_t size)
{
    uint64_t word;

    if ((uintptr_t)from % sizeof word == 0)
        for (; size >= sizeof word; to += sizeof word, from += sizeof word, size -= sizeof word) {
            word = __atomic_load_n((const uint64_t *)(const void *)from, __ATOMIC_RELAXED);
            memcpy(to, &word, sizeof word);
        }
    if (size > 0)
        tcp_fetch_rest(to, from, size);
}

/* The bytes from `offset` on, at most `size`, that end with a whole word. */
static inline size_t tcp_whole_words(uint64_t offset, size_t size)
{
    const size_t part = (size_t)(offset + size) % sizeof(uint64_t);

    return part < size ? size - part : 0;
}

#endif
