/*
 * A permanent-magnet direct-current motor and its load:
 *
 *      L i' = v - R i - K w        K in Nm/A is also K in V s/rad
 *      J w' = K i - B w - load     angle' = w
 *
 * The equations are linear, so the solution is exact for inputs that are held.
 */
#include <math.h>
#include <string.h>

#include "dense.h"
#include "instance.h"
#include "models.h"

enum { DC_MOTOR_R, DC_MOTOR_L, DC_MOTOR_K, DC_MOTOR_J, DC_MOTOR_B, DC_MOTOR_PARAMETERS };
enum { DC_MOTOR_VOLTAGE, DC_MOTOR_LOAD, DC_MOTOR_INPUTS };
enum { DC_MOTOR_CURRENT, DC_MOTOR_SPEED, DC_MOTOR_ANGLE, DC_MOTOR_STATES };
enum { DC_MOTOR_TORQUE = DC_MOTOR_STATES }; /* the output that follows the states */

struct dc_motor {
    double x[DC_MOTOR_STATES];
    double a[DC_MOTOR_STATES * DC_MOTOR_STATES], b[DC_MOTOR_STATES * DC_MOTOR_INPUTS];
    double parameters[DC_MOTOR_PARAMETERS], period_s;
};

static void dc_motor_sample(struct dc_motor *motor)
{
    enum { SIZE = DC_MOTOR_STATES + DC_MOTOR_INPUTS };
    const double *p = motor->parameters;
    const double l = p[DC_MOTOR_L], k = p[DC_MOTOR_K], j = p[DC_MOTOR_J];
    const double a[] = {-p[DC_MOTOR_R] / l, -k / l, 0, k / j, -p[DC_MOTOR_B] / j, 0, 0, 1, 0};
    const double b[] = {1 / l, 0, 0, -1 / j, 0, 0};
    double work[DENSE_WORK * SIZE * SIZE];

    memcpy(motor->a, a, sizeof a);
    memcpy(motor->b, b, sizeof b);
    dense_sample_in(work, DC_MOTOR_STATES, DC_MOTOR_INPUTS, motor->a, motor->b, motor->period_s);
}

static int dc_motor_create(void **self, const struct hil_config *config)
{
    int rc = instance_create(self, config, sizeof(struct dc_motor));

    if (rc)
        return rc;
    struct dc_motor *made = *self;
    *made = (struct dc_motor){
        .x = {config->states[0], config->states[1], config->states[2]},
        .period_s = config->period_s,
    };
    memcpy(made->parameters, config->parameters, sizeof made->parameters);
    dc_motor_sample(made);
    return 0;
}

static int dc_motor_tune(void *self, uint32_t place, double value)
{
    struct dc_motor *motor = self;

    motor->parameters[place] = value;
    dc_motor_sample(motor);
    return 0;
}

static int dc_motor_output(const void *self, const double *in, double *out)
{
    const struct dc_motor *p = self;

    (void)in;
    for (unsigned i = 0; i < DC_MOTOR_STATES; i++)
        out[i] = p->x[i];
    out[DC_MOTOR_TORQUE] = p->parameters[DC_MOTOR_K] * p->x[DC_MOTOR_CURRENT];
    return 0;
}

static int dc_motor_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct dc_motor *p = self;
    double scratch[DC_MOTOR_STATES];

    (void)t_ns;
    dense_advance(DC_MOTOR_STATES, DC_MOTOR_INPUTS, p->a, p->b, p->x, in, scratch);
    return dc_motor_output(self, in, out);
}

static void dc_motor_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct dc_motor *p = self;

    each(arg, p->x, DC_MOTOR_STATES);
}

static const struct hil_quantity dc_motor_parameters[] = {
    {"resistance_ohm", "Ohm", 1, 1e-6, 1e6, HIL_TUNABLE | HIL_SPREAD, "of the armature"},
    {"inductance_h", "H", 1e-3, 1e-9, 1e3, HIL_TUNABLE | HIL_SPREAD, "of the armature"},
    {"torque_constant_nm_per_a", "Nm/A", 0.05, 1e-9, 1e6, HIL_TUNABLE | HIL_SPREAD,
     "torque by current, and also voltage by speed"},
    {"inertia_kg_m2", "kg m2", 1e-4, 1e-12, 1e9, HIL_TUNABLE | HIL_SPREAD, "of rotor and load"},
    {"friction_nm_s", "Nm s", 1e-5, 0, 1e6, HIL_TUNABLE | HIL_SPREAD,
     "torque by speed that friction takes"},
};

static const struct hil_quantity dc_motor_inputs[] = {
    {"voltage_v", "V", 0, -1e6, 1e6, HIL_REQUIRED, "of the armature"},
    {"load_torque_nm", "Nm", 0, -1e9, 1e9, 0, "torque of the load, against the motor's"},
};

static const struct hil_quantity dc_motor_outputs[] = {
    {"current_a", "A", 0, -INFINITY, INFINITY, 0, "of the armature"},
    {"speed_rad_per_s", "rad/s", 0, -INFINITY, INFINITY, 0, "of the shaft"},
    {"angle_rad", "rad", 0, -INFINITY, INFINITY, 0, "of the shaft, all turns counted"},
    {"torque_nm", "Nm", 0, -INFINITY, INFINITY, 0, "of the motor"},
};

static const struct hil_quantity dc_motor_states[] = {
    {"current_a", "A", 0, -1e6, 1e6, 0, "of the armature"},
    {"speed_rad_per_s", "rad/s", 0, -1e6, 1e6, 0, "of the shaft"},
    {"angle_rad", "rad", 0, -1e9, 1e9, 0, "of the shaft"},
};

const struct hil_model model_dc_motor = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "dc_motor",
    .doc = "Direct-current motor with the torque of its load",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_QUANTITIES(dc_motor_parameters),
    .inputs = HIL_QUANTITIES(dc_motor_inputs),
    .outputs = HIL_QUANTITIES(dc_motor_outputs),
    .states = HIL_QUANTITIES(dc_motor_states),
    .create = dc_motor_create,
    .output = dc_motor_output,
    .step = dc_motor_step,
    .destroy = instance_destroy,
    .numbers = dc_motor_numbers,
    .tune = dc_motor_tune,
};
