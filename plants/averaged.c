#include "averaged.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct averaged {
    double x[CIRCUIT_STATES];

    /* One period's step and the output, for the feeding share and the load beside them. */
    struct linear sampled;
    double c[CIRCUIT_STATES];
    double feeding, load_ohm;

    struct averaged_topology topology;
    struct circuit circuit;
    double period_s;
};

static double share(const double at[2], double duty)
{
    return at[0] + (at[1] - at[0]) * duty;
}

/* The matrices depend on these two alone, so they are made anew only when one changes. */
static void sample(struct averaged *plant, double feeding, double load_ohm)
{
    struct linear equations;

    circuit_equations(&equations, &plant->circuit, feeding, load_ohm);
    linear_sample(&plant->sampled, &equations, plant->period_s);
    circuit_voltage(plant->c, &plant->circuit, feeding, load_ohm);
    plant->feeding = feeding;
    plant->load_ohm = load_ohm;
}

int averaged_create(void **plant, const struct averaged_topology *topology,
                    const double *parameters, const double *states, double period_s)
{
    if (!(period_s > 0) || !isfinite(period_s))
        return -EDOM;

    struct averaged *made = malloc(sizeof(*made));
    if (!made)
        return -ENOMEM;

    *made = (struct averaged){
        .x = {states[CIRCUIT_CURRENT], states[CIRCUIT_VOLTAGE]},
        .topology = *topology,
        .period_s = period_s,
    };
    circuit_init(&made->circuit, parameters);
    sample(made, share(topology->feeding, 0), circuit_inputs[CIRCUIT_LOAD].value);
    *plant = made;
    return 0;
}

void averaged_output(const void *plant, const double *in, double *out)
{
    const struct averaged *p = plant;
    double c[CIRCUIT_STATES];

    circuit_voltage(c, &p->circuit, share(p->topology.feeding, in[CIRCUIT_DUTY]), in[CIRCUIT_LOAD]);
    circuit_output(out, c, p->x);
}

int averaged_step(void *plant, const double *in, double *out)
{
    struct averaged *p = plant;
    const double feeding = share(p->topology.feeding, in[CIRCUIT_DUTY]);
    const double source = share(p->topology.source, in[CIRCUIT_DUTY]);

    if (feeding != p->feeding || in[CIRCUIT_LOAD] != p->load_ohm)
        sample(p, feeding, in[CIRCUIT_LOAD]);

    linear_advance(&p->sampled, p->x, source * in[CIRCUIT_INPUT_VOLTAGE]);
    circuit_output(out, p->c, p->x);
    return 0;
}

void averaged_destroy(void *plant)
{
    free(plant);
}
