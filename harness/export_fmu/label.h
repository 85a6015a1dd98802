/*
 * An FMU's label: the file beside its binary that says which model is in it. So one binary, which
 * comes with hiloco, serves for all models, and exporting needs no compiler.
 */
#ifndef HIL_EXPORT_FMU_LABEL_H
#define HIL_EXPORT_FMU_LABEL_H

#include <stddef.h>
#include <stdint.h>

enum { HIL_FMU_NAME_BYTES = 128, HIL_FMU_TOKEN_BYTES = 40 };

struct hil_fmu_label {
    char model[HIL_FMU_NAME_BYTES];  /* built in, or the shared library beside it: "NAME.so" */
    unsigned width;                  /* of the component */
    uint64_t period_ns;              /* unless the parameter step_size_s says otherwise */
    char token[HIL_FMU_TOKEN_BYTES]; /* guid, instantiationToken; without blanks */
};

/* The label as text. Returns its length, cut at `size`. */
size_t hil_fmu_label_text(const struct hil_fmu_label *label, char *text, size_t size);

/* Returns 0 or a negative errno: -EINVAL when the file is no label. */
int hil_fmu_label_read(struct hil_fmu_label *label, const char *path);

#endif
