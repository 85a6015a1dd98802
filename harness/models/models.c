#include "models.h"

#include <string.h>

const struct hil_model *hil_model_find(const char *name)
{
    for (const struct hil_model *const *model = hil_models; *model; model++)
        if (strcmp((*model)->name, name) == 0)
            return *model;

    const struct hil_native *native = hil_native_find(name);
    return native ? native->model : NULL;
}
