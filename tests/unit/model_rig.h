/* Runs a component of any model through its descriptor, as the harness does. */
#ifndef TEST_MODEL_RIG_H
#define TEST_MODEL_RIG_H

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>

#include "harness/models/models.h"
#include "harness/models/provider/tables.h"

enum { RIG_PLACES = 128, RIG_SAID_BYTES = 256 };

struct rig {
    const struct hil_model *model;
    void *self;
    double period_s;
    uint64_t steps;
    double in[RIG_PLACES], out[RIG_PLACES];
};

/* The last messages of models. */
static char rig_said[RIG_SAID_BYTES];

static inline void rig_log(void *arg, const char *line)
{
    (void)arg;
    snprintf(rig_said, sizeof rig_said, "%s", line);
}

/* Fills in the table's values for a component of this width. */
static inline void rig_values(const struct hil_quantities *table, unsigned width, double *values)
{
    for (unsigned i = 0; i < table->count; i++)
        for (unsigned k = 0; k < (table->at[i].flags & HIL_WIDE ? width : 1); k++)
            *values++ = table->at[i].flags & HIL_OWN ? NAN : table->at[i].value;
}

static inline void rig_defaults(double *parameters, const char *name)
{
    rig_values(&hil_model_find(name)->parameters, 1, parameters);
}

/* Makes a component. Returns the result of create(); sets rig->self on success only. */
static inline int rig_try(struct rig *rig, const char *name, unsigned width,
                          const double *parameters, const double *states, double period_s)
{
    *rig = (struct rig){.model = hil_model_find(name), .period_s = period_s};
    const struct hil_config config = {.size = sizeof config,
                                      .width = width,
                                      .period_s = period_s,
                                      .parameters = parameters,
                                      .states = states,
                                      .log = rig_log,
                                      .warn = rig_log,
                                      .note = rig_log,
                                      .model = rig->model};

    cr_assert_not_null(rig->model, "there is no %s", name);
    rig_said[0] = '\0';
    int rc = rig->model->create(&rig->self, &config);
    cr_assert_eq(rc != 0, rig->self == NULL, "%s", name);
    return rc;
}

/* Makes a component of width 1. NULL stands for the table's parameters or states. Inputs get the
 * table's values. */
static inline struct rig rig_open(const char *name, const double *parameters, const double *states,
                                  double period_s)
{
    const struct hil_model *m = hil_model_find(name);
    double defaults[HIL_QUANTITIES_MAX], initial[HIL_QUANTITIES_MAX];
    struct rig rig;

    cr_assert_not_null(m, "there is no %s", name);
    rig_values(&m->parameters, 1, defaults);
    rig_values(&m->states, 1, initial);
    int rc = rig_try(&rig, name, 1, parameters ? parameters : defaults, states ? states : initial,
                     period_s);
    cr_assert_eq(rc, 0, "%s: %s", name, rig_said);
    rig_values(&m->inputs, 1, rig.in);
    return rig;
}

static inline void rig_step(struct rig *rig)
{
    uint64_t t_ns = (uint64_t)llround((double)++rig->steps * rig->period_s * 1e9);

    cr_assert_eq(rig->model->step(rig->self, t_ns, rig->in, rig->out), 0, "%s", rig->model->name);
}

static inline void rig_end(struct rig *rig)
{
    rig->model->destroy(rig->self);
}

#endif
