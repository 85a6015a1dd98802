/*
 * A block of a journal: some rows of one stream, all of them in one chunk of the trace, or text.
 *
 *      struct block_head, then head.packed bytes: zstd of
 *          of rows: the bytes 0 of all numbers, the bytes 1 ... (shuffled); the numbers are in the
 *          order of a chunk, the values of each number of the rows side by side
 *          or the text
 */
#ifndef HIL_JOURNAL_BLOCK_H
#define HIL_JOURNAL_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BLOCK_OF_TEXT = UINT32_MAX };

struct block_head {
    uint64_t check;  /* hash of the rest of the head, and of the packed bytes */
    uint32_t stream; /* or BLOCK_OF_TEXT */
    uint32_t rows;
    uint64_t first;  /* number of its first row in the stream */
    uint64_t before; /* offset of the block before it in the same chunk, or of the text before it;
                      * 0: none */
    uint32_t packed;
    uint32_t bytes; /* unpacked */
};

/* Memory to pack and unpack blocks in, initially zero. It grows as needed. */
struct block_buffer {
    struct block_head *block; /* a packed block */
    size_t block_bytes;       /* room for it */
    unsigned char *bytes;     /* an unpacked one */
    size_t byte_count;        /* room for it */
    double *numbers;          /* its numbers, before they are shuffled */
    size_t number_bytes;      /* room for them */
};

void block_buffer_free(struct block_buffer *buffer);

/* The most that so many bytes take when they are packed. */
size_t block_packed_most(size_t bytes);

/* The block's length in the file. */
size_t block_length(const struct block_head *head);

/* Each makes buffer->block from head and what it holds: rows of `width` numbers side by side, or
 * text. The caller has set head's stream, rows, first and before. Returns 0 or -ENOMEM. */
int block_pack_rows(struct block_buffer *buffer, const struct block_head *head, const double *rows,
                    uint64_t width);
int block_pack_text(struct block_buffer *buffer, const struct block_head *head, const char *text);

/* Makes room for a block of this length in buffer->block. Returns 0 or -ENOMEM. */
int block_make_room(struct block_buffer *buffer, size_t length);

/* Whether buffer->block is as it was packed. */
bool block_is_whole(const struct block_buffer *buffer);

/* Unpacks buffer->block, of rows of `width` numbers: number i of its row r goes to values[i *
 * stride + r]. Returns 0, -ENOMEM or -EBADMSG. */
int block_unpack_rows(struct block_buffer *buffer, uint64_t width, double *values, uint64_t stride);

/* Unpacks buffer->block into buffer->bytes. Returns 0, -ENOMEM or -EBADMSG. */
int block_unpack(struct block_buffer *buffer);

#endif
