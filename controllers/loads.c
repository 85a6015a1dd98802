/*
 * Loads of a converter that are no resistors: what the load takes at a voltage, as the current, and
 * as the resistance of that moment for a model whose load is a resistance.
 *
 *      constant power      i = P / v, so a higher voltage draws less: it takes damping away
 *      constant current    i = I
 *
 * Below the least voltage each is the resistor that it is at that voltage, as a start needs.
 */
#include "block.h"

static void load_take(double amperes, double least_v, double v, double *out)
{
    const double at = greatest_of(fabs(v), least_v);

    /* A load that takes nothing is the greatest resistance that a converter accepts. */
    out[1] = least_within(at / greatest_of(amperes, 1e-12), 1e-3, 1e9);
    out[0] = fabs(v) >= least_v ? copysign(amperes, v) : v / out[1];
}

static int constant_power_load_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const double least_v = ((const struct block *)self)->parameters[0];

    (void)t_ns;
    load_take(in[1] / greatest_of(fabs(in[0]), least_v), least_v, in[0], out);
    return 0;
}

static int constant_current_load_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const double least_v = ((const struct block *)self)->parameters[0];

    (void)t_ns;
    load_take(in[1], least_v, in[0], out);
    return 0;
}

static const struct hil_quantity load_parameters[] = {
    {"least_voltage_v", "V", 1, 1e-6, 1e6, HIL_TUNABLE, "below this it is a resistor"},
};

static const struct hil_quantity power_inputs[] = {
    {"voltage_v", "V", 0, -INFINITY, INFINITY, HIL_REQUIRED, "across the load"},
    {"power_w", "W", 100, 0, 1e9, 0, "that it takes"},
};

static const struct hil_quantity current_inputs[] = {
    {"voltage_v", "V", 0, -INFINITY, INFINITY, HIL_REQUIRED, "across the load"},
    {"load_a", "A", 1, 0, 1e6, 0, "that it takes"},
};

static const struct hil_quantity load_table[] = {
    {"current_a", "A", 0, -INFINITY, INFINITY, 0, "into the load"},
    {"load_ohm", "Ohm", 1e9, -INFINITY, INFINITY, 0, "the resistance of that moment"},
};

BLOCK_MODEL(constant_power_load, "Load of constant power", 1, power_inputs, load_table,
            BLOCK_TUNABLE(load_parameters));
BLOCK_MODEL(constant_current_load, "Load of constant current", 1, current_inputs, load_table,
            BLOCK_TUNABLE(load_parameters));
