#include "list.h"

#include <stdbool.h>
#include <stdlib.h>

/* The room is the least power of two that the count has reached, and FIRST at first. */
void *hil_list_more(void *at, size_t count, size_t size)
{
    enum { FIRST = 8 };
    const bool full = count == 0 || (count >= FIRST && (count & (count - 1)) == 0);

    return full ? reallocarray(at, count ? 2 * count : FIRST, size) : at;
}
