/* The calling thread's context, and its table of contexts by manager. */
#include <pthread.h>
#include <stdlib.h>

#include "../loco/fabric/context.h"

__thread struct loco_context loco_context;

/* The key's value is the thread's table, which is freed when the thread ends. */
static pthread_key_t tables;
static pthread_once_t tables_made = PTHREAD_ONCE_INIT;
static bool tables_are_freed;

static void context_free_table(void *table)
{
    if (loco_context.table == table)
        loco_context.table = NULL;
    free(table);
}

static void context_make_key(void)
{
    tables_are_freed = pthread_key_create(&tables, context_free_table) == 0;
}

/* So that no thread's end calls into a library that was unloaded. */
__attribute__((destructor)) static void context_forget_key(void)
{
    if (tables_are_freed)
        pthread_key_delete(tables);
}

void **loco_context_table(void)
{
    if (loco_context.table)
        return loco_context.table;
    pthread_once(&tables_made, context_make_key);
    void **table = tables_are_freed ? calloc(LOCO_MANAGERS_MAX, sizeof *table) : NULL;
    if (table && pthread_setspecific(tables, (const void *)table)) {
        free((void *)table);
        table = NULL;
    }
    loco_context.table = table;
    return table;
}
