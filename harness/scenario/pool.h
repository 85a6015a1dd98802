/* Memory that is given back all at once. What it gives is zero. */
#ifndef HIL_POOL_H
#define HIL_POOL_H

#include <stddef.h>

struct hil_pool;

/* A new one, or NULL. */
struct hil_pool *hil_pool_open(void);
void hil_pool_close(struct hil_pool *pool);

/* An array of `count` items, or NULL when there is no memory. An array of none is not NULL. */
void *hil_pool_get(struct hil_pool *pool, size_t count, size_t size);

/* Room for one more than the `count` items at `at`, which is NULL or was given by this before: the
 * same array, or a longer one with the items in it; NULL when there is no memory. */
void *hil_pool_more(struct hil_pool *pool, void *at, size_t count, size_t size);

char *hil_pool_text(struct hil_pool *pool, const char *text);

#endif
