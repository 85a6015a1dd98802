/*
 * Space-vector modulation of a two-level inverter, as duties of its three half-bridges: the phases'
 * voltages, shifted so that the highest and the lowest are equally far from the middle of the
 * supply. A vector of up to supply / sqrt(3) is linear; beyond that the duties are limited.
 */
#include "block.h"

static const double SQRT3 = 1.7320508075688772935;

static int space_vector_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const double v[] = {in[0], -in[0] / 2 + SQRT3 / 2 * in[1], -in[0] / 2 - SQRT3 / 2 * in[1]};
    const double middle =
        (greatest_of(greatest_of(v[0], v[1]), v[2]) + least_of(least_of(v[0], v[1]), v[2])) / 2;

    (void)self, (void)t_ns;
    for (unsigned i = 0; i < 3; i++)
        out[i] = in[2] > 0 ? least_within(0.5 + (v[i] - middle) / in[2], 0, 1) : 0.5;
    return 0;
}

static const struct hil_quantity space_vector_inputs[] = {
    {"alpha_v", "V", 0, -INFINITY, INFINITY, HIL_REQUIRED, "voltage along phase 1"},
    {"beta_v", "V", 0, -INFINITY, INFINITY, HIL_REQUIRED, "voltage a quarter turn ahead"},
    {"supply_v", "V", 0, -INFINITY, INFINITY, HIL_REQUIRED, "direct voltage of the inverter"},
};

static const struct hil_quantity space_vector_outputs[] = {
    {"duty_1", "", 0.5, -INFINITY, INFINITY, 0, "of the first phase's upper switch"},
    {"duty_2", "", 0.5, -INFINITY, INFINITY, 0, "of the second one's"},
    {"duty_3", "", 0.5, -INFINITY, INFINITY, 0, "of the third one's"},
};

BLOCK_MODEL(space_vector, "Space-vector modulation", 1, space_vector_inputs, space_vector_outputs);
