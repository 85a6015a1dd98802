/* The model of the FMU that contains this library. */
#ifndef HIL_EXPORT_FMU_MODEL_H
#define HIL_EXPORT_FMU_MODEL_H

#include "../../../plants/model.h"
#include "label.h"

/* Reads the label beside this library, and finds its model. Returns 0, or a negative errno with a
 * message in `text`. */
int hil_fmu_model_find(const struct hil_model **model, struct hil_fmu_label *label, char *text,
                       size_t size);

#endif
