#include "controller.h"

#include <stddef.h>
#include <string.h>

#include "duty.h"
#include "laws.h"

const struct hil_quantity controller_inputs[CONTROLLER_INPUTS] = {
    {"reference_v", "V", 0, -INFINITY, INFINITY, "voltage to give"},
    {"voltage_v", "V", 0, -INFINITY, INFINITY, "newest voltage"},
    {"current_a", "A", 0, -INFINITY, INFINITY, "newest inductor current"},
};

const struct controller_law *const controller_laws[] = {
    &controller_pid, &controller_pi, &controller_type3, &controller_state_feedback, NULL,
};

const struct controller_law *controller_law_find(const char *name)
{
    for (const struct controller_law *const *law = controller_laws; *law; law++)
        if (strcmp((*law)->name, name) == 0)
            return *law;
    return NULL;
}
