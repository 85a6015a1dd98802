#include "shuffle.h"

#include <stdint.h>
#include <string.h>

enum { BYTES = sizeof(double) };

/* Exchanges byte i of word k with byte k of word i. Each step exchanges squares: of four bytes by
 * four, of two by two, of single bytes. */
static inline void exchange(uint64_t words[BYTES])
{
    static const uint64_t low[] = {0x00000000ffffffff, 0x0000ffff0000ffff, 0x00ff00ff00ff00ff};

    for (unsigned step = 0, size = BYTES / 2; size > 0; step++, size /= 2) {
        for (unsigned i = 0; i < BYTES; i++) {
            if (i & size)
                continue;
            uint64_t *a = &words[i], *b = &words[i + size];
            const uint64_t moved = ((*a >> 8 * size) ^ *b) & low[step];
            *b ^= moved;
            *a ^= moved << 8 * size;
        }
    }
}

void hil_shuffle(unsigned char *bytes, const double *values, size_t count)
{
    const unsigned char *from = (const unsigned char *)values;
    const size_t whole = count / BYTES * BYTES;
    uint64_t words[BYTES];

    for (size_t i = 0; i < whole; i += BYTES) {
        memcpy(words, &values[i], sizeof words);
        exchange(words);
        for (unsigned b = 0; b < BYTES; b++)
            memcpy(&bytes[b * count + i], &words[b], BYTES);
    }
    for (size_t i = whole; i < count; i++)
        for (unsigned b = 0; b < BYTES; b++)
            bytes[b * count + i] = from[i * BYTES + b];
}

void hil_unshuffle(double *values, const unsigned char *bytes, size_t count)
{
    unsigned char *to = (unsigned char *)values;
    const size_t whole = count / BYTES * BYTES;
    uint64_t words[BYTES];

    for (size_t i = 0; i < whole; i += BYTES) {
        for (unsigned b = 0; b < BYTES; b++)
            memcpy(&words[b], &bytes[b * count + i], BYTES);
        exchange(words);
        memcpy(&values[i], words, sizeof words);
    }
    for (size_t i = whole; i < count; i++)
        for (unsigned b = 0; b < BYTES; b++)
            to[i * BYTES + b] = bytes[b * count + i];
}
