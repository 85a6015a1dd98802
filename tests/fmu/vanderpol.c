/* The van der Pol oscillator: x0' = x1, x1' = mu (1 - x0^2) x1 - x0. */
#include <math.h>

#include "fmu.h"

struct oscillator {
    double x[2], mu;
};

static const struct fmu_variable variables[] = {
    {1, FMU_FLOAT64, offsetof(struct oscillator, x), 1, 0},
    {2, FMU_FLOAT64, offsetof(struct oscillator, x) + sizeof(double), 1, 0},
    FMU_VARIABLE(3, FMU_FLOAT64, struct oscillator, mu),
};

static void oscillator_begin(void *self)
{
    *(struct oscillator *)self = (struct oscillator){.x = {2, 0}, .mu = 1};
}

static enum fmu_status oscillator_initialize(struct fmu *fmu, void *self)
{
    (void)fmu, (void)self;
    return FMU_OK;
}

static void slope(double dx[2], const double x[2], double mu)
{
    dx[0] = x[1];
    dx[1] = mu * (1 - x[0] * x[0]) * x[1] - x[0];
}

/* One step of Runge and Kutta's, of fourth order. */
static void advance(struct oscillator *o, double h)
{
    double k[4][2], x[2];

    slope(k[0], o->x, o->mu);
    for (unsigned s = 1; s < 4; s++) {
        for (unsigned i = 0; i < 2; i++)
            x[i] = o->x[i] + k[s - 1][i] * (s < 3 ? h / 2 : h);
        slope(k[s], x, o->mu);
    }
    for (unsigned i = 0; i < 2; i++)
        o->x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
}

/* In equal parts of at most a millisecond. */
static enum fmu_status oscillator_step(struct fmu *fmu, void *self, double t, double h)
{
    struct oscillator *o = self;
    const unsigned parts = (unsigned)ceil(h / 1e-3);

    (void)t;
    for (unsigned i = 0; i < parts; i++)
        advance(o, h / parts);
    if (isfinite(o->x[0]) && isfinite(o->x[1]))
        return FMU_OK;
    fmu_log(fmu, FMU_ERROR, "the oscillator has diverged");
    return FMU_ERROR;
}

static void oscillator_end(void *self)
{
    (void)self;
}

const struct fmu_model fmu_model = {
    .token = "{b7c2a6de-58c0-4d32-8f0e-2a4e0c9e7001}",
    .size = sizeof(struct oscillator),
    .variables = variables,
    .count = sizeof variables / sizeof variables[0],
    .begin = oscillator_begin,
    .initialize = oscillator_initialize,
    .step = oscillator_step,
    .end = oscillator_end,
};
