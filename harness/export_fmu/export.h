/* Makes an FMU of a model: FMI 2.0 or 3.0, co-simulation, for this kind of machine. */
#ifndef HIL_EXPORT_FMU_EXPORT_H
#define HIL_EXPORT_FMU_EXPORT_H

#include <stddef.h>
#include <stdint.h>

#include "../../plants/model.h"

struct hil_fmu_export {
    const struct hil_model *model;
    const char *library; /* the shared library that it is from; NULL: it is built in */
    uint64_t library_hash;
    int version; /* of FMI: 2 or 3 */
    unsigned width;
    uint64_t period_ns;
};

/* The model's name as an identifier of C, which the FMU's library has: "buck". */
void hil_fmu_identifier(const struct hil_model *model, char *identifier, size_t size);

/* Writes it to `path`: a whole file, or none. Returns 0, or a negative errno after it has written
 * what is wrong to `text`: -EINVAL or -EDOM where the model cannot be exported like that. */
int hil_fmu_export(const struct hil_fmu_export *export, const char *path, char *text, size_t size);

#endif
