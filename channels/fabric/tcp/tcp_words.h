/*
 * Copies between the memory that nodes share and buffers of any alignment: in ascending order of
 * addresses, and each aligned word of the memory by one access. atomic_copy.h is for copies whose
 * both sides have the same alignment.
 */
#ifndef LOCO_TCP_WORDS_H
#define LOCO_TCP_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The parts of a copy that are not whole aligned words of the memory. */
void tcp_place_rest(unsigned char *to, const unsigned char *from, size_t size);
void tcp_fetch_rest(unsigned char *to, const unsigned char *from, size_t size);

/* Whole aligned words of the memory. */
static inline void tcp_place_words(unsigned char *to, const unsigned char *from, size_t size)
{
    uint64_t word;

    for (; size > 0; to += sizeof word, from += sizeof word, size -= sizeof word) {
        memcpy(&word, from, sizeof word);
        __atomic_store_n((uint64_t *)(void *)to, word, __ATOMIC_RELAXED);
    }
}

static inline void tcp_fetch_words(unsigned char *to, const unsigned char *from, size_t size)
{
    uint64_t word;

    for (; size > 0; to += sizeof word, from += sizeof word, size -= sizeof word) {
        word = __atomic_load_n((const uint64_t *)(const void *)from, __ATOMIC_RELAXED);
        memcpy(to, &word, sizeof word);
    }
}

/* Whether a copy to or from this memory is of whole aligned words. */
static inline bool tcp_is_words(const void *memory, size_t size)
{
    return ((uintptr_t)memory | size) % sizeof(uint64_t) == 0;
}

/* How many bytes at the beginning of a copy to or from this memory are whole aligned words. */
static inline size_t tcp_words_at(const void *memory, size_t size)
{
    return (uintptr_t)memory % sizeof(uint64_t) ? 0 : size - size % sizeof(uint64_t);
}

/* Places bytes in the order of addresses, each word of the memory by one store. */
static inline void tcp_place(unsigned char *to, const unsigned char *from, size_t size)
{
    const size_t words = tcp_words_at(to, size);

    tcp_place_words(to, from, words);
    if (words < size)
        tcp_place_rest(to + words, from + words, size - words);
}

static inline void tcp_fetch(unsigned char *to, const unsigned char *from, size_t size)
{
    const size_t words = tcp_words_at(from, size);

    tcp_fetch_words(to, from, words);
    if (words < size)
        tcp_fetch_rest(to + words, from + words, size - words);
}

/* The bytes from `offset` on, at most `size`, that end with a whole word. */
static inline size_t tcp_whole_words(uint64_t offset, size_t size)
{
    const size_t part = (size_t)(offset + size) % sizeof(uint64_t);

    return part < size ? size - part : 0;
}

#endif
