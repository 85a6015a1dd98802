#include "averaged.h"

#include "stretch.h"

struct averaged {
    double x[CIRCUIT_X];

    /* The matrices of one period's step and of the output. They hold for these shares and load. */
    struct linear sampled;
    double c[CIRCUIT_STATES];
    double source, feeding, load_ohm;

    struct circuit_topology topology;
    struct circuit circuit;
    double period_s;
};

static double averaged_share(const double at[2], double duty)
{
    return at[0] + (at[1] - at[0]) * duty;
}

/* The matrices depend on only these values, so a step recomputes them only when one changes.
 * That is seldom: inlined, it would cost every step saved registers and a stack protector. */
__attribute__((noinline)) static void averaged_sample(struct averaged *p, double source,
                                                      double feeding, double load_ohm)
{
    struct linear equations;

    circuit_equations(&equations, &p->circuit, source, feeding, load_ohm);
    linear_sample(&p->sampled, &equations, p->period_s);
    circuit_voltage(p->c, &p->circuit, feeding, load_ohm);
    p->source = source;
    p->feeding = feeding;
    p->load_ohm = load_ohm;
}

int averaged_create(void **self, const struct circuit_topology *topology,
                    const struct hil_config *config)
{
    int rc = instance_create(self, config, sizeof(struct averaged));

    if (rc)
        return rc;
    struct averaged *made = *self;
    *made = (struct averaged){
        .x = {config->states[CIRCUIT_CURRENT], config->states[CIRCUIT_VOLTAGE]},
        .topology = *topology,
        .period_s = config->period_s,
    };
    circuit_init(&made->circuit, config);
    averaged_sample(made, averaged_share(topology->source, 0), averaged_share(topology->feeding, 0),
                    circuit_inputs[CIRCUIT_LOAD].value);
    return 0;
}

/* The current from the source with this share of the inductor's. */
static double averaged_input_a(const struct averaged *p, double source)
{
    return source * p->x[CIRCUIT_CURRENT];
}

int averaged_output(const void *self, const double *in, double *out)
{
    const struct averaged *p = self;
    double c[CIRCUIT_STATES];

    if (!circuit_is_enabled(in)) {
        stretch_off_output(&p->circuit, &p->topology, in, p->x, p->x[CIRCUIT_CHARGE] / p->period_s,
                           out);
        return 0;
    }
    circuit_voltage(c, &p->circuit, averaged_share(p->topology.feeding, in[CIRCUIT_DUTY]),
                    in[CIRCUIT_LOAD]);
    circuit_output(out, c, p->x,
                   averaged_input_a(p, averaged_share(p->topology.source, in[CIRCUIT_DUTY])));
    return 0;
}

/* What is not one linear system over the step: diodes, or an inductor that saturates. */
__attribute__((noinline)) static int averaged_step_by_stretches(struct averaged *p,
                                                                const double *in, double *out)
{
    int rc;

    p->x[CIRCUIT_CHARGE] = 0;
    if (circuit_is_enabled(in))
        rc = stretch_through(&p->circuit, averaged_share(p->topology.source, in[CIRCUIT_DUTY]),
                             averaged_share(p->topology.feeding, in[CIRCUIT_DUTY]), in, p->x,
                             p->period_s);
    else
        rc = stretch_all_off(&p->circuit, &p->topology, in, p->x, p->period_s);
    averaged_output(p, in, out);
    return rc;
}

int averaged_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct averaged *p = self;
    const double feeding = averaged_share(p->topology.feeding, in[CIRCUIT_DUTY]);
    const double source = averaged_share(p->topology.source, in[CIRCUIT_DUTY]);

    (void)t_ns;
    if (__builtin_expect(!circuit_is_enabled(in) || p->circuit.saturation_a > 0, 0))
        return averaged_step_by_stretches(p, in, out);
    if (feeding != p->feeding || in[CIRCUIT_LOAD] != p->load_ohm ||
        (source != p->source && p->circuit.source_ohm != 0))
        averaged_sample(p, source, feeding, in[CIRCUIT_LOAD]);

    linear_advance(&p->sampled, p->x, source * in[CIRCUIT_INPUT_VOLTAGE]);
    circuit_output(out, p->c, p->x, averaged_input_a(p, source));
    return 0;
}

int averaged_tune(void *self, uint32_t place, double value)
{
    struct averaged *p = self;
    const int rc = circuit_tune(&p->circuit, place, value);

    if (!rc)
        averaged_sample(p, p->source, p->feeding, p->load_ohm);
    return rc;
}

void averaged_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    struct averaged *p = self;

    each(arg, p->x, CIRCUIT_STATES);
}
