/*
 * Zeroed memory in whole cache lines. In each struct the fields that a step touches come first, and
 * seldom fill more than one or two lines: a core's first-level cache has about five hundred lines
 * for all its nodes.
 */
#ifndef HIL_LINES_H
#define HIL_LINES_H

#include <stdlib.h>
#include <string.h>

enum { HIL_LINE = 64 };

static inline size_t hil_whole_lines(size_t size)
{
    return (size + HIL_LINE - 1) / HIL_LINE * HIL_LINE;
}

/* Prefetches a line to read it. The empty asm is an effect: gcc removes calls of functions that
 * only prefetch. */
static inline void hil_line_fetch(const void *line)
{
    __builtin_prefetch(line);
    __asm__ volatile("");
}

/* Freed with free(). Returns NULL if memory is out. */
static inline void *hil_lines_new(size_t size)
{
    void *lines = aligned_alloc(HIL_LINE, hil_whole_lines(size));

    return lines ? memset(lines, 0, hil_whole_lines(size)) : NULL;
}

#endif
