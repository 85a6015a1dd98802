/* The synchronous buck with dead time: both switches are off before each one turns on. */
#include "models.h"
#include "switched.h"

static int dead_time_buck_create(void **self, const struct hil_config *config)
{
    return switched_create(self, &circuit_buck, SWITCHED_SYNCHRONOUS, config);
}

const struct hil_model model_dead_time_buck = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "dead_time_buck",
    .doc =
        "Synchronous buck converter with its switching and dead time resolved, and a current limit",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(circuit_parameters),
    .inputs = HIL_QUANTITIES(circuit_inputs),
    .outputs = HIL_QUANTITIES(circuit_outputs),
    .states = HIL_QUANTITIES(circuit_states),
    .create = dead_time_buck_create,
    .output = switched_output,
    .step = switched_step,
    .destroy = instance_destroy,
    .tune = switched_tune,
};
