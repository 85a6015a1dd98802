#include "plant.h"

#include <stddef.h>
#include <string.h>

#include "models.h"

const struct plant_model *const plant_models[] = {
    &plant_buck, &plant_boost, &plant_buck_boost, &plant_switched_buck, NULL,
};

const struct plant_model *plant_model_find(const char *name)
{
    for (const struct plant_model *const *model = plant_models; *model; model++)
        if (strcmp((*model)->name, name) == 0)
            return *model;
    return NULL;
}
