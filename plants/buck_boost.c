/* The buck-boost: the source drives the inductor while on, which feeds the output while off. */
#include "averaged.h"
#include "models.h"

static const struct averaged_topology topology = {
    .source = {0, 1},
    .feeding = {1, 0},
};

static int create(void **plant, const double *parameters, const double *states, double period_s)
{
    return averaged_create(plant, &topology, parameters, states, period_s);
}

const struct plant_model plant_buck_boost = {
    .abi = PLANT_ABI,
    .name = "buck_boost",
    .doc =
        "Synchronous inverting buck-boost converter, averaged; gives the magnitude of its voltage",
    .parameters = {circuit_parameters, CIRCUIT_SWITCHING_FREQUENCY},
    .inputs = HIL_QUANTITIES(circuit_inputs),
    .outputs = HIL_QUANTITIES(circuit_outputs),
    .states = HIL_QUANTITIES(circuit_states),
    .create = create,
    .output = averaged_output,
    .step = averaged_step,
    .destroy = averaged_destroy,
};
