/* The built-in sampled models. harness/models/builtin.c lists them. */
#ifndef HILOCO_CONTROLLERS_MODELS_H
#define HILOCO_CONTROLLERS_MODELS_H

#include "../plants/model.h"

/* Control laws for converters. */
extern const struct hil_model model_pid, model_pi, model_type3, model_state_feedback;

/* Control laws and signal blocks for any quantity. */
extern const struct hil_model model_generic_pid, model_generic_pi, model_lead_lag;
extern const struct hil_model model_gain, model_sum, model_saturation, model_delay;
extern const struct hil_model model_quantiser, model_noise, model_moving_average;
extern const struct hil_model model_startup;
extern const struct hil_model model_product, model_quotient, model_absolute;
extern const struct hil_model model_minimum, model_maximum;
extern const struct hil_model model_dead_band, model_hysteresis, model_rate_limiter;
extern const struct hil_model model_switch, model_sample_and_hold, model_edge_detector;
extern const struct hil_model model_counter, model_lookup;

/* Meters. */
extern const struct hil_model model_harmonics, model_power_meter, model_efficiency_meter;
extern const struct hil_model model_network_analyser;

/* Sensors and actuators. */
extern const struct hil_model model_adc, model_encoder, model_resolver, model_gate_driver;

/* Loads of a converter. */
extern const struct hil_model model_constant_power_load, model_constant_current_load;

/* Signals that come from nothing. */
extern const struct hil_model model_chirp, model_prbs, model_three_phase;

/* Three-phase and alternating signals. */
extern const struct hil_model model_clarke, model_inverse_clarke, model_park, model_inverse_park;
extern const struct hil_model model_pll, model_resonant, model_space_vector;

#endif
