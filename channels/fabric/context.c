#include "context.h"

_Thread_local void **loco_context;

static _Thread_local void *own_table[LOCO_MANAGERS_MAX];

void **loco_context_table(void)
{
    if (!loco_context)
        loco_context = own_table;
    return loco_context;
}
