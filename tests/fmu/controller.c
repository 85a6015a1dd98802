/* A PI controller with limits and anti-windup: a sampled one, which computes once in each step, on
 * the inputs at its beginning. */
#include <math.h>
#include <stdbool.h>

#include "fmu.h"

struct controller {
    double setpoint, measurement, output;
    double gains[2]; /* proportional, integral (per second) */
    double limits[2];
    bool hold; /* the integral stands still */
    double integral;
};

static const struct fmu_variable variables[] = {
    FMU_VARIABLE(1, FMU_FLOAT64, struct controller, setpoint),
    FMU_VARIABLE(2, FMU_FLOAT64, struct controller, measurement),
    FMU_VARIABLE(3, FMU_FLOAT64, struct controller, output),
    {4, FMU_FLOAT64, offsetof(struct controller, gains), 1, 0},
    {5, FMU_FLOAT64, offsetof(struct controller, gains) + sizeof(double), 1, 0},
    {6, FMU_FLOAT64, offsetof(struct controller, limits), 1, 0},
    {7, FMU_FLOAT64, offsetof(struct controller, limits) + sizeof(double), 1, 0},
    FMU_VARIABLE(8, FMU_BOOLEAN, struct controller, hold),
    {14, FMU_FLOAT64, offsetof(struct controller, gains), 2, 0},
    {16, FMU_FLOAT64, offsetof(struct controller, limits), 2, 0},
};

static void controller_begin(void *self)
{
    *(struct controller *)self = (struct controller){.gains = {0.001, 20}, .limits = {0, 1}};
}

static enum fmu_status controller_initialize(struct fmu *fmu, void *self)
{
    const struct controller *c = self;

    if (c->limits[0] <= c->limits[1])
        return FMU_OK;
    fmu_log(fmu, FMU_ERROR, "the lower limit is above the upper one");
    return FMU_ERROR;
}

static enum fmu_status controller_step(struct fmu *fmu, void *self, double t, double h)
{
    struct controller *c = self;
    const double error = c->setpoint - c->measurement;
    const double next = c->integral + (c->hold ? 0 : c->gains[1] * h * error);
    const double wanted = c->gains[0] * error + next;

    (void)fmu, (void)t;
    c->output = fmin(fmax(wanted, c->limits[0]), c->limits[1]);
    if (c->output == wanted)
        c->integral = next;
    return FMU_OK;
}

static void controller_end(void *self)
{
    (void)self;
}

const struct fmu_model fmu_model = {
    .token = "{2d1d3a30-7c0f-4e0f-b0b7-91a3f8d2e6c4}",
    .size = sizeof(struct controller),
    .variables = variables,
    .count = sizeof variables / sizeof variables[0],
    .begin = controller_begin,
    .initialize = controller_initialize,
    .step = controller_step,
    .end = controller_end,
};
