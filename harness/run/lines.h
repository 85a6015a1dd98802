/*
 * Memory at whole cache lines, zero. What a step touches of each thing comes first there, and is
 * seldom more than a line or two: a core's first cache has some five hundred, for all its nodes.
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

/* To be freed with free(); NULL: there is no memory. */
static inline void *hil_lines_new(size_t size)
{
    void *lines = aligned_alloc(HIL_LINE, hil_whole_lines(size));

    return lines ? memset(lines, 0, hil_whole_lines(size)) : NULL;
}

#endif
