/*
 * Copies between the memory that nodes share and buffers of any alignment: in ascending order of
 * addresses, and each aligned word of the memory by one access. words.h is for copies whose both
 * sides have the same alignment.
 */
#ifndef LOCO_TCP_WORDS_H
#define LOCO_TCP_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline bool tcp_is_aligned(const void *memory)
{
    return (uintptr_t)memory % sizeof(uint64_t) == 0;
}

/* The widest aligned piece of memory at an address, of at most `size` bytes. */
static inline size_t tcp_piece_at(const void *memory, size_t size)
{
    size_t piece = sizeof(uint64_t);

    while (piece > size || ((uintptr_t)memory & (piece - 1)))
        piece /= 2;
    return piece;
}

/* One piece, as a word of its width. */
union tcp_piece {
    uint16_t of_2;
    uint32_t of_4;
    uint64_t of_8;
};

static inline void tcp_place_piece(unsigned char *to, const unsigned char *from, size_t piece)
{
    union tcp_piece word;

    switch (piece) {
    case 8:
        memcpy(&word.of_8, from, 8);
        __atomic_store_n((uint64_t *)(void *)to, word.of_8, __ATOMIC_RELAXED);
        break;
    case 4:
        memcpy(&word.of_4, from, 4);
        __atomic_store_n((uint32_t *)(void *)to, word.of_4, __ATOMIC_RELAXED);
        break;
    case 2:
        memcpy(&word.of_2, from, 2);
        __atomic_store_n((uint16_t *)(void *)to, word.of_2, __ATOMIC_RELAXED);
        break;
    case 1:
        __atomic_store_n(to, *from, __ATOMIC_RELAXED);
        break;
    }
}

static inline void tcp_fetch_piece(unsigned char *to, const unsigned char *from, size_t piece)
{
    union tcp_piece word;

    switch (piece) {
    case 8:
        word.of_8 = __atomic_load_n((const uint64_t *)(const void *)from, __ATOMIC_RELAXED);
        memcpy(to, &word.of_8, 8);
        break;
    case 4:
        word.of_4 = __atomic_load_n((const uint32_t *)(const void *)from, __ATOMIC_RELAXED);
        memcpy(to, &word.of_4, 4);
        break;
    case 2:
        word.of_2 = __atomic_load_n((const uint16_t *)(const void *)from, __ATOMIC_RELAXED);
        memcpy(to, &word.of_2, 2);
        break;
    case 1:
        *to = __atomic_load_n(from, __ATOMIC_RELAXED);
        break;
    }
}

/* Places bytes in the order of addresses, each word of the memory by one store. */
static inline void tcp_place(unsigned char *to, const unsigned char *from, size_t size)
{
    size_t done = 0;

    if (tcp_is_aligned(to))
        for (; size - done >= 8; done += 8)
            tcp_place_piece(to + done, from + done, 8);
    while (done < size) {
        size_t piece = tcp_piece_at(to + done, size - done);
        tcp_place_piece(to + done, from + done, piece);
        done += piece;
    }
}

static inline void tcp_fetch(unsigned char *to, const unsigned char *from, size_t size)
{
    size_t done = 0;

    if (tcp_is_aligned(from))
        for (; size - done >= 8; done += 8)
            tcp_fetch_piece(to + done, from + done, 8);
    while (done < size) {
        size_t piece = tcp_piece_at(from + done, size - done);
        tcp_fetch_piece(to + done, from + done, piece);
        done += piece;
    }
}

/* The bytes from `offset` on, at most `size`, that end with a whole word. */
static inline size_t tcp_whole_words(uint64_t offset, size_t size)
{
    const size_t part = (size_t)(offset + size) % sizeof(uint64_t);

    return part < size ? size - part : 0;
}

#endif
