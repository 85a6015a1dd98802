/* The averaged buck-boost converter. */
#include "averaged.h"
#include "models.h"

static int buck_boost_create(void **self, const struct hil_config *config)
{
    return averaged_create(self, &circuit_buck_boost, config);
}

const struct hil_model model_buck_boost = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "buck_boost",
    .doc =
        "Synchronous inverting buck-boost converter, averaged; gives the magnitude of its voltage",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_FIRST_QUANTITIES(circuit_parameters, CIRCUIT_SWITCHING_FREQUENCY),
    .inputs = HIL_QUANTITIES(circuit_inputs),
    .outputs = HIL_QUANTITIES(circuit_outputs),
    .states = HIL_QUANTITIES(circuit_states),
    .create = buck_boost_create,
    .output = averaged_output,
    .step = averaged_step,
    .destroy = instance_destroy,
    .tune = averaged_tune,
};
