/*
 * A permanent-magnet synchronous motor in rotor coordinates, and its averaged inverter:
 *
 *      Ld id' = vd - R id + p w Lq iq                torque = 3/2 p (psi iq + (Ld - Lq) id iq)
 *      Lq iq' = vq - R iq - p w (Ld id + psi)        J w' = torque - B w - load,  angle' = w
 *
 * The inverter gives the requested voltage, limited to the circle that space-vector modulation can
 * reach, of radius Vdc / sqrt 3. A larger request keeps its direction and is shortened.
 *
 * pmsm_stator takes the voltages in stator coordinates, and turns them by the electrical angle p
 * angle, which goes on while they are held. Phase a is along the magnets at the angle 0.
 *
 * The equations are not linear. A Runge-Kutta method of order 5 solves them. It divides a period
 * into parts of at most a 25th of the fastest time constant: of the windings, of the electrical
 * speed, of the friction, or of the exchange of energy between the currents and the inertia. The
 * last ones depend on the state, so they are checked at each part, and the period is solved again,
 * with more parts, if they have become much faster. A period that needs more than PMSM_PARTS_MAX is
 * refused.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "instance.h"
#include "models.h"

enum { PMSM_R, PMSM_LD, PMSM_LQ, PMSM_FLUX, PMSM_POLE_PAIRS, PMSM_J, PMSM_B };
enum { PMSM_VD, PMSM_VQ, PMSM_VDC, PMSM_LOAD };
enum { PMSM_ID, PMSM_IQ, PMSM_SPEED, PMSM_ANGLE, PMSM_STATES };
enum { PMSM_TORQUE = PMSM_STATES, PMSM_DC_CURRENT, PMSM_ALPHA, PMSM_BETA };
enum { PMSM_PARTS_MAX = 10000, PMSM_PARTS_PER_TIME = 25 };

struct pmsm {
    double x[PMSM_STATES];
    double r, ld, lq, flux, pole_pairs, inertia, friction;
    double period_s;
    bool in_stator; /* the voltages are in stator coordinates */
    hil_log_fn *log;
    void *log_arg;
};

/* An upper bound of the magnitude of the eigenvalues in state x. In the coordinates
 * sqrt(3/2 L) i and sqrt(J) w, whose squares are energies, it is also one of the matrix's norm. */
static double pmsm_fastest_per_s(const struct pmsm *p, const double *x)
{
    const double least_h = fmin(p->ld, p->lq), most_h = fmax(p->ld, p->lq);
    const double linked_wb = p->flux + most_h * (fabs(x[PMSM_ID]) + fabs(x[PMSM_IQ]));

    return p->r / least_h + p->pole_pairs * fabs(x[PMSM_SPEED]) + p->friction / p->inertia +
           p->pole_pairs * linked_wb * sqrt(1.5 / (least_h * p->inertia));
}

/* Returns `parts` as a whole number. Returns 0, after logging why in state x, if they are too many.
 */
static unsigned pmsm_checked(const struct pmsm *p, double parts, const double *x)
{
    char line[160];

    if (parts <= PMSM_PARTS_MAX)
        return parts > 1 ? (unsigned)parts : 1;
    snprintf(line, sizeof line,
             "at %.4g rad/s, %.4g A and %.4g A it changes within %.3g s; allowed: a period of at "
             "most %d times that",
             x[PMSM_SPEED], x[PMSM_ID], x[PMSM_IQ], 1 / pmsm_fastest_per_s(p, x),
             PMSM_PARTS_MAX / PMSM_PARTS_PER_TIME);
    p->log(p->log_arg, line);
    return 0;
}

/* How many parts a period needs that begins in state x; 0 after logging why there are too many. */
static unsigned pmsm_parts(const struct pmsm *p, const double *x)
{
    return pmsm_checked(p, ceil(PMSM_PARTS_PER_TIME * p->period_s * pmsm_fastest_per_s(p, x)), x);
}

static int pmsm_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters, *x = config->states;
    int rc = instance_create(self, config, sizeof(struct pmsm));

    if (rc)
        return rc;
    struct pmsm *made = *self;
    *made = (struct pmsm){
        .x = {x[PMSM_ID], x[PMSM_IQ], x[PMSM_SPEED], x[PMSM_ANGLE]},
        .r = p[PMSM_R],
        .ld = p[PMSM_LD],
        .lq = p[PMSM_LQ],
        .flux = p[PMSM_FLUX],
        .pole_pairs = p[PMSM_POLE_PAIRS],
        .inertia = p[PMSM_J],
        .friction = p[PMSM_B],
        .period_s = config->period_s,
        .in_stator = config->model == &model_pmsm_stator,
        .log = config->log,
        .log_arg = config->log_arg,
    };
    if (pmsm_parts(made, made->x))
        return 0;
    instance_destroy(made);
    *self = NULL;
    return -EDOM;
}

static int pmsm_tune(void *self, uint32_t place, double value)
{
    struct pmsm *p = self;
    double *const tunable[] = {
        [PMSM_R] = &p->r,        [PMSM_LD] = &p->ld,       [PMSM_LQ] = &p->lq,
        [PMSM_FLUX] = &p->flux,  [PMSM_POLE_PAIRS] = NULL, [PMSM_J] = &p->inertia,
        [PMSM_B] = &p->friction,
    };

    if (!tunable[place])
        return -EDOM;
    const double before = *tunable[place];
    *tunable[place] = value;
    if (pmsm_parts(p, p->x))
        return 0;
    *tunable[place] = before;
    return -EDOM;
}

/* The share of the requested voltages that the inverter gives, at most 1. */
static double pmsm_given(const double *in)
{
    const double asked = hypot(in[PMSM_VD], in[PMSM_VQ]);
    const double most = in[PMSM_VDC] / sqrt(3);

    return asked > most ? most / asked : 1;
}

static double pmsm_torque(const struct pmsm *p, const double *x)
{
    return 1.5 * p->pole_pairs * (p->flux * x[PMSM_IQ] + (p->ld - p->lq) * x[PMSM_ID] * x[PMSM_IQ]);
}

/* Turns a vector by minus this angle, from stator to rotor coordinates. */
static void pmsm_turn(double *d, double *q, double angle)
{
    const double c = cos(angle), s = sin(angle), alpha = *d, beta = *q;

    *d = c * alpha + s * beta;
    *q = c * beta - s * alpha;
}

static void pmsm_slope(const struct pmsm *p, const double *x, const double *in, double given,
                       double *slope)
{
    const double w = p->pole_pairs * x[PMSM_SPEED];
    double vd = in[PMSM_VD], vq = in[PMSM_VQ];

    if (p->in_stator)
        pmsm_turn(&vd, &vq, p->pole_pairs * x[PMSM_ANGLE]);
    slope[PMSM_ID] = (given * vd - p->r * x[PMSM_ID] + w * p->lq * x[PMSM_IQ]) / p->ld;
    slope[PMSM_IQ] = (given * vq - p->r * x[PMSM_IQ] - w * (p->ld * x[PMSM_ID] + p->flux)) / p->lq;
    slope[PMSM_SPEED] =
        (pmsm_torque(p, x) - p->friction * x[PMSM_SPEED] - in[PMSM_LOAD]) / p->inertia;
    slope[PMSM_ANGLE] = x[PMSM_SPEED];
}

/* The method of Dormand and Prince of order 5. Row i is what the slopes so far add to the state for
 * slope i; the last row is for the end of the part. */
enum { PMSM_STAGES = 6 };
static const double pmsm_weights[PMSM_STAGES][PMSM_STAGES] = {
    {1.0 / 5},
    {3.0 / 40, 9.0 / 40},
    {44.0 / 45, -56.0 / 15, 32.0 / 9},
    {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
    {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
    {35.0 / 384, 0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84},
};

static void pmsm_advance(const struct pmsm *p, double *x, double part_s, const double *in,
                         double given)
{
    double k[PMSM_STAGES][PMSM_STATES], there[PMSM_STATES];

    memcpy(there, x, sizeof there);
    for (unsigned stage = 0; stage < PMSM_STAGES; stage++) {
        pmsm_slope(p, there, in, given, k[stage]);
        for (unsigned i = 0; i < PMSM_STATES; i++) {
            double sum = 0;
            for (unsigned j = 0; j <= stage; j++)
                sum += pmsm_weights[stage][j] * k[j][i];
            there[i] = x[i] + part_s * sum;
        }
    }
    memcpy(x, there, sizeof there);
}

/* Solves one period from the present state. Returns whether the parts were short enough. x is the
 * state at its end, or after the part that was too long. */
static bool pmsm_solve(const struct pmsm *p, unsigned parts, const double *in, double *x)
{
    const double part_s = p->period_s / parts, given = pmsm_given(in);

    memcpy(x, p->x, sizeof p->x);
    for (unsigned i = 0; i < parts; i++) {
        pmsm_advance(p, x, part_s, in, given);
        if (!(PMSM_PARTS_PER_TIME * part_s * pmsm_fastest_per_s(p, x) <= 2))
            return false;
    }
    return true;
}

static int pmsm_output(const void *self, const double *in, double *out)
{
    const struct pmsm *p = self;
    double vd = in[PMSM_VD], vq = in[PMSM_VQ], alpha = p->x[PMSM_ID], beta = p->x[PMSM_IQ];

    if (p->in_stator) {
        pmsm_turn(&vd, &vq, p->pole_pairs * p->x[PMSM_ANGLE]);
        pmsm_turn(&alpha, &beta, -p->pole_pairs * p->x[PMSM_ANGLE]);
        out[PMSM_ALPHA] = alpha;
        out[PMSM_BETA] = beta;
    }
    const double power = 1.5 * pmsm_given(in) * (vd * p->x[PMSM_ID] + vq * p->x[PMSM_IQ]);

    for (unsigned i = 0; i < PMSM_STATES; i++)
        out[i] = p->x[i];
    out[PMSM_TORQUE] = pmsm_torque(p, p->x);
    out[PMSM_DC_CURRENT] = power / in[PMSM_VDC];
    return 0;
}

static int pmsm_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct pmsm *p = self;
    double x[PMSM_STATES];

    (void)t_ns;
    unsigned parts = pmsm_parts(p, p->x);
    while (parts && !pmsm_solve(p, parts, in, x))
        parts = pmsm_checked(p, 2.0 * parts, x);
    if (!parts)
        return -ERANGE;
    memcpy(p->x, x, sizeof x);
    return pmsm_output(self, in, out);
}

static void pmsm_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct pmsm *p = self;

    each(arg, p->x, PMSM_STATES);
}

static const struct hil_quantity pmsm_parameters[] = {
    {"resistance_ohm", "Ohm", 0.5, 1e-6, 1e6, HIL_TUNABLE | HIL_SPREAD, "of a phase"},
    {"d_inductance_h", "H", 1e-3, 1e-9, 1e3, HIL_TUNABLE | HIL_SPREAD, "along the magnets"},
    {"q_inductance_h", "H", 1.5e-3, 1e-9, 1e3, HIL_TUNABLE | HIL_SPREAD, "across the magnets"},
    {"flux_wb", "Wb", 0.02, 0, 1e3, HIL_TUNABLE | HIL_SPREAD, "of the magnets, through a phase"},
    {"pole_pairs", "", 4, 1, 1000, HIL_WHOLE, "how many there are"},
    {"inertia_kg_m2", "kg m2", 2e-4, 1e-12, 1e9, HIL_TUNABLE | HIL_SPREAD, "of rotor and load"},
    {"friction_nm_s", "Nm s", 1e-4, 0, 1e6, HIL_TUNABLE | HIL_SPREAD,
     "torque by speed that friction takes"},
};

static const struct hil_quantity pmsm_inputs[] = {
    {"d_voltage_v", "V", 0, -1e6, 1e6, HIL_REQUIRED, "asked of the inverter, along the magnets"},
    {"q_voltage_v", "V", 0, -1e6, 1e6, HIL_REQUIRED, "asked of the inverter, across the magnets"},
    {"dc_voltage_v", "V", 48, 1e-3, 1e6, 0, "that feeds the inverter"},
    {"load_torque_nm", "Nm", 0, -1e9, 1e9, 0, "torque of the load, against the motor's"},
};

static const struct hil_quantity pmsm_outputs[] = {
    {"d_current_a", "A", 0, -INFINITY, INFINITY, 0, "along the magnets"},
    {"q_current_a", "A", 0, -INFINITY, INFINITY, 0, "across the magnets"},
    {"speed_rad_per_s", "rad/s", 0, -INFINITY, INFINITY, 0, "of the shaft"},
    {"angle_rad", "rad", 0, -INFINITY, INFINITY, 0, "of the shaft, all turns counted"},
    {"torque_nm", "Nm", 0, -INFINITY, INFINITY, 0, "of the motor"},
    {"dc_current_a", "A", 0, -INFINITY, INFINITY, 0, "that the inverter takes"},
    /* in stator coordinates only */
    {"alpha_current_a", "A", 0, -INFINITY, INFINITY, 0, "in phase a"},
    {"beta_current_a", "A", 0, -INFINITY, INFINITY, 0, "across phase a"},
};

static const struct hil_quantity pmsm_stator_inputs[] = {
    {"alpha_voltage_v", "V", 0, -1e6, 1e6, HIL_REQUIRED, "asked of the inverter, along phase a"},
    {"beta_voltage_v", "V", 0, -1e6, 1e6, HIL_REQUIRED, "asked of the inverter, across phase a"},
    {"dc_voltage_v", "V", 48, 1e-3, 1e6, 0, "that feeds the inverter"},
    {"load_torque_nm", "Nm", 0, -1e9, 1e9, 0, "torque of the load, against the motor's"},
};

static const struct hil_quantity pmsm_states[] = {
    {"d_current_a", "A", 0, -1e6, 1e6, 0, "along the magnets"},
    {"q_current_a", "A", 0, -1e6, 1e6, 0, "across the magnets"},
    {"speed_rad_per_s", "rad/s", 0, -1e6, 1e6, 0, "of the shaft"},
    {"angle_rad", "rad", 0, -1e9, 1e9, 0, "of the shaft"},
};

const struct hil_model model_pmsm = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "pmsm",
    .doc = "Permanent-magnet synchronous motor with its inverter averaged, in dq coordinates",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(pmsm_parameters),
    .inputs = HIL_QUANTITIES(pmsm_inputs),
    .outputs = HIL_FIRST_QUANTITIES(pmsm_outputs, PMSM_ALPHA),
    .states = HIL_QUANTITIES(pmsm_states),
    .create = pmsm_create,
    .output = pmsm_output,
    .step = pmsm_step,
    .destroy = instance_destroy,
    .numbers = pmsm_numbers,
    .tune = pmsm_tune,
};

const struct hil_model model_pmsm_stator = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "pmsm_stator",
    .doc = "Permanent-magnet synchronous motor with its inverter averaged, in stator coordinates",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(pmsm_parameters),
    .inputs = HIL_QUANTITIES(pmsm_stator_inputs),
    .outputs = HIL_QUANTITIES(pmsm_outputs),
    .states = HIL_QUANTITIES(pmsm_states),
    .create = pmsm_create,
    .output = pmsm_output,
    .step = pmsm_step,
    .destroy = instance_destroy,
    .numbers = pmsm_numbers,
    .tune = pmsm_tune,
};
