/* What is shared by the parts that read modelDescription.xml: its elements (fmu_description.c), and
 * what they refer to (fmu_resolve.c). */
#ifndef HIL_FMU_READER_H
#define HIL_FMU_READER_H

#include "../../base/pool.h"
#include "../../base/xml.h"
#include "fmu_description.h"

/* A type to which variables refer. */
struct description_type {
    const char *name, *unit, *items;
    bool has_min, has_max;
    double min, max;
};

struct description_reader {
    struct hil_xml *xml;
    struct fmu_description *to;
    const struct hil_settings *settings;
    const struct hil_said *said;
    char section[32]; /* the element below the root that it is in */
    struct description_type *types;
    const char **units;
    unsigned type_count, unit_count;
    bool in_variable, in_type; /* the newest variable, or type, is being read */
};

/* Finds the types, units, sizes and settings of all variables. Returns 0, or a negative errno after
 * a message. */
int fmu_resolve(struct description_reader *reader);

#endif
