/* Makes and ends components. A model's code that is not hiloco's own may change the state of the
 * process, and print; neither reaches the rest of the program. */
#ifndef HIL_COMPONENT_H
#define HIL_COMPONENT_H

#include "../../plants/model.h"
#include "../base/process_state.h"

/* Like create() and destroy() of config->model, and of the model. */
int hil_component_create(void **self, const struct hil_config *config);
void hil_component_destroy(const struct hil_model *model, void *self);

/* For other calls of such code, such as loading it. Calls cannot be nested. */
void hil_foreign_code_begin(struct hil_process_state *before);
void hil_foreign_code_end(struct hil_process_state *before);

#endif
