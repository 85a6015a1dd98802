/*
 * The converters: each is a topology of the circuit in circuit.h, averaged over the switching
 * period (averaged.h), or with its switching resolved (switched.h). The switched buck has a file of
 * its own.
 */
#include "averaged.h"
#include "models.h"
#include "switched.h"

#define CONVERTER(name_, output_, step_, tune_, numbers_, rows_, doc_)                             \
    const struct hil_model model_##name_ = {                                                       \
        .abi = HIL_MODEL_ABI,                                                                      \
        .size = sizeof(struct hil_model),                                                          \
        .name = #name_,                                                                            \
        .doc = doc_,                                                                               \
        .kind = HIL_CONTINUOUS,                                                                    \
        .width_max = 1,                                                                            \
        .parameters = HIL_FIRST_QUANTITIES(circuit_parameters, rows_),                             \
        .inputs = HIL_QUANTITIES(circuit_inputs),                                                  \
        .outputs = HIL_QUANTITIES(circuit_outputs),                                                \
        .states = HIL_QUANTITIES(circuit_states),                                                  \
        .create = name_##_create,                                                                  \
        .output = output_,                                                                         \
        .step = step_,                                                                             \
        .destroy = instance_destroy,                                                               \
        .tune = tune_,                                                                             \
        .numbers = numbers_,                                                                       \
    };

#define AVERAGED(name_, topology_, doc_)                                                           \
    static int name_##_create(void **self, const struct hil_config *config)                        \
    {                                                                                              \
        return averaged_create(self, &topology_, config);                                          \
    }                                                                                              \
    CONVERTER(name_, averaged_output, averaged_step, averaged_tune, averaged_numbers,              \
              CIRCUIT_SWITCHING_FREQUENCY, doc_)

#define SWITCHED(name_, topology_, rectifier_, rows_, doc_)                                        \
    static int name_##_create(void **self, const struct hil_config *config)                        \
    {                                                                                              \
        return switched_create(self, &topology_, rectifier_, config);                              \
    }                                                                                              \
    CONVERTER(name_, switched_output, switched_step, switched_tune, switched_numbers, rows_, doc_)

/* clang-format off */
AVERAGED(buck, circuit_buck,
         "Synchronous buck converter, averaged")
AVERAGED(boost, circuit_boost,
         "Synchronous boost converter, averaged")
AVERAGED(buck_boost, circuit_buck_boost,
         "Synchronous inverting buck-boost converter, averaged; gives the magnitude of its voltage")
SWITCHED(switched_boost, circuit_boost, SWITCHED_SYNCHRONOUS, CIRCUIT_PARAMETERS,
         "Synchronous boost converter with its switching and dead time resolved")
SWITCHED(switched_buck_boost, circuit_buck_boost, SWITCHED_SYNCHRONOUS, CIRCUIT_PARAMETERS,
         "Synchronous inverting buck-boost converter with its switching and dead time resolved; "
         "gives the magnitude of its voltage")
SWITCHED(dead_time_buck, circuit_buck, SWITCHED_SYNCHRONOUS, CIRCUIT_PARAMETERS,
         "Synchronous buck converter with its switching and dead time resolved, and a current limit")
SWITCHED(diode_buck, circuit_buck, SWITCHED_DIODE, CIRCUIT_DEAD_TIME,
         "Buck converter with a diode, so with discontinuous conduction, its switching resolved")
SWITCHED(diode_boost, circuit_boost, SWITCHED_DIODE, CIRCUIT_DEAD_TIME,
         "Boost converter with a diode, so with discontinuous conduction, its switching resolved")
/* clang-format on */
