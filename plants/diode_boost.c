/* The boost with a diode in place of the second switch. */
#include "models.h"
#include "switched.h"

static int diode_boost_create(void **self, const struct hil_config *config)
{
    return switched_create(self, &circuit_boost, SWITCHED_DIODE, config);
}

const struct hil_model model_diode_boost = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "diode_boost",
    .doc = "Boost converter with a diode, so with discontinuous conduction, its switching resolved",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_FIRST_QUANTITIES(circuit_parameters, CIRCUIT_DEAD_TIME),
    .inputs = HIL_QUANTITIES(circuit_inputs),
    .outputs = HIL_QUANTITIES(circuit_outputs),
    .states = HIL_QUANTITIES(circuit_states),
    .create = diode_boost_create,
    .output = switched_output,
    .step = switched_step,
    .destroy = instance_destroy,
    .tune = switched_tune,
};
