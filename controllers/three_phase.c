/*
 * The voltages of a grid with three phases, and what happens to them: a sag or swell for a time,
 * the fifth and seventh harmonic, and a jump of the frequency. With the angle x of phase 1,
 *
 *      phase_1_v = amplitude (cos x + h5 cos 5 x + h7 cos 7 x)
 *
 * The other phases are the same a third and two thirds of a turn later.
 */
#include <math.h>

#include "../plants/instance.h"
#include "models.h"

enum {
    GRID_AMPLITUDE,
    GRID_FREQUENCY,
    GRID_ANGLE,
    GRID_SAG_FACTOR,
    GRID_SAG_AT,
    GRID_SAG_DURATION,
    GRID_FIFTH,
    GRID_SEVENTH,
    GRID_JUMP,
    GRID_JUMP_AT,
    GRID_PARAMETERS,
};

static const double TURN = 6.28318530717958647693;

struct grid {
    double p[GRID_PARAMETERS];
};

static int three_phase_create(void **self, const struct hil_config *config)
{
    int rc = instance_create(self, config, sizeof(struct grid));

    if (rc)
        return rc;
    struct grid *g = *self;
    for (unsigned i = 0; i < GRID_PARAMETERS; i++)
        g->p[i] = config->parameters[i];
    return 0;
}

/* Only the part of a turn counts, so that a long run is as exact as a short one. */
static double grid_angle(const double *p, double t_s)
{
    const double jumped = p[GRID_JUMP] * fmax(t_s - p[GRID_JUMP_AT], 0);

    return TURN * (fmod(p[GRID_FREQUENCY] * t_s + jumped, 1) + p[GRID_ANGLE] / 360);
}

static int three_phase_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    const double *p = ((const struct grid *)self)->p;
    const double t_s = (double)t_ns / 1e9, since_s = t_s - p[GRID_SAG_AT];
    const double factor = since_s >= 0 && since_s < p[GRID_SAG_DURATION] ? p[GRID_SAG_FACTOR] : 1;
    const double angle = grid_angle(p, t_s);

    (void)in;
    for (unsigned i = 0; i < 3; i++) {
        const double x = angle - TURN * i / 3;
        out[i] = factor * p[GRID_AMPLITUDE] *
                 (cos(x) + p[GRID_FIFTH] * cos(5 * x) + p[GRID_SEVENTH] * cos(7 * x));
    }
    return 0;
}

static const struct hil_quantity three_phase_parameters[] = {
    {"amplitude_v", "V", 325, 0, 1e9, 0, "of each phase, to the star point"},
    {"frequency_hz", "Hz", 50, 1e-3, 1e9, 0, "of the fundamental"},
    {"angle_deg", "deg", 0, -1e6, 1e6, 0, "of phase 1 at the start"},
    {"sag_factor", "", 1, 0, 100, 0, "times the amplitude during the sag; above 1 a swell"},
    {"sag_at_s", "s", 0, 0, 1e9, 0, "when the sag begins"},
    {"sag_duration_s", "s", 0, 0, 1e9, 0, "how long it lasts"},
    {"fifth_harmonic", "", 0, -10, 10, 0, "its amplitude, as a share of the fundamental's"},
    {"seventh_harmonic", "", 0, -10, 10, 0, "likewise"},
    {"jump_hz", "Hz", 0, -1e9, 1e9, 0, "added to the frequency after the jump"},
    {"jump_at_s", "s", 0, 0, 1e9, 0, "when the frequency jumps"},
};

static const struct hil_quantity three_phase_outputs[] = {
    {"phase_1_v", "V", 0, -INFINITY, INFINITY, 0, "voltage of the first phase"},
    {"phase_2_v", "V", 0, -INFINITY, INFINITY, 0, "of the second one, a third of a turn later"},
    {"phase_3_v", "V", 0, -INFINITY, INFINITY, 0, "of the third one"},
};

const struct hil_model model_three_phase = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "three_phase",
    .doc = "Three-phase grid with sag, harmonics and a jump of the frequency",
    .kind = HIL_SAMPLED,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(three_phase_parameters),
    .outputs = HIL_QUANTITIES(three_phase_outputs),
    .create = three_phase_create,
    .step = three_phase_step,
    .destroy = instance_destroy,
    .numbers = instance_no_numbers,
};
