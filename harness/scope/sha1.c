#include "sha1.h"

#include <stdint.h>
#include <string.h>

enum { BLOCK = 64 };

static uint32_t sha1_turn(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

static uint32_t sha1_mix(unsigned t, uint32_t b, uint32_t c, uint32_t d)
{
    if (t < 20)
        return ((b & c) | (~b & d)) + 0x5a827999u;
    if (t < 40)
        return (b ^ c ^ d) + 0x6ed9eba1u;
    if (t < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdcu;
    return (b ^ c ^ d) + 0xca62c1d6u;
}

static void sha1_block(uint32_t h[5], const unsigned char *block)
{
    uint32_t w[80], v[5];

    for (unsigned t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (unsigned t = 16; t < 80; t++)
        w[t] = sha1_turn(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    memcpy(v, h, sizeof v);
    for (unsigned t = 0; t < 80; t++) {
        const uint32_t next = sha1_turn(v[0], 5) + sha1_mix(t, v[1], v[2], v[3]) + v[4] + w[t];
        v[4] = v[3];
        v[3] = v[2];
        v[2] = sha1_turn(v[1], 30);
        v[1] = v[0];
        v[0] = next;
    }
    for (unsigned i = 0; i < 5; i++)
        h[i] += v[i];
}

void hil_sha1(const void *text, size_t size, unsigned char hash[HIL_SHA1_BYTES])
{
    unsigned char blocks[2 * BLOCK] = {0};
    const size_t count = size + 9 <= BLOCK ? 1 : 2;
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};

    memcpy(blocks, text, size);
    blocks[size] = 0x80;
    blocks[count * BLOCK - 2] = (unsigned char)(8 * size >> 8);
    blocks[count * BLOCK - 1] = (unsigned char)(8 * size);
    for (size_t i = 0; i < count; i++)
        sha1_block(h, blocks + i * BLOCK);
    for (unsigned i = 0; i < HIL_SHA1_BYTES; i++)
        hash[i] = (unsigned char)(h[i / 4] >> (24 - 8 * (i % 4)));
}
