#include "fmu.h"

void *fmu_place(void *self, uint32_t vr, enum fmu_type type, size_t *count)
{
    for (size_t i = 0; i < fmu_model.count; i++) {
        const struct fmu_variable *v = &fmu_model.variables[i];
        if (v->vr != vr || v->type != type)
            continue;
        *count = v->sized ? *(const uint64_t *)((const char *)self + v->sized) : v->count;
        return (char *)self + v->offset;
    }
    return NULL;
}
