/* Lists that grow. */
#ifndef HIL_BASE_LIST_H
#define HIL_BASE_LIST_H

#include <stddef.h>

/* Room for one more than the `count` items at `at`, which is NULL or was given by this before: the
 * same list, or a longer one with the items in it, for free(); NULL when there is no memory, and
 * then `at` is as it was. A list is as long as its count says, so nobody keeps how much room there
 * is. */
void *hil_list_more(void *at, size_t count, size_t size);

#endif
