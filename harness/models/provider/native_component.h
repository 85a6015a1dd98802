/* Components of a model from a shared library. Each has a private copy of the library. */
#ifndef HIL_NATIVE_COMPONENT_H
#define HIL_NATIVE_COMPONENT_H

#include "../../../plants/model.h"

struct hil_native {
    struct hil_model model; /* that of the library, with functions that use the private copies */
    const char *path;
    int image; /* of private_copy.h */
};

/* Makes the model from the library's own. The path must stay valid. Returns 0 or a negative errno.
 */
int hil_native_open(struct hil_native *native, const char *path, const struct hil_model *original);
void hil_native_close(struct hil_native *native);

#endif
