/*
 * Frames of three-phase quantities. Clarke's transform goes from the phases 1, 2, 3 (a, b, c below)
 * to the stator frame alpha, beta and the common part zero; Park's from there to the frame d, q
 * that has turned by an angle. Amplitudes stay as they are: a sine of amplitude 1 in each phase is
 * a vector of length 1.
 *
 *      alpha = (2 a - b - c) / 3     beta = (b - c) / sqrt(3)     zero = (a + b + c) / 3
 *      d = alpha cos(angle) + beta sin(angle)     q = beta cos(angle) - alpha sin(angle)
 */
#include "block.h"

static const double SQRT3 = 1.7320508075688772935;

static const struct hil_quantity phases_in[] = {
    BLOCK_INPUT("phase_1", "first phase"),
    BLOCK_INPUT("phase_2", "second phase, a third of a turn later"),
    BLOCK_INPUT("phase_3", "third phase")};
static const struct hil_quantity phases_out[] = {BLOCK_OUTPUT("phase_1", "first phase"),
                                                 BLOCK_OUTPUT("phase_2", "second phase"),
                                                 BLOCK_OUTPUT("phase_3", "third phase")};
static const struct hil_quantity stator_out[] = {BLOCK_OUTPUT("alpha", "along phase 1"),
                                                 BLOCK_OUTPUT("beta", "a quarter turn ahead"),
                                                 BLOCK_OUTPUT("zero", "mean of the phases")};
static const struct hil_quantity stator_in[] = {
    BLOCK_INPUT("alpha", "along phase 1"),
    BLOCK_INPUT("beta", "a quarter turn ahead"),
    {"zero", "", 0, -INFINITY, INFINITY, 0, "mean of the phases"}};

#define ANGLE                                                                                      \
    {                                                                                              \
        "angle_rad", "rad", 0, -INFINITY, INFINITY, HIL_REQUIRED, "angle of d from alpha"          \
    }

static const struct hil_quantity park_inputs[] = {
    BLOCK_INPUT("alpha", "along phase 1"), BLOCK_INPUT("beta", "a quarter turn ahead"), ANGLE};
static const struct hil_quantity park_outputs[] = {BLOCK_OUTPUT("d", "along the angle"),
                                                   BLOCK_OUTPUT("q", "a quarter turn ahead")};
static const struct hil_quantity inverse_park_inputs[] = {
    BLOCK_INPUT("d", "along the angle"), BLOCK_INPUT("q", "a quarter turn ahead"), ANGLE};
static const struct hil_quantity inverse_park_outputs[] = {
    BLOCK_OUTPUT("alpha", "along phase 1"), BLOCK_OUTPUT("beta", "a quarter turn ahead")};

static int clarke_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    (void)self, (void)t_ns;
    out[0] = (2 * in[0] - in[1] - in[2]) / 3;
    out[1] = (in[1] - in[2]) / SQRT3;
    out[2] = (in[0] + in[1] + in[2]) / 3;
    return 0;
}

BLOCK_MODEL(clarke, "Clarke's transform, from three phases", 1, phases_in, stator_out);

static int inverse_clarke_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    (void)self, (void)t_ns;
    out[0] = in[0] + in[2];
    out[1] = -in[0] / 2 + SQRT3 / 2 * in[1] + in[2];
    out[2] = -in[0] / 2 - SQRT3 / 2 * in[1] + in[2];
    return 0;
}

BLOCK_MODEL(inverse_clarke, "Clarke's transform backwards, to three phases", 1, stator_in,
            phases_out);

static int park_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const double c = cos(in[2]), s = sin(in[2]);

    (void)self, (void)t_ns;
    out[0] = in[0] * c + in[1] * s;
    out[1] = in[1] * c - in[0] * s;
    return 0;
}

BLOCK_MODEL(park, "Park's transform, into a turning frame", 1, park_inputs, park_outputs);

static int inverse_park_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const double c = cos(in[2]), s = sin(in[2]);

    (void)self, (void)t_ns;
    out[0] = in[0] * c - in[1] * s;
    out[1] = in[1] * c + in[0] * s;
    return 0;
}

BLOCK_MODEL(inverse_park, "Park's transform backwards, out of a turning frame", 1,
            inverse_park_inputs, inverse_park_outputs);
