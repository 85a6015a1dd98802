/*
 * The synchronous buck with its switching resolved, and hence with its ripple. A switching period
 * (cycle) begins with the switch on and ends with it off. The duty is latched at the beginning of
 * the cycle, as by the shadow register of a PWM unit.
 *
 *      in  |########|................|    # source drives the inductor
 *          0        d T              T
 *
 * The circuit is the same in both parts; only its input differs. With
 * G(t) = integral of exp(A s) B over 0..t, and t_off the time for which the switch is off, a cycle
 * is exactly
 *
 *      x+ = exp(A T) x + (G(T) - G(t_off)) Vin
 *
 * The factor of Vin depends on only the duty, so it is kept until the duty changes.
 *
 * The code applies this to each slot of a cycle (switching.h), with the slot's part of the on-time.
 * With a source's resistance, or an inductor that saturates, the parts differ, and each is a
 * stretch of its own.
 */

#include "circuit.h"
#include "instance.h"
#include "models.h"
#include "stretch.h"
#include "switching.h"

struct switched_buck {
    double x[CIRCUIT_X];
    double duty; /* latched for this cycle */
    struct switching switching;

    struct linear equations;
    struct linear always_on; /* a slot with the switch on */
    struct linear sampled;   /* a slot with the switch on for the share `on` */
    struct linear off;       /* the part of it with the switch off */
    double on;
    double c[CIRCUIT_STATES];
    double load_ohm;

    struct circuit circuit;
    double step_s;
};

static void sample_on(struct switched_buck *plant, double on)
{
    linear_sample(&plant->off, &plant->equations, plant->switching.slot_s * (1 - on));
    plant->sampled.b[0] = plant->always_on.b[0] - plant->off.b[0];
    plant->sampled.b[1] = plant->always_on.b[1] - plant->off.b[1];
    plant->on = on;
}

static void sample_load(struct switched_buck *plant, double load_ohm)
{
    circuit_equations(&plant->equations, &plant->circuit, 0, 1, load_ohm);
    circuit_voltage(plant->c, &plant->circuit, 1, load_ohm);
    linear_sample(&plant->always_on, &plant->equations, plant->switching.slot_s);
    plant->sampled = plant->always_on;
    plant->load_ohm = load_ohm;
    sample_on(plant, plant->on);
}

/* The share of the coming slot in which the switch is on. */
static double share_on(const struct switched_buck *plant)
{
    const double on = plant->duty * plant->switching.slots_per_cycle - plant->switching.slot;

    if (!(on > 0)) /* a duty of NaN leaves the switch off */
        return 0;
    return on < 1 ? on : 1;
}

/* The charge that came from the source in a slot that began with `before`: until the switch turned
 * off, in a state from which the rest of the slot led to the present one. */
static void add_charge(struct switched_buck *plant, const double *before, const double *in)
{
    const double(*a)[2] = plant->off.a;
    const double det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    const struct stretch main = {
        .equations = plant->equations, .u = in[CIRCUIT_INPUT_VOLTAGE], .source = 1, .feeding = 1};
    double there[CIRCUIT_X] = {(a[1][1] * plant->x[0] - a[0][1] * plant->x[1]) / det,
                               (a[0][0] * plant->x[1] - a[1][0] * plant->x[0]) / det, 0};

    stretch_charge(&main, before, there, plant->switching.slot_s * plant->on);
    plant->x[CIRCUIT_CHARGE] += there[CIRCUIT_CHARGE];
}

static int advance_by_stretches(struct switched_buck *plant, const double *in)
{
    const double slot_s = plant->switching.slot_s;
    int rc = 0;

    if (!circuit_is_enabled(in))
        return stretch_all_off(&plant->circuit, &circuit_buck, in, plant->x, slot_s);
    if (plant->on > 0)
        rc = stretch_through(&plant->circuit, 1, 1, in, plant->x, slot_s * plant->on);
    if (!rc && plant->on < 1)
        rc = stretch_through(&plant->circuit, 0, 1, in, plant->x, slot_s * (1 - plant->on));
    return rc;
}

static int advance_slot(struct switched_buck *plant, const double *in)
{
    if (plant->switching.slot == 0)
        plant->duty = in[CIRCUIT_DUTY];

    const double on = share_on(plant);
    if (on != plant->on)
        sample_on(plant, on);

    switching_next(&plant->switching);
    if (!circuit_is_enabled(in) || !circuit_is_plain(&plant->circuit))
        return advance_by_stretches(plant, in);
    const double before[CIRCUIT_X] = {plant->x[0], plant->x[1]};
    linear_advance(&plant->sampled, plant->x, in[CIRCUIT_INPUT_VOLTAGE]);
    if (on > 0)
        add_charge(plant, before, in);
    return 0;
}

static int switched_buck_create(void **self, const struct hil_config *config)
{
    struct switching switching;
    int rc = switching_init(&switching, config->parameters[CIRCUIT_SWITCHING_FREQUENCY], config);

    if (!rc)
        rc = instance_create(self, config, sizeof(struct switched_buck));
    if (rc)
        return rc;
    struct switched_buck *made = *self;
    *made = (struct switched_buck){
        .x = {config->states[CIRCUIT_CURRENT], config->states[CIRCUIT_VOLTAGE]},
        .switching = switching,
        .step_s = config->period_s,
    };
    circuit_init(&made->circuit, config);
    sample_load(made, circuit_inputs[CIRCUIT_LOAD].value);
    return 0;
}

/* The inductor always feeds the output, so the output does not depend on the switches' position. */
static int switched_buck_output(const void *self, const double *in, double *out)
{
    const struct switched_buck *p = self;
    double c[CIRCUIT_STATES];

    circuit_voltage(c, &p->circuit, 1, in[CIRCUIT_LOAD]);
    circuit_output(out, c, p->x, p->x[CIRCUIT_CHARGE] / p->step_s);
    return 0;
}

static int switched_buck_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct switched_buck *p = self;

    (void)t_ns;
    if (in[CIRCUIT_LOAD] != p->load_ohm)
        sample_load(p, in[CIRCUIT_LOAD]);
    int rc = 0;
    p->x[CIRCUIT_CHARGE] = 0;
    for (unsigned i = 0; !rc && i < p->switching.slots_per_step; i++)
        rc = advance_slot(p, in);
    circuit_output(out, p->c, p->x, p->x[CIRCUIT_CHARGE] / p->step_s);
    return rc;
}

static int switched_buck_tune(void *self, uint32_t place, double value)
{
    struct switched_buck *p = self;
    const int rc = circuit_tune(&p->circuit, place, value);

    if (!rc)
        sample_load(p, p->load_ohm);
    return rc;
}

static void switched_buck_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct switched_buck *p = self;

    each(arg, p->x, CIRCUIT_STATES);
    each(arg, &p->duty, 1);
}

const struct hil_model model_switched_buck = {
    .abi = HIL_MODEL_ABI,
    .size = sizeof(struct hil_model),
    .name = "switched_buck",
    .doc = "Synchronous buck converter with its switching and ripple resolved",
    .kind = HIL_CONTINUOUS,
    .width_max = 1,
    .parameters = HIL_FIRST_QUANTITIES(circuit_parameters, CIRCUIT_CURRENT_LIMIT),
    .inputs = HIL_QUANTITIES(circuit_inputs),
    .outputs = HIL_QUANTITIES(circuit_outputs),
    .states = HIL_QUANTITIES(circuit_states),
    .create = switched_buck_create,
    .output = switched_buck_output,
    .step = switched_buck_step,
    .destroy = instance_destroy,
    .numbers = switched_buck_numbers,
    .tune = switched_buck_tune,
};
