#include "switched.h"

#include <math.h>
#include <stdbool.h>

#include "stretch.h"
#include "switching.h"

/* The switch that is commanded on. */
enum command { OTHER, MAIN, NEITHER };

struct switched {
    double x[CIRCUIT_X];
    double at_s, on_s; /* times in this cycle: now, and when the main switch turns off */
    double feeding;    /* of the most recent switch position */
    struct switching switching;

    const struct circuit_topology *topology;
    enum switched_rectifier rectifier;
    struct circuit circuit;
    double cycle_s, dead_s, limit_a, step_s;
};

int switched_create(void **self, const struct circuit_topology *topology,
                    enum switched_rectifier rectifier, const struct hil_config *config)
{
    const double *p = config->parameters;
    struct switching switching;
    int rc = switching_init(&switching, p[CIRCUIT_SWITCHING_FREQUENCY], config);

    if (!rc)
        rc = instance_create(self, config, sizeof(struct switched));
    if (rc)
        return rc;
    struct switched *made = *self;
    *made = (struct switched){
        .x = {config->states[CIRCUIT_CURRENT], config->states[CIRCUIT_VOLTAGE]},
        .feeding = topology->feeding[0],
        .switching = switching,
        .topology = topology,
        .rectifier = rectifier,
        .step_s = config->period_s,
        .cycle_s = switching.slot_s * switching.slots_per_cycle,
        .dead_s = rectifier == SWITCHED_DIODE ? 0 : p[CIRCUIT_DEAD_TIME],
        .limit_a = p[CIRCUIT_CURRENT_LIMIT],
    };
    circuit_init(&made->circuit, config);
    return 0;
}

int switched_tune(void *self, uint32_t place, double value)
{
    struct switched *p = self;

    return circuit_tune(&p->circuit, place, value);
}

/* Advances until t or the level, at the circuit's position `on` of the switches. Returns the time
 * that it advanced by. */
static double switched_run(struct switched *p, const struct stretch *s, double t, double level)
{
    p->feeding = s->feeding;
    return stretch_run(s, p->x, t, level);
}

/* Advances with the main switch on. A current that reaches the limit ends the on-time. If the
 * current is at or above the limit already and rising, the on-time ends at once. */
static double switched_with_main_on(struct switched *p, const double *in, double t)
{
    const struct stretch on = stretch_conducting(&p->circuit, p->topology, 1, in, p->x);

    if (p->x[CIRCUIT_CURRENT] >= p->limit_a && stretch_slope(&on, p->x) > 0) {
        p->on_s = p->at_s;
        return 0;
    }
    const double level = p->x[CIRCUIT_CURRENT] < p->limit_a ? p->limit_a : INFINITY;
    const double ran = switched_run(p, &on, t, level);
    if (p->x[CIRCUIT_CURRENT] == level)
        p->on_s = p->at_s + ran;
    return ran;
}

/* Returns the present command, and sets *until_s to the time in the cycle at which it ends. */
static enum command switched_command(const struct switched *p, double *until_s)
{
    const enum command after = p->rectifier == SWITCHED_DIODE ? NEITHER : OTHER;
    const bool always_on = p->on_s >= p->cycle_s, always_off = p->on_s <= 0;

    *until_s = p->cycle_s;
    if (always_on)
        return MAIN;
    if (always_off)
        return after;
    if (p->at_s < p->on_s) {
        *until_s = fmin(p->dead_s, p->on_s);
        if (p->at_s < *until_s)
            return NEITHER;
        *until_s = p->on_s;
        return MAIN;
    }
    *until_s = fmin(p->on_s + p->dead_s, p->cycle_s);
    if (p->at_s < *until_s)
        return NEITHER;
    *until_s = p->cycle_s;
    return after;
}

static double switched_obey(struct switched *p, enum command command, const double *in, double t)
{
    if (command == NEITHER)
        return stretch_by_diodes(&p->circuit, p->topology, in, p->x, t, &p->feeding);
    if (command == MAIN)
        return switched_with_main_on(p, in, t);
    const struct stretch other = stretch_conducting(&p->circuit, p->topology, 0, in, p->x);
    return switched_run(p, &other, t, INFINITY);
}

static int switched_advance_slot(struct switched *p, const double *in)
{
    const double end_s = (p->switching.slot + 1) * p->switching.slot_s;
    const bool enabled = circuit_is_enabled(in);

    if (p->switching.slot == 0) {
        const double duty = in[CIRCUIT_DUTY]; /* NaN leaves the switch off */
        p->at_s = 0;
        p->on_s = duty > 0 ? duty * p->cycle_s : 0;
    }
    for (int i = 0; end_s - p->at_s > 1e-12 * p->cycle_s; i++) {
        double until_s = end_s;
        const enum command command = enabled ? switched_command(p, &until_s) : NEITHER;
        const double t = fmin(until_s, end_s) - p->at_s;
        const double ran = switched_obey(p, command, in, t);
        p->at_s = ran < t ? p->at_s + ran : fmin(p->at_s + t, fmin(until_s, end_s));
        if (i == STRETCHES_MAX)
            return stretch_too_many(&p->circuit);
    }
    p->at_s = end_s;
    switching_next(&p->switching);
    return 0;
}

int switched_output(const void *self, const double *in, double *out)
{
    const struct switched *p = self;
    double c[CIRCUIT_STATES];

    circuit_voltage(c, &p->circuit, p->feeding, in[CIRCUIT_LOAD]);
    circuit_output(out, c, p->x, p->x[CIRCUIT_CHARGE] / p->step_s);
    return 0;
}

int switched_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct switched *p = self;

    (void)t_ns;
    p->x[CIRCUIT_CHARGE] = 0;
    for (unsigned i = 0; i < p->switching.slots_per_step; i++) {
        const int rc = switched_advance_slot(p, in);
        if (rc)
            return rc;
    }
    return switched_output(self, in, out);
}

void switched_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct switched *p = self;

    each(arg, p->x, CIRCUIT_STATES);
    each(arg, &p->on_s, 1);
}
