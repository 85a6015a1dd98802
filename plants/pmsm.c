/*
 * A permanent-magnet synchronous motor in rotor coordinates, and its averaged inverter:
 *
 *      Ld id' = vd - R id + p w Lq iq                torque = 3/2 p (psi iq + (Ld - Lq) id iq)
 *      Lq iq' = vq - R iq - p w (Ld id + psi)        J w' = torque - B w - load,  angle' = w
 *
 * The inverter gives the requested voltage, limited to the circle that space-vector modulation can
 * reach, of radius Vdc / sqrt 3. A larger request keeps its direction and is shortened.
 *
 * The equations are not linear. The classical Runge-Kutta method solves them. It divides a period
 * into parts of at most a fiftieth of the windings' shortest time constant, but into no more than
 * 100 parts.
 */
#include <errno.h>
#include <math.h>

#include "instance.h"
#include "models.h"

enum { PMSM_R, PMSM_LD, PMSM_LQ, PMSM_FLUX, PMSM_POLE_PAIRS, PMSM_J, PMSM_B };
enum { PMSM_VD, PMSM_VQ, PMSM_VDC, PMSM_LOAD };
enum { PMSM_ID, PMSM_IQ, PMSM_SPEED, PMSM_ANGLE, PMSM_STATES };
enum { PMSM_TORQUE = PMSM_STATES, PMSM_DC_CURRENT };
enum { PMSM_PARTS_MAX = 100 };

struct pmsm {
    double x[PMSM_STATES];
    double r, ld, lq, flux, pole_pairs, inertia, friction;
    double period_s, part_s;
    unsigned parts;
};

static void pmsm_divide(struct pmsm *p)
{
    const double fastest_s = fmin(p->ld, p->lq) / p->r;
    const double parts = fmin(fmax(ceil(50 * p->period_s / fastest_s), 1), PMSM_PARTS_MAX);

    p->part_s = p->period_s / parts;
    p->parts = (unsigned)parts;
}

static int pmsm_create(void **self, const struct hil_config *config)
{
    const double *p = config->parameters, *x = config->states;
    int rc = instance_create(self, config, sizeof(struct pmsm));

    if (rc)
        return rc;
    *(struct pmsm *)*self = (struct pmsm){
        .x = {x[PMSM_ID], x[PMSM_IQ], x[PMSM_SPEED], x[PMSM_ANGLE]},
        .r = p[PMSM_R],
        .ld = p[PMSM_LD],
        .lq = p[PMSM_LQ],
        .flux = p[PMSM_FLUX],
        .pole_pairs = p[PMSM_POLE_PAIRS],
        .inertia = p[PMSM_J],
        .friction = p[PMSM_B],
        .period_s = config->period_s,
    };
    pmsm_divide(*self);
    return 0;
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
    *tunable[place] = value;
    pmsm_divide(p);
    return 0;
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

static void pmsm_slope(const struct pmsm *p, const double *x, const double *in, double given,
                       double *slope)
{
    const double w = p->pole_pairs * x[PMSM_SPEED];

    slope[PMSM_ID] = (given * in[PMSM_VD] - p->r * x[PMSM_ID] + w * p->lq * x[PMSM_IQ]) / p->ld;
    slope[PMSM_IQ] =
        (given * in[PMSM_VQ] - p->r * x[PMSM_IQ] - w * (p->ld * x[PMSM_ID] + p->flux)) / p->lq;
    slope[PMSM_SPEED] =
        (pmsm_torque(p, x) - p->friction * x[PMSM_SPEED] - in[PMSM_LOAD]) / p->inertia;
    slope[PMSM_ANGLE] = x[PMSM_SPEED];
}

static void pmsm_advance(struct pmsm *p, const double *in, double given)
{
    static const double at[] = {0, 0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double k[PMSM_STATES] = {0}, sum[PMSM_STATES] = {0};

    for (unsigned stage = 0; stage < 4; stage++) {
        double there[PMSM_STATES];
        for (unsigned i = 0; i < PMSM_STATES; i++)
            there[i] = p->x[i] + at[stage] * p->part_s * k[i];
        pmsm_slope(p, there, in, given, k);
        for (unsigned i = 0; i < PMSM_STATES; i++)
            sum[i] += weight[stage] * k[i];
    }
    for (unsigned i = 0; i < PMSM_STATES; i++)
        p->x[i] += p->part_s * sum[i];
}

static int pmsm_output(const void *self, const double *in, double *out)
{
    const struct pmsm *p = self;
    const double power =
        1.5 * pmsm_given(in) * (in[PMSM_VD] * p->x[PMSM_ID] + in[PMSM_VQ] * p->x[PMSM_IQ]);

    for (unsigned i = 0; i < PMSM_STATES; i++)
        out[i] = p->x[i];
    out[PMSM_TORQUE] = pmsm_torque(p, p->x);
    out[PMSM_DC_CURRENT] = power / in[PMSM_VDC];
    return 0;
}

static int pmsm_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct pmsm *p = self;
    const double given = pmsm_given(in);

    (void)t_ns;
    for (unsigned i = 0; i < p->parts; i++)
        pmsm_advance(p, in, given);
    return pmsm_output(self, in, out);
}

static const struct hil_quantity pmsm_parameters[] = {
    {"resistance_ohm", "Ohm", 0.5, 1e-6, 1e6, HIL_TUNABLE, "of a phase"},
    {"d_inductance_h", "H", 1e-3, 1e-9, 1e3, HIL_TUNABLE, "along the magnets"},
    {"q_inductance_h", "H", 1.5e-3, 1e-9, 1e3, HIL_TUNABLE, "across the magnets"},
    {"flux_wb", "Wb", 0.02, 0, 1e3, HIL_TUNABLE, "of the magnets, through a phase"},
    {"pole_pairs", "", 4, 1, 1000, HIL_WHOLE, "how many there are"},
    {"inertia_kg_m2", "kg m2", 2e-4, 1e-12, 1e9, HIL_TUNABLE, "of rotor and load"},
    {"friction_nm_s", "Nm s", 1e-4, 0, 1e6, HIL_TUNABLE, "torque by speed that friction takes"},
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
    .outputs = HIL_QUANTITIES(pmsm_outputs),
    .states = HIL_QUANTITIES(pmsm_states),
    .create = pmsm_create,
    .output = pmsm_output,
    .step = pmsm_step,
    .destroy = instance_destroy,
    .tune = pmsm_tune,
};
