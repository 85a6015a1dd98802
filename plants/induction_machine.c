/*
 * An induction machine with a short-circuited rotor, in stator coordinates; complex numbers are
 * alpha + j beta, of amplitude-invariant form:
 *
 *      fs = Ls is + Lm ir                  fs' = v - Rs is
 *      fr = Lr ir + Lm is                  fr' = j p w fr - Rr ir
 *      torque = 3/2 p Im(conj(fs) is)      J w' = torque - B w - load,   angle' = w
 *
 * with Ls = Lls + Lm and Lr = Llr + Lm, all seen from the stator (Krause, Wasynczuk, Sudhoff,
 * Analysis of Electric Machinery, chapter 6). There is no neutral: what the phase voltages have in
 * common drives no current. The method of ode.h solves the equations.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "instance.h"
#include "models.h"
#include "ode.h"

enum { IM_RS, IM_RR, IM_LLS, IM_LLR, IM_LM, IM_POLE_PAIRS, IM_J, IM_B, IM_PARAMETERS };
enum { IM_A, IM_PHASES = 3, IM_LOAD = IM_PHASES };
enum { IM_FSA, IM_FSB, IM_FRA, IM_FRB, IM_SPEED, IM_ANGLE, IM_STATES };

struct induction {
    double x[IM_STATES];
    double parameters[IM_PARAMETERS];
    double period_s;
    hil_log_fn *log;
    void *log_arg;
};

struct induction_currents {
    double stator[2], rotor[2];
};

static double induction_determinant(const double *p)
{
    return p[IM_LLS] * p[IM_LLR] + p[IM_LM] * (p[IM_LLS] + p[IM_LLR]);
}

static struct induction_currents induction_currents(const double *p, const double *x)
{
    const double d = induction_determinant(p);
    const double ls = p[IM_LLS] + p[IM_LM], lr = p[IM_LLR] + p[IM_LM], lm = p[IM_LM];
    struct induction_currents i;

    for (unsigned k = 0; k < 2; k++) {
        i.stator[k] = (lr * x[IM_FSA + k] - lm * x[IM_FRA + k]) / d;
        i.rotor[k] = (ls * x[IM_FRA + k] - lm * x[IM_FSA + k]) / d;
    }
    return i;
}

static double induction_torque(const double *p, const double *x, const double *stator)
{
    return 1.5 * p[IM_POLE_PAIRS] * (x[IM_FSA] * stator[1] - x[IM_FSB] * stator[0]);
}

/* The voltages are alpha and beta here, then the load. */
static void induction_slope(const void *plant, const double *x, const double *in, double *slope)
{
    const double *p = ((const struct induction *)plant)->parameters;
    const double w = p[IM_POLE_PAIRS] * x[IM_SPEED];
    const struct induction_currents i = induction_currents(p, x);

    slope[IM_FSA] = in[0] - p[IM_RS] * i.stator[0];
    slope[IM_FSB] = in[1] - p[IM_RS] * i.stator[1];
    slope[IM_FRA] = -w * x[IM_FRB] - p[IM_RR] * i.rotor[0];
    slope[IM_FRB] = w * x[IM_FRA] - p[IM_RR] * i.rotor[1];
    slope[IM_SPEED] = (induction_torque(p, x, i.stator) - p[IM_B] * x[IM_SPEED] - in[2]) / p[IM_J];
    slope[IM_ANGLE] = x[IM_SPEED];
}

/* An upper bound of the rate of change: of the windings, of the speed, of the friction, and of the
 * exchange of energy between the flux and the inertia. */
static double induction_fastest(const struct induction *m)
{
    const double *p = m->parameters, *x = m->x;
    const double d = induction_determinant(p),
                 flux = hypot(x[IM_FSA], x[IM_FSB]) + hypot(x[IM_FRA], x[IM_FRB]);

    return (p[IM_RS] * (p[IM_LLR] + p[IM_LM]) + p[IM_RR] * (p[IM_LLS] + p[IM_LM])) / d +
           p[IM_POLE_PAIRS] * fabs(x[IM_SPEED]) + p[IM_B] / p[IM_J] +
           p[IM_POLE_PAIRS] * flux * sqrt(1.5 * p[IM_LM] / (d * p[IM_J]));
}

static int induction_create(void **self, const struct hil_config *config)
{
    int rc = instance_create(self, config, sizeof(struct induction));

    if (rc)
        return rc;
    struct induction *m = *self;
    memcpy(m->x, config->states, sizeof m->x);
    memcpy(m->parameters, config->parameters, sizeof m->parameters);
    m->period_s = config->period_s;
    m->log = config->log;
    m->log_arg = config->log_arg;
    if (ode_parts(m->period_s, induction_fastest(m)))
        return 0;
    ode_say_fast(config, induction_fastest(m));
    instance_destroy(m);
    *self = NULL;
    return -EDOM;
}

static int induction_tune(void *self, uint32_t place, double value)
{
    struct induction *m = self;
    const double before = m->parameters[place];

    m->parameters[place] = value;
    if (ode_parts(m->period_s, induction_fastest(m)))
        return 0;
    m->parameters[place] = before;
    return -EDOM;
}

static int induction_output(const void *self, const double *in, double *out)
{
    const struct induction *m = self;
    const struct induction_currents i = induction_currents(m->parameters, m->x);

    (void)in;
    out[0] = i.stator[0];
    out[1] = -i.stator[0] / 2 + sqrt(3) / 2 * i.stator[1];
    out[2] = -i.stator[0] / 2 - sqrt(3) / 2 * i.stator[1];
    out[3] = m->x[IM_SPEED];
    out[4] = m->x[IM_ANGLE];
    out[5] = induction_torque(m->parameters, m->x, i.stator);
    out[6] = hypot(m->x[IM_FRA], m->x[IM_FRB]);
    return 0;
}

static int induction_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct induction *m = self;
    const double held[] = {(2 * in[0] - in[1] - in[2]) / 3, (in[1] - in[2]) / sqrt(3), in[IM_LOAD]};
    const unsigned parts = ode_parts(m->period_s, induction_fastest(m));

    (void)t_ns;
    if (!parts) {
        m->log(m->log_arg, "its flux or its speed is too great for the period");
        return -ERANGE;
    }
    ode_advance(induction_slope, m, IM_STATES, m->x, held, m->period_s, parts);
    return induction_output(self, in, out);
}

static void induction_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct induction *p = self;

    each(arg, p->x, IM_STATES);
}

static const struct hil_quantity induction_parameters[] = {
    {"stator_resistance_ohm", "Ohm", 0.435, 1e-6, 1e6, HIL_TUNABLE | HIL_SPREAD, "of a phase"},
    {"rotor_resistance_ohm", "Ohm", 0.816, 1e-6, 1e6, HIL_TUNABLE | HIL_SPREAD,
     "of a phase, seen from the stator"},
    {"stator_leakage_h", "H", 2e-3, 1e-9, 1e3, HIL_TUNABLE | HIL_SPREAD, "inductance"},
    {"rotor_leakage_h", "H", 2e-3, 1e-9, 1e3, HIL_TUNABLE | HIL_SPREAD,
     "inductance, seen from the stator"},
    {"magnetizing_h", "H", 69.3e-3, 1e-9, 1e3, HIL_TUNABLE | HIL_SPREAD, "inductance"},
    {"pole_pairs", "", 2, 1, 1000, HIL_TUNABLE | HIL_WHOLE, "how many there are"},
    {"inertia_kg_m2", "kg m2", 0.089, 1e-12, 1e9, HIL_TUNABLE | HIL_SPREAD, "of rotor and load"},
    {"friction_nm_s", "Nm s", 0, 0, 1e6, HIL_TUNABLE | HIL_SPREAD,
     "torque by speed that friction takes"},
};

static const struct hil_quantity induction_inputs[] = {
    {"a_voltage_v", "V", 0, -1e6, 1e6, HIL_REQUIRED, "of the stator's phase a"},
    {"b_voltage_v", "V", 0, -1e6, 1e6, HIL_REQUIRED, "of the stator's phase b"},
    {"c_voltage_v", "V", 0, -1e6, 1e6, HIL_REQUIRED, "of the stator's phase c"},
    {"load_torque_nm", "Nm", 0, -1e9, 1e9, 0, "torque of the load, against the motor's"},
};

static const struct hil_quantity induction_outputs[] = {
    {"a_current_a", "A", 0, -INFINITY, INFINITY, 0, "into the stator's phase a"},
    {"b_current_a", "A", 0, -INFINITY, INFINITY, 0, "into the stator's phase b"},
    {"c_current_a", "A", 0, -INFINITY, INFINITY, 0, "into the stator's phase c"},
    {"speed_rad_per_s", "rad/s", 0, -INFINITY, INFINITY, 0, "of the shaft"},
    {"angle_rad", "rad", 0, -INFINITY, INFINITY, 0, "of the shaft, all turns counted"},
    {"torque_nm", "Nm", 0, -INFINITY, INFINITY, 0, "of the motor"},
    {"rotor_flux_wb", "Wb", 0, -INFINITY, INFINITY, 0, "amplitude of the rotor's flux linkage"},
};

static const struct hil_quantity induction_states[] = {
    {"alpha_stator_flux_wb", "Wb", 0, -1e6, 1e6, 0, "of the stator"},
    {"beta_stator_flux_wb", "Wb", 0, -1e6, 1e6, 0, "of the stator"},
    {"alpha_rotor_flux_wb", "Wb", 0, -1e6, 1e6, 0, "of the rotor"},
    {"beta_rotor_flux_wb", "Wb", 0, -1e6, 1e6, 0, "of the rotor"},
    {"speed_rad_per_s", "rad/s", 0, -1e6, 1e6, 0, "of the shaft"},
    {"angle_rad", "rad", 0, -1e9, 1e9, 0, "of the shaft"},
};

const struct hil_model model_induction_machine = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "induction_machine",
    .doc = "Induction machine with the torque of its load",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(induction_parameters),
    .inputs = HIL_QUANTITIES(induction_inputs),
    .outputs = HIL_QUANTITIES(induction_outputs),
    .states = HIL_QUANTITIES(induction_states),
    .create = induction_create,
    .output = induction_output,
    .step = induction_step,
    .destroy = instance_destroy,
    .numbers = induction_numbers,
    .tune = induction_tune,
};
