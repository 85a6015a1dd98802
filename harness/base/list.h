/* Lists that grow. */
#ifndef HIL_BASE_LIST_H
#define HIL_BASE_LIST_H

#include <stddef.h>

/* The capacity to which an array of `count` items must grow for one more; 0: there is room. The
 * capacity is always the least power of two that holds `count` items (at least 4), so nobody has to
 * store it. */
size_t hil_list_grown(size_t count);

/* Makes room for one more than the `count` items at `at`, which is NULL or came from this function.
 * Returns the same list or a longer copy, to be freed with free(); or NULL if memory is out, and
 * then `at` is unchanged. */
void *hil_list_more(void *at, size_t count, size_t size);

#endif
