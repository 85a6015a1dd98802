#include "builtin.h"

#include <stddef.h>

#include "../../controllers/models.h"
#include "../../controllers/pid_law.h"
#include "../../plants/models.h"

const struct hil_model *const hil_models[] = {
    /* plants/ */
    &model_buck,
    &model_boost,
    &model_buck_boost,
    &model_switched_buck,
    &model_switched_boost,
    &model_switched_buck_boost,
    &model_dead_time_buck,
    &model_diode_buck,
    &model_diode_boost,
    &model_series_bucks,
    &model_dc_motor,
    &model_pmsm,
    &model_pmsm_stator,
    &model_induction_machine,
    &model_battery,
    &model_super_capacitor,
    &model_pv_array,
    &model_grid,
    &model_integrator,
    &model_first_order_lag,
    &model_second_order_lag,
    /* controllers/ */
    &model_pid,
    &model_pi,
    &model_type3,
    &model_state_feedback,
    &model_generic_pid,
    &model_generic_pi,
    &model_lead_lag,
    &model_gain,
    &model_sum,
    &model_saturation,
    &model_delay,
    &model_quantiser,
    &model_noise,
    &model_moving_average,
    &model_startup,
    &model_product,
    &model_quotient,
    &model_absolute,
    &model_minimum,
    &model_maximum,
    &model_dead_band,
    &model_hysteresis,
    &model_rate_limiter,
    &model_switch,
    &model_sample_and_hold,
    &model_edge_detector,
    &model_counter,
    &model_lookup,
    &model_clarke,
    &model_inverse_clarke,
    &model_park,
    &model_inverse_park,
    &model_pll,
    &model_resonant,
    &model_space_vector,
    &model_harmonics,
    &model_power_meter,
    &model_efficiency_meter,
    &model_network_analyser,
    &model_adc,
    &model_encoder,
    &model_resolver,
    &model_gate_driver,
    &model_constant_power_load,
    &model_constant_current_load,
    &model_chirp,
    &model_prbs,
    &model_three_phase,
    NULL,
};

hil_row_step *hil_row_step_of(const struct hil_model *model)
{
    return model->step == pid_law_step          ? pid_law_step_row
           : model->step == pid_law_step_enable ? pid_law_step_enable_row
                                                : NULL;
}

bool hil_model_is_short(const struct hil_model *model)
{
    static const struct hil_model *const shorts[] = {
        &model_buck,       &model_boost,           &model_buck_boost,
        &model_integrator, &model_first_order_lag, &model_second_order_lag,
    };

    for (unsigned i = 0; i < sizeof shorts / sizeof shorts[0]; i++)
        if (model == shorts[i])
            return true;
    return false;
}
