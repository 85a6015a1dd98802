#include "quantity.h"

#include <string.h>

int hil_quantity_find(const struct hil_quantities *table, const char *name)
{
    for (unsigned i = 0; i < table->count; i++)
        if (strcmp(table->at[i].name, name) == 0)
            return (int)i;
    return -1;
}
