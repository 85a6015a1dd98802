/*
 * A three-phase grid behind its impedance, and the filter between it and a converter:
 *
 *      converter --- Rf, Lf ---*--- Rg, Lg --- e        in each phase
 *                           terminal
 *      (Lf + Lg) i' = v - e - (Rf + Rg) i               i flows into the grid
 *      terminal voltage = e + Rg i + Lg i'
 *
 * e is a positive sequence of a phase amplitude and a frequency that are inputs; its angle runs on
 * through their changes. There is no neutral: what the three converter voltages have in common
 * drives no current. As complex numbers, alpha + j beta, e turns by a known angle over a period, so
 * the solution is exact for inputs that are held.
 */
#include <complex.h>
#include <math.h>

#include "instance.h"
#include "models.h"

enum { GRID_R, GRID_L, GRID_FILTER_R, GRID_FILTER_L, GRID_PARAMETERS };
enum { GRID_A, GRID_B, GRID_C, GRID_AMPLITUDE, GRID_FREQUENCY };
enum { GRID_CURRENT = 0, GRID_TERMINAL = 3, GRID_ANGLE = 6, GRID_POWER, GRID_REACTIVE };

static const double turn = 6.283185307179586477;

struct grid {
    double parameters[GRID_PARAMETERS];
    double complex current;
    double angle; /* of e, within a turn */
    double period_s;
};

static double complex grid_of_phases(const double *phase)
{
    return (2 * phase[0] - phase[1] - phase[2]) / 3 + I * (phase[1] - phase[2]) / sqrt(3);
}

static void grid_to_phases(double complex vector, double *phase)
{
    const double alpha = creal(vector), beta = cimag(vector);

    phase[0] = alpha;
    phase[1] = -alpha / 2 + sqrt(3) / 2 * beta;
    phase[2] = -alpha / 2 - sqrt(3) / 2 * beta;
}

static int grid_create(void **self, const struct hil_config *config)
{
    int rc = instance_create(self, config, sizeof(struct grid));

    if (rc)
        return rc;
    struct grid *g = *self;
    for (unsigned i = 0; i < GRID_PARAMETERS; i++)
        g->parameters[i] = config->parameters[i];
    g->angle = remainder(config->states[0], turn);
    g->current = config->states[1] + I * config->states[2];
    g->period_s = config->period_s;
    return 0;
}

static int grid_tune(void *self, uint32_t place, double value)
{
    ((struct grid *)self)->parameters[place] = value;
    return 0;
}

static double complex grid_emf(const struct grid *g, const double *in)
{
    return in[GRID_AMPLITUDE] * cexp(I * g->angle);
}

static int grid_output(const void *self, const double *in, double *out)
{
    const struct grid *g = self;
    const double *p = g->parameters;
    const double complex e = grid_emf(g, in), v = grid_of_phases(in);
    const double complex slope =
        (v - e - (p[GRID_R] + p[GRID_FILTER_R]) * g->current) / (p[GRID_L] + p[GRID_FILTER_L]);
    const double complex terminal = e + p[GRID_R] * g->current + p[GRID_L] * slope;
    const double complex power = 1.5 * terminal * conj(g->current);

    grid_to_phases(g->current, out + GRID_CURRENT);
    grid_to_phases(terminal, out + GRID_TERMINAL);
    out[GRID_ANGLE] = g->angle;
    out[GRID_POWER] = creal(power);
    out[GRID_REACTIVE] = cimag(power);
    return 0;
}

/* (exp(z) - 1) / z, precise also for a small z. */
static double complex grid_growth(double complex z)
{
    return cabs(z) < 1e-3 ? 1 + z / 2 * (1 + z / 3 * (1 + z / 4)) : (cexp(z) - 1) / z;
}

static int grid_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct grid *g = self;
    const double *p = g->parameters;
    const double r = p[GRID_R] + p[GRID_FILTER_R], l = p[GRID_L] + p[GRID_FILTER_L];
    const double w = turn * in[GRID_FREQUENCY], h = g->period_s, left = exp(-r / l * h);
    const double complex turned = cexp(I * w * h);

    (void)t_ns;
    g->current = left * g->current - expm1(-r / l * h) / r * grid_of_phases(in) -
                 grid_emf(g, in) * turned * h / l * grid_growth(-(r / l + I * w) * h);
    g->angle = remainder(g->angle + w * g->period_s, turn);
    return grid_output(self, in, out);
}

static void grid_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct grid *p = self;

    each(arg, (double *)&p->current, 2);
    each(arg, &p->angle, 1);
}

static const struct hil_quantity grid_parameters[] = {
    {"resistance_ohm", "Ohm", 0.05, 1e-9, 1e6, HIL_TUNABLE | HIL_SPREAD, "of a phase of the grid"},
    {"inductance_h", "H", 2e-4, 0, 1e3, HIL_TUNABLE | HIL_SPREAD, "of a phase of the grid"},
    {"filter_resistance_ohm", "Ohm", 0.05, 0, 1e6, HIL_TUNABLE | HIL_SPREAD, "of a phase's filter"},
    {"filter_inductance_h", "H", 2e-3, 1e-9, 1e3, HIL_TUNABLE | HIL_SPREAD, "of a phase's filter"},
};

static const struct hil_quantity grid_inputs[] = {
    {"a_converter_v", "V", 0, -1e7, 1e7, HIL_REQUIRED, "of the converter's phase a"},
    {"b_converter_v", "V", 0, -1e7, 1e7, HIL_REQUIRED, "of the converter's phase b"},
    {"c_converter_v", "V", 0, -1e7, 1e7, HIL_REQUIRED, "of the converter's phase c"},
    {"amplitude_v", "V", 325, 0, 1e7, 0, "of the grid's phases, from 0 to the peak"},
    {"frequency_hz", "Hz", 50, -1e6, 1e6, 0, "of the grid"},
};

static const struct hil_quantity grid_outputs[] = {
    {"a_current_a", "A", 0, -INFINITY, INFINITY, 0, "into the grid's phase a"},
    {"b_current_a", "A", 0, -INFINITY, INFINITY, 0, "into the grid's phase b"},
    {"c_current_a", "A", 0, -INFINITY, INFINITY, 0, "into the grid's phase c"},
    {"a_terminal_v", "V", 0, -INFINITY, INFINITY, 0, "between filter and grid, phase a"},
    {"b_terminal_v", "V", 0, -INFINITY, INFINITY, 0, "between filter and grid, phase b"},
    {"c_terminal_v", "V", 0, -INFINITY, INFINITY, 0, "between filter and grid, phase c"},
    {"angle_rad", "rad", 0, -INFINITY, INFINITY, 0, "of the grid's voltage, -pi to pi"},
    {"power_w", "W", 0, -INFINITY, INFINITY, 0, "into the grid at the terminal"},
    {"reactive_power_var", "var", 0, -INFINITY, INFINITY, 0,
     "likewise; positive: the current lags"},
};

static const struct hil_quantity grid_states[] = {
    {"angle_rad", "rad", 0, -1e9, 1e9, 0, "of the grid's voltage; 0: phase a is at its peak"},
    {"alpha_current_a", "A", 0, -1e6, 1e6, 0, "into the grid"},
    {"beta_current_a", "A", 0, -1e6, 1e6, 0, "into the grid"},
};

const struct hil_model model_grid = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "grid",
    .doc = "Three-phase grid with impedance, behind the filter of a converter",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(grid_parameters),
    .inputs = HIL_QUANTITIES(grid_inputs),
    .outputs = HIL_QUANTITIES(grid_outputs),
    .states = HIL_QUANTITIES(grid_states),
    .create = grid_create,
    .output = grid_output,
    .step = grid_step,
    .destroy = instance_destroy,
    .numbers = grid_numbers,
    .tune = grid_tune,
};
