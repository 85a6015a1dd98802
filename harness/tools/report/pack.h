/*
 * Packs a signal's blocks as text for a page: bytes that compress well, deflated (zlib), in base64.
 * unpack.js unpacks them.
 *
 *      u8       level of each block, plus 128 if it is not joined to the block before
 *      varint   its time in ns, minus the expected time: the time of the block before (0 for the
 *               first) plus the periods of that block's rows. Zigzag: 0, -1, 1, -2 ...
 *      4 x u8   its least value: first the lowest bytes of all blocks, then the next bytes, and so
 *               on. Each value is an ordered number made from the float, minus that of the block
 *               before, zigzag.
 *      4 x u8   its greatest value in the same way, minus its own least value
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
