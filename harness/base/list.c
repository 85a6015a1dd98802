#include "list.h"

#include <stdlib.h>

size_t hil_list_grown(size_t count)
{
    enum { FIRST = 4 };

    if (count < FIRST)
        return count == 0 ? FIRST : 0;
    return (count & (count - 1)) == 0 ? 2 * count : 0;
}

void *hil_list_more(void *at, size_t count, size_t size)
{
    const size_t grown = hil_list_grown(count);

    return grown ? reallocarray(at, grown, size) : at;
}
