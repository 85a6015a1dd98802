#include "component.h"

#include <pthread.h>

#include "models.h"
#include "provider/prints.h"

/* Threads share most of the state. */
static pthread_mutex_t foreign_lock = PTHREAD_MUTEX_INITIALIZER;

void hil_foreign_code_begin(struct hil_process_state *before)
{
    pthread_mutex_lock(&foreign_lock);
    hil_prints_away();
    hil_process_state_keep(before);
}

void hil_foreign_code_end(struct hil_process_state *before)
{
    hil_process_state_restore(before);
    hil_prints_back();
    pthread_mutex_unlock(&foreign_lock);
}

int hil_component_create(void **self, const struct hil_config *config)
{
    struct hil_process_state before;

    if (!hil_loaded_of(config->model))
        return config->model->create(self, config);
    hil_foreign_code_begin(&before);
    const int rc = config->model->create(self, config);
    hil_foreign_code_end(&before);
    return rc;
}

void hil_component_destroy(const struct hil_model *model, void *self)
{
    struct hil_process_state before;

    if (!hil_loaded_of(model)) {
        model->destroy(self);
        return;
    }
    hil_foreign_code_begin(&before);
    model->destroy(self);
    hil_foreign_code_end(&before);
}
