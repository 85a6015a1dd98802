#include "journal_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "shuffle.h"

enum { ZSTD_LEVEL = 1 };

void block_buffer_free(struct block_buffer *buffer)
{
    free(buffer->block);
    free(buffer->bytes);
    free(buffer->numbers);
}

/* Contents are not kept. */
static int make_room(void *at, size_t *room, size_t bytes)
{
    void **memory = at;

    if (bytes <= *room)
        return 0;
    free(*memory);
    *memory = malloc(bytes);
    *room = *memory ? bytes : 0;
    return *memory ? 0 : -ENOMEM;
}

int block_make_room(struct block_buffer *buffer, size_t length)
{
    return make_room(&buffer->block, &buffer->block_bytes, length);
}

size_t block_packed_most(size_t bytes)
{
    return ZSTD_compressBound(bytes);
}

size_t block_length(const struct block_head *head)
{
    return sizeof *head + head->packed;
}

/* --- packing ------------------------------------------------------------------------------- */

static uint64_t check_of(const struct block_head *head)
{
    return XXH3_64bits(&head->stream, block_length(head) - offsetof(struct block_head, stream));
}

/* Packs buffer->bytes. */
static int pack(struct block_buffer *buffer, const struct block_head *head, size_t bytes)
{
    const size_t most = block_packed_most(bytes);

    if (block_make_room(buffer, sizeof *head + most))
        return -ENOMEM;
    struct block_head *block = buffer->block;
    const size_t packed = ZSTD_compress(block + 1, most, buffer->bytes, bytes, ZSTD_LEVEL);
    if (ZSTD_isError(packed))
        return -ENOMEM; /* there is room for anything */
    *block = *head;
    block->packed = (uint32_t)packed;
    block->bytes = (uint32_t)bytes;
    block->check = check_of(block);
    return 0;
}

int block_pack_rows(struct block_buffer *buffer, const struct block_head *head, const double *rows,
                    uint64_t width)
{
    const size_t count = width * head->rows, bytes = count * sizeof *rows;

    if (make_room(&buffer->bytes, &buffer->byte_count, bytes) ||
        make_room(&buffer->numbers, &buffer->number_bytes, bytes))
        return -ENOMEM;
    for (size_t i = 0; i < width; i++)
        for (size_t row = 0; row < head->rows; row++)
            buffer->numbers[i * head->rows + row] = rows[row * width + i];
    hil_shuffle(buffer->bytes, buffer->numbers, count);
    return pack(buffer, head, bytes);
}

int block_pack_text(struct block_buffer *buffer, const struct block_head *head, const char *text)
{
    const size_t bytes = strlen(text);

    if (make_room(&buffer->bytes, &buffer->byte_count, bytes + 1))
        return -ENOMEM;
    memcpy(buffer->bytes, text, bytes);
    return pack(buffer, head, bytes);
}

/* --- unpacking ----------------------------------------------------------------------------- */

bool block_is_whole(const struct block_buffer *buffer)
{
    return buffer->block->check == check_of(buffer->block);
}

int block_unpack(struct block_buffer *buffer)
{
    const struct block_head *block = buffer->block;

    if (make_room(&buffer->bytes, &buffer->byte_count, (size_t)block->bytes + 1))
        return -ENOMEM;
    const size_t bytes = ZSTD_decompress(buffer->bytes, block->bytes, block + 1, block->packed);
    return bytes == block->bytes ? 0 : -EBADMSG;
}

int block_unpack_rows(struct block_buffer *buffer, uint64_t width, double *values, uint64_t stride)
{
    const size_t rows = buffer->block->rows, count = width * rows, bytes = count * sizeof *values;
    int rc = buffer->block->bytes == bytes ? block_unpack(buffer) : -EBADMSG;

    if (!rc)
        rc = make_room(&buffer->numbers, &buffer->number_bytes, bytes);
    if (rc)
        return rc;
    hil_unshuffle(buffer->numbers, buffer->bytes, count);
    for (size_t i = 0; i < width; i++)
        memcpy(&values[i * stride], &buffer->numbers[i * rows], rows * sizeof *values);
    return 0;
}
