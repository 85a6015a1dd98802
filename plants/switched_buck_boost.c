/* The synchronous buck-boost, with its switching resolved. */
#include "models.h"
#include "switched.h"

static int switched_buck_boost_create(void **self, const struct hil_config *config)
{
    return switched_create(self, &circuit_buck_boost, SWITCHED_SYNCHRONOUS, config);
}

const struct hil_model model_switched_buck_boost = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "switched_buck_boost",
    .doc = "Synchronous inverting buck-boost converter with its switching and dead time resolved; "
           "gives the magnitude of its voltage",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(circuit_parameters),
    .inputs = HIL_QUANTITIES(circuit_inputs),
    .outputs = HIL_QUANTITIES(circuit_outputs),
    .states = HIL_QUANTITIES(circuit_states),
    .create = switched_buck_boost_create,
    .output = switched_output,
    .step = switched_step,
    .destroy = instance_destroy,
    .tune = switched_tune,
};
