/*
 * An FMU's label: a file beside its binary that names its model. Thanks to the label one binary,
 * which hiloco ships, serves all models, and an export needs no compiler.
 */
#ifndef HIL_EXPORT_FMU_LABEL_H
#define HIL_EXPORT_FMU_LABEL_H

#include <stddef.h>
#include <stdint.h>

enum { HIL_FMU_NAME_BYTES = 128, HIL_FMU_TOKEN_BYTES = 40 };

struct hil_fmu_label {
    char model[HIL_FMU_NAME_BYTES];  /* a built-in model, or the shared library or the netlist
                                      * beside the binary: "NAME.so", "NAME.cir" */
    unsigned width;                  /* of the component */
    uint64_t period_ns;              /* unless the parameter step_size_s says otherwise */
    char token[HIL_FMU_TOKEN_BYTES]; /* guid, instantiationToken; without blanks */
};

/* Writes the label as text, cut at `size`. Returns its length. */
size_t hil_fmu_label_text(const struct hil_fmu_label *label, char *text, size_t size);

/* Returns 0 or a negative errno: -EINVAL when the file is not a label. */
int hil_fmu_label_read(struct hil_fmu_label *label, const char *path);

#endif
