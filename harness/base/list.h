/* Lists that grow. */
#ifndef HIL_BASE_LIST_H
#define HIL_BASE_LIST_H

#include <stddef.h>

/* To how many items an array of `count` grows for one more; 0: there is room. What is room is the
 * least power of two that the count has reached, so nobody keeps how much there is. */
size_t hil_list_grown(size_t count);

/* Room for one more than the `count` items at `at`, which is NULL or was given by this before: the
 * same list, or a longer one with the items in it, for free(); NULL when there is no memory, and
 * then `at` is as it was. */
void *hil_list_more(void *at, size_t count, size_t size);

#endif
