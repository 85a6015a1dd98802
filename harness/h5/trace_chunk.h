/*
 * Packs numbers as HDF5's filters of a trace do, which are shuffling and deflating, by several
 * threads. HDF5 itself has only one.
 */
#ifndef HIL_TRACE_CHUNK_H
#define HIL_TRACE_CHUNK_H

#include <stddef.h>
#include <stdint.h>

enum { TRACE_DEFLATE_LEVEL = 1 };

/* The most numbers that are packed in one call. */
enum { TRACE_NUMBERS = 64 };

struct trace_packed {
    unsigned char *at;
    size_t bytes;
};

/* Packs the values of `numbers` numbers, `count` values each, side by side in `values`. Each of
 * packed[] is freed by trace_packed_free. Returns 0 or -ENOMEM. */
int trace_pack(struct trace_packed packed[], const double *values, size_t count, unsigned numbers,
               unsigned threads);

void trace_packed_free(struct trace_packed packed[], unsigned numbers);

#endif
