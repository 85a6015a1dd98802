/*
 * The power_controller form of a scenario: which signals of the models it connects, and which
 * models fit. It makes an instance of the law for each converter:
 *
 *      reference ------> reference_v +-----+ duty ---> duty +-------+ voltage_v ---+
 *                 +----> voltage_v   | law |                | plant | current_a --+|
 *                 |+---> current_a   +-----+                +-------+             ||
 *                 |+--------------------------------------------------------------+|
 *                 +----------------------------------------------------------------+
 *
 * The plant's other inputs have constants from converters.parameters; load: and input_voltage: may
 * change load_ohm and input_voltage_v.
 */
#ifndef HIL_SCENARIO_FORM_H
#define HIL_SCENARIO_FORM_H

#include <stdbool.h>

#include "../models/models.h"

/* Whether a model can be the plant, or the law. If not, `why` says what is in the way: "it has no
 * output voltage_v". */
enum { SCENARIO_WHY_BYTES = 256 };
bool scenario_plant_fits(const struct hil_model *model, char why[SCENARIO_WHY_BYTES]);
bool scenario_law_fits(const struct hil_model *model, char why[SCENARIO_WHY_BYTES]);

/* The model called so that fits; NULL where there is none, or no name. */
const struct hil_model *scenario_plant_named(const char *name);
const struct hil_model *scenario_law_named(const char *name);

/* The input of a plant that the law feeds: not among converters.parameters. */
bool scenario_is_duty(const char *input);

/* A parameter of a law that controller.limits has: not among controller.gains. */
bool scenario_is_limit(const char *parameter);

#endif
