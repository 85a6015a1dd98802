/* Copies of the bytes beside whole aligned words. They are moved in the widest aligned pieces. */
#include "tcp_words.h"

/* The widest aligned piece of memory at an address, of at most `size` bytes. */
static size_t tcp_piece_at(const void *memory, size_t size)
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

static void tcp_place_piece(unsigned char *to, const unsigned char *from, size_t piece)
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

static void tcp_fetch_piece(unsigned char *to, const unsigned char *from, size_t piece)
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

void tcp_place_rest(unsigned char *to, const unsigned char *from, size_t size)
{
    for (size_t piece; size > 0; to += piece, from += piece, size -= piece) {
        piece = tcp_piece_at(to, size);
        tcp_place_piece(to, from, piece);
    }
}

void tcp_fetch_rest(unsigned char *to, const unsigned char *from, size_t size)
{
    for (size_t piece; size > 0; to += piece, from += piece, size -= piece) {
        piece = tcp_piece_at(from, size);
        tcp_fetch_piece(to, from, piece);
    }
}
