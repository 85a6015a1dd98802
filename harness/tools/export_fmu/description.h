/* Writes modelDescription.xml, which describes an FMU in the terms of FMI 2.0 (section 2.2) or 3.0
 * (section 2.4). */
#ifndef HIL_EXPORT_FMU_DESCRIPTION_H
#define HIL_EXPORT_FMU_DESCRIPTION_H

#include <stdio.h>

#include "label.h"
#include "variables.h"

struct hil_fmu_description {
    const struct hil_model *model;
    const struct hil_fmu_variables *variables;
    const struct hil_fmu_label *label;
    const char *identifier; /* modelIdentifier: the name of the FMU's library */
    int version;            /* 2 or 3 */
};

/* Writes the description. Check the stream for errors afterwards. */
void hil_fmu_describe(FILE *to, const struct hil_fmu_description *description);

#endif
