/* Makes an FMU of a model: FMI 2.0 or 3.0, co-simulation, for this kind of machine. */
#ifndef HIL_EXPORT_FMU_EXPORT_H
#define HIL_EXPORT_FMU_EXPORT_H

#include <stddef.h>
#include <stdint.h>

#include "../../../plants/circuit/text.h"
#include "../../../plants/model.h"

struct hil_fmu_export {
    const struct hil_model *model;
    const char *library;            /* the shared library of the model, or NULL */
    const struct cir_text *netlist; /* of a circuit; NULL: the model is built in, or of a library */
    uint64_t hash;                  /* of the library or the netlist */
    int version;                    /* of FMI: 2 or 3 */
    unsigned width;
    uint64_t period_ns;
};

/* Derives a C identifier from the model's name for the FMU's library: "buck". */
void hil_fmu_identifier(const struct hil_model *model, char *identifier, size_t size);

/* Writes the FMU to `path`, either completely or not at all. Returns 0, or a negative errno with a
 * message in `text`: -EINVAL or -EDOM if the model cannot be exported in this way. */
int hil_fmu_export(const struct hil_fmu_export *export, const char *path, char *text, size_t size);

#endif
