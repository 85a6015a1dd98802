/*
 * The circuit that all converters here share: a source, an inductor, and a capacitor with
 * the load across it. Topologies differ only in when the switches let the source drive the
 * inductor, and when the inductor feeds the output.
 *
 *      L iL' = source Vin - r iL - feeding vo          r = inductor + switch resistance
 *      C vC' = g (feeding R iL - vC)                   g = 1 / (R + ESR)
 *      vo    = R g (vC + feeding ESR iL)
 *
 * source and feeding are 0 or 1 for the switches in one position, or the shares of a
 * switching period that they spend there: the averaged model. With synchronous switches the
 * conduction is continuous, and the current may reverse; a diode (switched.h) does not let it.
 */
#ifndef HILOCO_PLANTS_CIRCUIT_H
#define HILOCO_PLANTS_CIRCUIT_H

#include "linear.h"
#include "model.h"

/* The rows of each table, in order. Each model stops before the first parameter that it lacks. */
enum {
    CIRCUIT_INDUCTANCE,
    CIRCUIT_CAPACITANCE,
    CIRCUIT_INDUCTOR_RESISTANCE,
    CIRCUIT_SWITCH_RESISTANCE,
    CIRCUIT_ESR,
    CIRCUIT_SWITCHING_FREQUENCY,
    CIRCUIT_CURRENT_LIMIT,
    CIRCUIT_DEAD_TIME,
    CIRCUIT_PARAMETERS,
};
enum { CIRCUIT_DUTY, CIRCUIT_INPUT_VOLTAGE, CIRCUIT_LOAD, CIRCUIT_INPUTS };
enum { CIRCUIT_OUT_VOLTAGE, CIRCUIT_OUT_CURRENT, CIRCUIT_OUTPUTS };
enum { CIRCUIT_CURRENT, CIRCUIT_VOLTAGE, CIRCUIT_STATES }; /* iL and vC: the vector x */

extern const struct hil_quantity circuit_parameters[CIRCUIT_PARAMETERS];
extern const struct hil_quantity circuit_inputs[CIRCUIT_INPUTS];
extern const struct hil_quantity circuit_outputs[CIRCUIT_OUTPUTS];
extern const struct hil_quantity circuit_states[CIRCUIT_STATES];

/* What the switches do: with the main switch off, and with it on. */
struct circuit_topology {
    double source[2];  /* 1: the source drives the inductor */
    double feeding[2]; /* 1: the inductor feeds the output */
};

extern const struct circuit_topology circuit_buck, circuit_boost, circuit_buck_boost;

struct circuit {
    double inductance_h, capacitance_f;
    double inductor_ohm, switch_ohm;
    double resistance_ohm; /* of both */
    double esr_ohm;
};

void circuit_init(struct circuit *circuit, const double *parameters);

/* As hil_model.tune, of the first parameters up to the ESR. */
int circuit_tune(struct circuit *circuit, uint32_t place, double value);

/* x' = a x + b u of the equations above, with u = source Vin. */
void circuit_equations(struct linear *equations, const struct circuit *circuit, double feeding,
                       double load_ohm);

/* vo = c x of the equations above. */
void circuit_voltage(double c[CIRCUIT_STATES], const struct circuit *circuit, double feeding,
                     double load_ohm);

/* The outputs in state x, given the c of circuit_voltage. */
static inline void circuit_output(double *out, const double *c, const double *x)
{
    out[CIRCUIT_OUT_VOLTAGE] =
        c[CIRCUIT_CURRENT] * x[CIRCUIT_CURRENT] + c[CIRCUIT_VOLTAGE] * x[CIRCUIT_VOLTAGE];
    out[CIRCUIT_OUT_CURRENT] = x[CIRCUIT_CURRENT];
}

#endif
