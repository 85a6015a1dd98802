#include "circuit.h"

#include <errno.h>
#include <math.h>

const struct hil_quantity circuit_parameters[CIRCUIT_PARAMETERS] = {
    {"inductance_h", "H", 47e-6, 1e-9, 1, HIL_TUNABLE | HIL_SPREAD, "inductance"},
    {"capacitance_f", "F", 470e-6, 1e-9, 1, HIL_TUNABLE | HIL_SPREAD, "capacitance"},
    {"inductor_resistance_ohm", "Ohm", 0.025, 0, 1e3, HIL_TUNABLE | HIL_SPREAD,
     "series resistance of the inductor"},
    {"switch_resistance_ohm", "Ohm", 0.015, 0, 1e3, HIL_TUNABLE | HIL_SPREAD,
     "on-resistance of either switch"},
    {"esr_ohm", "Ohm", 0.030, 0, 1e3, HIL_TUNABLE | HIL_SPREAD,
     "series resistance of the capacitor"},
    {"diode_drop_v", "V", 0, 0, 1e3, HIL_TUNABLE, "forward voltage of either switch's diode"},
    {"source_resistance_ohm", "Ohm", 0, 0, 1e3, HIL_TUNABLE, "resistance of the source"},
    {"saturation_current_a", "A", 0, 0, 1e6, HIL_TUNABLE,
     "current of the inductor beyond which it saturates; 0: it never does"},
    {"saturated_inductance_h", "H", 10e-6, 1e-9, 1, HIL_TUNABLE, "inductance beyond that current"},
    {"switching_frequency_hz", "Hz", 100e3, 1e3, 1e8, 0,
     "switching frequency; its period and the plant's must divide one another"},
    {"current_limit_a", "A", 1e6, 1e-3, 1e6, 0,
     "current at which the main switch turns off until the next cycle"},
    {"dead_time_s", "s", 0, 0, 1e-3, 0, "time with both switches off before each turns on"},
};

const struct hil_quantity circuit_inputs[CIRCUIT_INPUTS] = {
    {"duty", "", 0, 0, 1, HIL_REQUIRED, "share of the switching period with the main switch on"},
    {"input_voltage_v", "V", 48, 0, 1e5, 0, "voltage of the source"},
    {"load_ohm", "Ohm", 2.4, 1e-3, 1e9, HIL_SPREAD, "resistance of the load"},
    {"enable", "", 1, 0, 1, HIL_ENABLE, "below 0.5 all gates are off and only diodes conduct"},
};

const struct hil_quantity circuit_outputs[CIRCUIT_OUTPUTS] = {
    {"voltage_v", "V", 0, -INFINITY, INFINITY, 0, "voltage across the load"},
    {"current_a", "A", 0, -INFINITY, INFINITY, 0, "current of the inductor"},
    {"input_current_a", "A", 0, -INFINITY, INFINITY, 0,
     "current from the source; with the switching resolved, its mean over the step"},
};

const struct hil_quantity circuit_states[CIRCUIT_STATES] = {
    {"current_a", "A", 0, -1e6, 1e6, 0, "current of the inductor"},
    {"voltage_v", "V", 0, -1e6, 1e6, 0, "voltage of the capacitor, without its resistance"},
};

/* The inductor always feeds the output. The source drives the inductor while the main switch is on.
 */
const struct circuit_topology circuit_buck = {.source = {0, 1}, .feeding = {1, 1}};

/* The source always drives the inductor. The inductor feeds the output while the main switch is
 * off. */
const struct circuit_topology circuit_boost = {.source = {1, 1}, .feeding = {1, 0}};

/* The source drives the inductor while the main switch is on. The inductor feeds the output while
 * it is off. */
const struct circuit_topology circuit_buck_boost = {.source = {0, 1}, .feeding = {1, 0}};

static void circuit_add_resistances(struct circuit *circuit)
{
    circuit->resistance_ohm = circuit->inductor_ohm + circuit->switch_ohm;
}

void circuit_init(struct circuit *circuit, const struct hil_config *config)
{
    const double *parameters = config->parameters;

    *circuit = (struct circuit){
        .inductance_h = parameters[CIRCUIT_INDUCTANCE],
        .capacitance_f = parameters[CIRCUIT_CAPACITANCE],
        .inductor_ohm = parameters[CIRCUIT_INDUCTOR_RESISTANCE],
        .switch_ohm = parameters[CIRCUIT_SWITCH_RESISTANCE],
        .esr_ohm = parameters[CIRCUIT_ESR],
        .diode_v = parameters[CIRCUIT_DIODE_DROP],
        .source_ohm = parameters[CIRCUIT_SOURCE_RESISTANCE],
        .saturation_a = parameters[CIRCUIT_SATURATION_CURRENT],
        .saturated_h = parameters[CIRCUIT_SATURATED_INDUCTANCE],
        .log = config->log,
        .log_arg = config->log_arg,
    };
    circuit_add_resistances(circuit);
}

int circuit_tune(struct circuit *circuit, uint32_t place, double value)
{
    double *const tunable[] = {
        [CIRCUIT_INDUCTANCE] = &circuit->inductance_h,
        [CIRCUIT_CAPACITANCE] = &circuit->capacitance_f,
        [CIRCUIT_INDUCTOR_RESISTANCE] = &circuit->inductor_ohm,
        [CIRCUIT_SWITCH_RESISTANCE] = &circuit->switch_ohm,
        [CIRCUIT_ESR] = &circuit->esr_ohm,
        [CIRCUIT_DIODE_DROP] = &circuit->diode_v,
        [CIRCUIT_SOURCE_RESISTANCE] = &circuit->source_ohm,
        [CIRCUIT_SATURATION_CURRENT] = &circuit->saturation_a,
        [CIRCUIT_SATURATED_INDUCTANCE] = &circuit->saturated_h,
    };

    if (place >= sizeof tunable / sizeof tunable[0])
        return -EDOM;
    *tunable[place] = value;
    circuit_add_resistances(circuit);
    return 0;
}

void circuit_voltage(double c[CIRCUIT_STATES], const struct circuit *circuit, double feeding,
                     double load_ohm)
{
    const double divider = load_ohm * (1 / (load_ohm + circuit->esr_ohm)); /* R g */

    c[CIRCUIT_CURRENT] = divider * feeding * circuit->esr_ohm;
    c[CIRCUIT_VOLTAGE] = divider;
}

void circuit_equations(struct linear *equations, const struct circuit *circuit, double source,
                       double feeding, double load_ohm)
{
    const double per_l = 1 / circuit->inductance_h;
    const double per_c = 1 / circuit->capacitance_f;
    const double g = 1 / (load_ohm + circuit->esr_ohm);
    const double divider = load_ohm * g;
    const double resistance = circuit->resistance_ohm + feeding * divider * circuit->esr_ohm +
                              source * circuit->source_ohm;

    *equations = (struct linear){
        .a = {{-resistance * per_l, -feeding * divider * per_l},
              {feeding * divider * per_c, -g * per_c}},
        .b = {per_l, 0},
    };
}
