/* The calling thread's context, and its table of contexts by manager. */
#include "../loco/fabric/context.h"

__thread struct loco_context loco_context;

static _Thread_local void *own_table[LOCO_MANAGERS_MAX];

void **loco_context_table(void)
{
    if (!loco_context.table)
        loco_context.table = own_table;
    return loco_context.table;
}
