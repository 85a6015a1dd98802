/*
 * Packs a signal's blocks as text for a page: bytes that compress well, deflated (zlib), in base64.
 * unpack.js unpacks them.
 *
 *      u8       level of each block; 128 is added where it is apart from the one before
 *      varint   its time in ns, as the difference from when it was expected: the time of the one
 *               before (at first 0), and its rows' periods. Zigzag: 0, -1, 1, -2 ...
 *      4 x u8   its least value: the lowest bytes of all blocks, then the next ones ... Each is
 *               the difference from that of the block before, zigzag, of the numbers that floats
 *               are when they are ordered
 *      4 x u8   its greatest value, likewise, as the difference from its least
 */
#ifndef HIL_PACK_H
#define HIL_PACK_H

#include "blocks.h"

struct hil_packed {
    char *text; /* the caller frees it */
    size_t blocks;
    size_t size; /* size of the text, or at least the size counted for its blocks */
};

/* Keeps the size to about `most` bytes or less. `period_ns` is the interval of rows; 0: not known.
 * Returns 0 or -ENOMEM. */
int hil_pack(struct hil_packed *packed, const struct hil_blocks *blocks, uint64_t period_ns,
             size_t most);

#endif
