/*
 * The circuit that all converters here share: a source, an inductor, and a capacitor with the load
 * across it. The topologies differ only in which switch positions connect the source to the
 * inductor, and which connect the inductor to the output.
 *
 *      L iL' = source (Vin - Rs iL) - r iL - feeding vo    r = inductor + switch resistance
 *      C vC' = g (feeding R iL - vC)                       g = 1 / (R + ESR)
 *      vo    = R g (vC + feeding ESR iL)
 *      ii    = source iL                                   the current from the source
 *
 * A diode that conducts takes its drop from the voltage at the inductor. Beyond the saturation
 * current, L is the inductance of the saturated core for any further change of the current.
 *
 *                  main switch on          main switch off
 *                  source    feeding       source    feeding
 *      buck          1          1             0         1
 *      boost         1          0             1         1
 *      buck-boost    1          0             0         1
 *
 * For one switch position, `source` and `feeding` are 0 or 1. In the averaged model they are the
 * shares of a switching period for which each connection exists. With synchronous switches the
 * conduction is continuous and the current may reverse; a diode (stretch.h) prevents that.
 */
#ifndef HILOCO_PLANTS_CIRCUIT_H
#define HILOCO_PLANTS_CIRCUIT_H

#include <stdbool.h>

#include "linear.h"
#include "model.h"

/* The rows of the tables, in order. A model that lacks some parameters uses only the rows before
 * the first of them. */
enum {
    CIRCUIT_INDUCTANCE,
    CIRCUIT_CAPACITANCE,
    CIRCUIT_INDUCTOR_RESISTANCE,
    CIRCUIT_SWITCH_RESISTANCE,
    CIRCUIT_ESR,
    CIRCUIT_DIODE_DROP,
    CIRCUIT_SOURCE_RESISTANCE,
    CIRCUIT_SATURATION_CURRENT,
    CIRCUIT_SATURATED_INDUCTANCE,
    CIRCUIT_SWITCHING_FREQUENCY,
    CIRCUIT_CURRENT_LIMIT,
    CIRCUIT_DEAD_TIME,
    CIRCUIT_PARAMETERS,
};
enum { CIRCUIT_DUTY, CIRCUIT_INPUT_VOLTAGE, CIRCUIT_LOAD, CIRCUIT_ENABLE, CIRCUIT_INPUTS };
enum { CIRCUIT_OUT_VOLTAGE, CIRCUIT_OUT_CURRENT, CIRCUIT_OUT_INPUT_CURRENT, CIRCUIT_OUTPUTS };
/* The vector x: iL and vC, and the charge that came from the source in this step. */
enum {
    CIRCUIT_CURRENT,
    CIRCUIT_VOLTAGE,
    CIRCUIT_STATES,
    CIRCUIT_CHARGE = CIRCUIT_STATES,
    CIRCUIT_X
};

extern const struct hil_quantity circuit_parameters[CIRCUIT_PARAMETERS];
extern const struct hil_quantity circuit_inputs[CIRCUIT_INPUTS];
extern const struct hil_quantity circuit_outputs[CIRCUIT_OUTPUTS];
extern const struct hil_quantity circuit_states[CIRCUIT_STATES];

/* The connections that the switches make: [0] with the main switch off, [1] with it on. */
struct circuit_topology {
    double source[2];  /* 1: the source drives the inductor */
    double feeding[2]; /* 1: the inductor feeds the output */
};

extern const struct circuit_topology circuit_buck, circuit_boost, circuit_buck_boost;

struct circuit {
    double inductance_h, capacitance_f;
    double inductor_ohm, switch_ohm;
    double resistance_ohm; /* inductor_ohm + switch_ohm */
    double esr_ohm;
    double diode_v, source_ohm;
    double saturation_a, saturated_h; /* saturation_a 0: the inductor never saturates */
    hil_log_fn *log;
    void *log_arg;
};

void circuit_init(struct circuit *circuit, const struct hil_config *config);

/* Like hil_model.tune, for the parameters before the switching frequency. */
int circuit_tune(struct circuit *circuit, uint32_t place, double value);

/* x' = a x + b u of the equations above, with u = source Vin, and without saturation. */
void circuit_equations(struct linear *equations, const struct circuit *circuit, double source,
                       double feeding, double load_ohm);

/* vo = c x of the equations above. */
void circuit_voltage(double c[CIRCUIT_STATES], const struct circuit *circuit, double feeding,
                     double load_ohm);

/* Whether the gates are driven. Otherwise all of them are off, and only diodes conduct (stretch.h).
 */
static inline bool circuit_is_enabled(const double *in)
{
    return in[CIRCUIT_ENABLE] >= 0.5;
}

/* Whether the plant has what its first models had not, and its fast ways do not know. */
static inline bool circuit_is_plain(const struct circuit *circuit)
{
    return circuit->source_ohm == 0 && circuit->saturation_a == 0;
}

/* The outputs in state x, given the c of circuit_voltage and the current from the source. */
static inline void circuit_output(double *out, const double *c, const double *x, double input_a)
{
    out[CIRCUIT_OUT_VOLTAGE] =
        c[CIRCUIT_CURRENT] * x[CIRCUIT_CURRENT] + c[CIRCUIT_VOLTAGE] * x[CIRCUIT_VOLTAGE];
    out[CIRCUIT_OUT_CURRENT] = x[CIRCUIT_CURRENT];
    out[CIRCUIT_OUT_INPUT_CURRENT] = input_a;
}

#endif
