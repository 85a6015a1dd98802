#include "switched.h"

#include <math.h>
#include <stdbool.h>

#include "switching.h"

/* The switch that is commanded on. */
enum command { OTHER, MAIN, NEITHER };

struct switched {
    double x[CIRCUIT_STATES];
    double at_s, on_s; /* times in this cycle: now, and when the main switch turns off */
    double feeding;    /* of the most recent switch position */
    struct switching switching;

    const struct circuit_topology *topology;
    enum switched_rectifier rectifier;
    struct circuit circuit;
    double cycle_s, dead_s, limit_a;
    double look_s; /* longest stretch: in less, a current cannot cross a level and return */
};

static void switched_set_look(struct switched *p)
{
    p->look_s = 0.5 * sqrt(p->circuit.inductance_h * p->circuit.capacitance_f);
}

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
        .cycle_s = switching.slot_s * switching.slots_per_cycle,
        .dead_s = rectifier == SWITCHED_DIODE ? 0 : p[CIRCUIT_DEAD_TIME],
        .limit_a = p[CIRCUIT_CURRENT_LIMIT],
    };
    circuit_init(&made->circuit, p);
    switched_set_look(made);
    return 0;
}

int switched_tune(void *self, uint32_t place, double value)
{
    struct switched *p = self;
    const int rc = circuit_tune(&p->circuit, place, value);

    switched_set_look(p);
    return rc;
}

/* --- between two changes of the switches ------------------------------------------------------ */

/* The circuit while no switch changes: its equations and its input. */
struct stretch {
    struct linear equations;
    double u, feeding;
};

/* `on` is 1 while the main switch conducts, and 0 while the other switch or its diode does. */
static struct stretch switched_conducting(const struct switched *p, int on, const double *in)
{
    struct stretch s = {.u = p->topology->source[on] * in[CIRCUIT_INPUT_VOLTAGE],
                        .feeding = p->topology->feeding[on]};

    circuit_equations(&s.equations, &p->circuit, s.feeding, in[CIRCUIT_LOAD]);
    return s;
}

/* No current flows in the inductor: only the capacitor feeds the load. */
static struct stretch switched_idle(const struct switched *p, const double *in)
{
    struct stretch s = {0};

    circuit_equations(&s.equations, &p->circuit, 0, in[CIRCUIT_LOAD]);
    s.equations.a[CIRCUIT_CURRENT][CIRCUIT_CURRENT] = 0;
    s.equations.b[CIRCUIT_CURRENT] = 0;
    return s;
}

static double switched_slope(const struct stretch *s, const double *x)
{
    const double *a = s->equations.a[CIRCUIT_CURRENT];

    return a[CIRCUIT_CURRENT] * x[CIRCUIT_CURRENT] + a[CIRCUIT_VOLTAGE] * x[CIRCUIT_VOLTAGE] +
           s->equations.b[CIRCUIT_CURRENT] * s->u;
}

/* Computes the state after t. */
static void switched_after(const struct stretch *s, const double *x, double t, double *after)
{
    struct linear sampled;

    linear_sample(&sampled, &s->equations, t);
    after[0] = x[0];
    after[1] = x[1];
    linear_advance(&sampled, after, s->u);
}

/* Returns the time at which the current reaches `level`, which lies between the currents at 0 and
 * at t. Uses the false position method in its Illinois variant. */
static double switched_crossing(const struct stretch *s, const double *x, double level, double t,
                                double at_t)
{
    double low = 0, high = t, f_low = x[CIRCUIT_CURRENT] - level, f_high = at_t - level;
    double found = t;
    int kept = 0;

    for (int i = 0; i < 40 && high - low > 1e-15 * t; i++) {
        double there[CIRCUIT_STATES];
        found = (low * f_high - high * f_low) / (f_high - f_low);
        switched_after(s, x, found, there);
        const double f = there[CIRCUIT_CURRENT] - level;
        if (f == 0)
            break;
        const bool beyond = (f > 0) == (f_high > 0);
        if (beyond) {
            high = found;
            f_high = f;
            f_low *= kept == 1 ? 0.5 : 1;
        } else {
            low = found;
            f_low = f;
            f_high *= kept == 2 ? 0.5 : 1;
        }
        kept = beyond ? 1 : 2;
    }
    return found;
}

/* Advances by `t`, or until the current reaches `level`; the current then is exactly `level`.
 * Returns the time that it advanced by. */
static double switched_run(struct switched *p, const struct stretch *s, double t, double level)
{
    const double from = p->x[CIRCUIT_CURRENT];
    double after[CIRCUIT_STATES];

    switched_after(s, p->x, t, after);
    p->feeding = s->feeding;
    const double to = after[CIRCUIT_CURRENT];
    const bool comes = (from < level && to > level) || (from > level && to < level);
    if (comes) {
        t = switched_crossing(s, p->x, level, t, to);
        switched_after(s, p->x, t, after);
        after[CIRCUIT_CURRENT] = level;
    }
    p->x[CIRCUIT_CURRENT] = after[CIRCUIT_CURRENT];
    p->x[CIRCUIT_VOLTAGE] = after[CIRCUIT_VOLTAGE];
    return t;
}

/* The time for which no diode conducts: until the output has fallen to the source's voltage. */
static double switched_rest(const struct switched *p, const double *in)
{
    const double source = p->topology->source[0] * in[CIRCUIT_INPUT_VOLTAGE];
    double c[CIRCUIT_STATES];

    circuit_voltage(c, &p->circuit, 1, in[CIRCUIT_LOAD]);
    const double output = c[CIRCUIT_VOLTAGE] * p->x[CIRCUIT_VOLTAGE];
    if (!(source > 0) || !(output > source))
        return INFINITY;
    return p->circuit.capacitance_f * (in[CIRCUIT_LOAD] + p->circuit.esr_ohm) *
           log(output / source);
}

/* Advances with both switches off. Returns the time that it advanced by. */
static double switched_by_diodes(struct switched *p, const double *in, double t)
{
    const struct stretch main = switched_conducting(p, 1, in),
                         other = switched_conducting(p, 0, in);
    const double current = p->x[CIRCUIT_CURRENT];

    if (current > 0 || (current == 0 && switched_slope(&other, p->x) > 0))
        return switched_run(p, &other, t, 0);
    if (current < 0 || (current == 0 && switched_slope(&main, p->x) < 0))
        return switched_run(p, &main, t, 0);
    const struct stretch idle = switched_idle(p, in);
    return switched_run(p, &idle, fmin(t, switched_rest(p, in)), INFINITY);
}

/* --- a cycle ---------------------------------------------------------------------------------- */

/* Advances with the main switch on. A current that reaches the limit ends the on-time. If the
 * current is at or above the limit already and rising, the on-time ends at once. */
static double switched_with_main_on(struct switched *p, const double *in, double t)
{
    const struct stretch on = switched_conducting(p, 1, in);

    if (p->x[CIRCUIT_CURRENT] >= p->limit_a && switched_slope(&on, p->x) > 0) {
        p->on_s = p->at_s;
        return 0;
    }
    const double level = p->x[CIRCUIT_CURRENT] < p->limit_a ? p->limit_a : INFINITY;
    const double ran = switched_run(p, &on, t, level);
    if (ran < t)
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
        return switched_by_diodes(p, in, t);
    if (command == MAIN)
        return switched_with_main_on(p, in, t);
    const struct stretch other = switched_conducting(p, 0, in);
    return switched_run(p, &other, t, INFINITY);
}

static void switched_advance_slot(struct switched *p, const double *in)
{
    const double end_s = (p->switching.slot + 1) * p->switching.slot_s;
    const double look_s = fmax(p->look_s, p->switching.slot_s / 64);

    if (p->switching.slot == 0) {
        const double duty = in[CIRCUIT_DUTY]; /* NaN leaves the switch off */
        p->at_s = 0;
        p->on_s = duty > 0 ? duty * p->cycle_s : 0;
    }
    /* Every stretch ends at a change of the switches or after look_s, so a slot has few of them.
     * The bound of 1000 ends the loop if a number is NaN. */
    for (int i = 0; i < 1000 && end_s - p->at_s > 1e-12 * p->cycle_s; i++) {
        double until_s;
        const enum command command = switched_command(p, &until_s);
        const double t = fmin(fmin(until_s, end_s) - p->at_s, look_s);
        const double ran = switched_obey(p, command, in, t);
        p->at_s = ran < t ? p->at_s + ran : fmin(p->at_s + t, fmin(until_s, end_s));
    }
    p->at_s = end_s;
    switching_next(&p->switching);
}

int switched_output(const void *self, const double *in, double *out)
{
    const struct switched *p = self;
    double c[CIRCUIT_STATES];

    circuit_voltage(c, &p->circuit, p->feeding, in[CIRCUIT_LOAD]);
    circuit_output(out, c, p->x);
    return 0;
}

int switched_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct switched *p = self;

    (void)t_ns;
    for (unsigned i = 0; i < p->switching.slots_per_step; i++)
        switched_advance_slot(p, in);
    return switched_output(self, in, out);
}
