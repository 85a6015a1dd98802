/*
 * Sensors of a shaft's position.
 *
 * An incremental encoder has `lines` lines a turn, and four edges a line. It gives the edges that
 * were passed, with the angle and the mean speed of the last period that they stand for.
 *
 * A resolver has a carrier e = amplitude sin(2 pi f t), and two windings across each other:
 *
 *      sine = e sin(pairs angle) + offset
 *      cosine = (1 + imbalance) e cos(pairs angle + skew) + offset
 */
#include "block.h"

static const double turn = 6.283185307179586477;

static int encoder_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct block *b = self;
    const double edges = 4 * b->parameters[0];
    const double count = floor(in[0] / turn * edges + b->parameters[1]);

    (void)t_ns;
    out[0] = count;
    out[1] = count / edges * turn;
    out[2] = b->begun ? (count - b->memory[0]) / edges * turn / b->period_s : 0;
    b->memory[0] = count;
    b->begun = true;
    return 0;
}

static int resolver_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const struct block *b = self;
    const double *p = b->parameters;
    const double carrier = in[1] * sin(turn * fmod(in[2] * (double)t_ns * 1e-9, 1));

    out[0] = carrier * sin(p[0] * in[0]) + p[3];
    out[1] = (1 + p[1] / 100) * carrier * cos(p[0] * in[0] + p[2]) + p[3];
    out[2] = carrier;
    return 0;
}

static const struct hil_quantity encoder_parameters[] = {
    {"lines", "", 1024, 1, 1e9, HIL_WHOLE, "of a turn"},
    {"phase", "", 0, -1e9, 1e9, HIL_TUNABLE, "edges by which it is mounted off"},
};

static const struct hil_quantity angle_inputs[] = {
    {"angle_rad", "rad", 0, -INFINITY, INFINITY, HIL_REQUIRED, "of the shaft, all turns counted"},
};

static const struct hil_quantity encoder_outputs[] = {
    {"count", "", 0, -INFINITY, INFINITY, 0, "of edges"},
    {"measured_angle_rad", "rad", 0, -INFINITY, INFINITY, 0, "of the last edge"},
    {"measured_speed_rad_per_s", "rad/s", 0, -INFINITY, INFINITY, 0, "by the edges of a period"},
};

static const struct hil_quantity resolver_parameters[] = {
    {"pole_pairs", "", 1, 1, 1000, HIL_WHOLE, "how many there are"},
    {"imbalance_pct", "%", 0, -100, 1e3, HIL_TUNABLE | HIL_SPREAD, "of the cosine's amplitude"},
    {"skew_rad", "rad", 0, -10, 10, HIL_TUNABLE | HIL_SPREAD, "of the cosine's winding"},
    {"offset_v", "V", 0, -1e6, 1e6, HIL_TUNABLE | HIL_SPREAD, "of both signals"},
};

static const struct hil_quantity resolver_inputs[] = {
    {"angle_rad", "rad", 0, -INFINITY, INFINITY, HIL_REQUIRED, "of the shaft"},
    {"amplitude_v", "V", 1, -1e6, 1e6, 0, "of the carrier behind the windings' ratio"},
    {"frequency_hz", "Hz", 10e3, 0, 1e9, 0, "of the carrier"},
};

static const struct hil_quantity resolver_outputs[] = {
    {"sine_v", "V", 0, -INFINITY, INFINITY, 0, "of the sine's winding"},
    {"cosine_v", "V", 0, -INFINITY, INFINITY, 0, "of the cosine's winding"},
    {"carrier_v", "V", 0, -INFINITY, INFINITY, 0, "of the carrier"},
};

BLOCK_MODEL(encoder, "Incremental encoder", 1, angle_inputs, encoder_outputs,
            BLOCK_TUNABLE(encoder_parameters));
BLOCK_MODEL(resolver, "Resolver with its carrier", 1, resolver_inputs, resolver_outputs,
            BLOCK_TUNABLE(resolver_parameters));
