#include "builtin.h"

#include <stddef.h>
#include <string.h>

#include "../../controllers/models.h"
#include "../../plants/models.h"

const struct hil_model *const hil_models[] = {
    &model_buck, &model_boost, &model_buck_boost, &model_switched_buck,
    &model_pid,  &model_pi,    &model_type3,      &model_state_feedback,
    NULL,
};

const struct hil_model *hil_model_find(const char *name)
{
    for (const struct hil_model *const *model = hil_models; *model; model++)
        if (strcmp((*model)->name, name) == 0)
            return *model;
    return NULL;
}
