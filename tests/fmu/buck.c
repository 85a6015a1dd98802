/* The buck, by the code of plants/: so its numbers are those of the model `buck`. */
#include <stddef.h>

#include "fmu.h"
#include "plants/models.h"

enum { PARAMETERS = 6, INPUTS = 4, OUTPUTS = 2, STATES = 2 }; /* enable keeps its default */

struct buck {
    double parameters[PARAMETERS], inputs[INPUTS], outputs[OUTPUTS], initial[STATES];
    void *component;
};

#define ROW(vr, field, i)                                                                          \
    {                                                                                              \
        (vr), FMU_FLOAT64, offsetof(struct buck, field) + (i) * sizeof(double), 1, 0               \
    }

static const struct fmu_variable variables[] = {
    ROW(100, parameters, 0), ROW(101, parameters, 1), ROW(102, parameters, 2),
    ROW(103, parameters, 3), ROW(104, parameters, 4), ROW(105, parameters, 5),
    ROW(0, inputs, 0),       ROW(1, inputs, 1),       ROW(2, inputs, 2),
    ROW(10, outputs, 0),     ROW(11, outputs, 1),     ROW(20, initial, 0),
    ROW(21, initial, 1),
};

static void buck_log(void *arg, const char *line)
{
    fmu_log(arg, FMU_ERROR, line);
}

static void buck_begin(void *self)
{
    struct buck *buck = self;

    for (unsigned i = 0; i < PARAMETERS; i++)
        buck->parameters[i] = model_buck.parameters.at[i].value;
    for (unsigned i = 0; i < INPUTS; i++)
        buck->inputs[i] = model_buck.inputs.at[i].value;
}

/* The first step's size is the period: the component is made then. */
static enum fmu_status buck_initialize(struct fmu *fmu, void *self)
{
    (void)fmu;
    struct buck *buck = self;

    buck->outputs[1] = buck->initial[0];
    return FMU_OK;
}

static int buck_create(struct fmu *fmu, struct buck *buck, double h)
{
    const struct hil_config config = {
        .size = sizeof config,
        .width = 1,
        .period_s = h,
        .parameters = buck->parameters,
        .states = buck->initial,
        .log = buck_log,
        .log_arg = fmu,
    };

    return model_buck.create(&buck->component, &config);
}

static enum fmu_status buck_step(struct fmu *fmu, void *self, double t, double h)
{
    struct buck *buck = self;

    if (!buck->component && buck_create(fmu, buck, h))
        return FMU_ERROR;
    const uint64_t t_ns = (uint64_t)((t + h) * 1e9 + 0.5);
    return model_buck.step(buck->component, t_ns, buck->inputs, buck->outputs) ? FMU_ERROR : FMU_OK;
}

static void buck_end(void *self)
{
    struct buck *buck = self;

    if (buck->component)
        model_buck.destroy(buck->component);
}

const struct fmu_model fmu_model = {
    .token = "{6f0b1f9a-3c1d-4d5e-9d7a-0d3a5a7b11c2}",
    .size = sizeof(struct buck),
    .variables = variables,
    .count = sizeof variables / sizeof variables[0],
    .begin = buck_begin,
    .initialize = buck_initialize,
    .step = buck_step,
    .end = buck_end,
};
