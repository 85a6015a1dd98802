/* The built-in continuous models, each in a file of its own. harness/models/builtin.c lists them.
 */
#ifndef HILOCO_PLANTS_MODELS_H
#define HILOCO_PLANTS_MODELS_H

#include "model.h"

/* Converters. */
extern const struct hil_model model_buck, model_boost, model_buck_boost, model_switched_buck;
extern const struct hil_model model_switched_boost, model_switched_buck_boost;
extern const struct hil_model model_dead_time_buck, model_diode_buck, model_diode_boost;
extern const struct hil_model model_series_bucks;

/* Machines and sources. */
extern const struct hil_model model_dc_motor, model_pmsm, model_pmsm_stator, model_battery;
extern const struct hil_model model_induction_machine, model_pv_array, model_super_capacitor;
extern const struct hil_model model_grid;

/* Signal blocks for any quantity. */
extern const struct hil_model model_integrator, model_first_order_lag, model_second_order_lag;

#endif
