/* Memory that is freed all at once. Allocations are zeroed. */
#ifndef HIL_POOL_H
#define HIL_POOL_H

#include <stddef.h>

struct hil_pool;

/* A new pool, or NULL. */
struct hil_pool *hil_pool_open(void);
void hil_pool_close(struct hil_pool *pool);

/* An array of `count` items, or NULL when memory runs out. An array of 0 items is not NULL. */
void *hil_pool_get(struct hil_pool *pool, size_t count, size_t size);

/* Makes room for one item after the `count` items at `at`, which is NULL or from an earlier call.
 * Returns the same array, or a longer copy; NULL when memory runs out. */
void *hil_pool_more(struct hil_pool *pool, void *at, size_t count, size_t size);

char *hil_pool_text(struct hil_pool *pool, const char *text);

#endif
