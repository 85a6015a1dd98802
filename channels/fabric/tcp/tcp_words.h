/*
 * Copies between the memory that nodes share and buffers in which it lies anywhere: lowest address
 * first, each aligned word of the memory at once. (What is aligned alike on both sides is
 * words.h's.)
 */
#ifndef LOCO_TCP_WORDS_H
#define LOCO_TCP_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The widest aligned piece of memory at an address, of at most `size` bytes. */
static inline size_t tcp_piece_at(const void *memory, size_t size)
{
    size_t piece = sizeof(uint64_t);

    while (piece > size || (uintptr_t)memory % piece)
        piece /= 2;
    return piece;
}

#define TCP_AS(type, expression)                                                                   \
    case sizeof(type): {                                                                           \
        type word;                                                                                 \
        expression;                                                                                \
        break;                                                                                     \
    }

static inline void tcp_place_piece(unsigned char *to, const unsigned char *from, size_t piece)
{
#define PLACE(type)                                                                                \
    TCP_AS(type, memcpy(&word, from, sizeof word);                                                 \
           __atomic_store_n((type *)(void *)to, word, __ATOMIC_RELAXED))
    switch (piece) {
        PLACE(uint8_t)
        PLACE(uint16_t)
        PLACE(uint32_t)
        PLACE(uint64_t)
    }
#undef PLACE
}

static inline void tcp_fetch_piece(unsigned char *to, const unsigned char *from, size_t piece)
{
#define FETCH(type)                                                                                \
    TCP_AS(type, word = __atomic_load_n((const type *)(const void *)from, __ATOMIC_RELAXED);       \
           memcpy(to, &word, sizeof word))
    switch (piece) {
        FETCH(uint8_t)
        FETCH(uint16_t)
        FETCH(uint32_t)
        FETCH(uint64_t)
    }
#undef FETCH
}

/* Places bytes in the order of addresses, each word of the memory by one store. */
static inline void tcp_place(unsigned char *to, const unsigned char *from, size_t size)
{
    for (size_t done = 0; done < size;) {
        size_t piece = tcp_piece_at(to + done, size - done);
        tcp_place_piece(to + done, from + done, piece);
        done += piece;
    }
}

static inline void tcp_fetch(unsigned char *to, const unsigned char *from, size_t size)
{
    for (size_t done = 0; done < size;) {
        size_t piece = tcp_piece_at(from + done, size - done);
        tcp_fetch_piece(to + done, from + done, piece);
        done += piece;
    }
}

/* As many bytes from there on as end with a word. */
static inline size_t tcp_whole_words(uint64_t offset, size_t size)
{
    const size_t part = (size_t)(offset + size) % sizeof(uint64_t);

    return part < size ? size - part : 0;
}

#undef TCP_AS

#endif
