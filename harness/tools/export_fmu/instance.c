#include "instance.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

enum fmu_mode { FMU_INSTANTIATED, FMU_INITIALIZATION, FMU_STEP };

struct hil_fmu_instance {
    const struct hil_model *model;
    struct hil_fmu_label label;
    struct hil_fmu_variables variables;
    hil_fmu_log_fn *log;
    void *log_arg;

    double *values[HIL_FMU_ROLES]; /* values of the variables, by role */
    double *made_with;             /* the parameters passed to create(); they may have been tuned
                                    * since */
    size_t value_count;            /* total number of values */

    void *component; /* or NULL */
    bool outdated;   /* values have changed since the component was made */
    bool ended;      /* the last step ended the simulation */
    enum fmu_mode mode;
    uint64_t period_ns, steps;
    double period_s, start_s, stop_s; /* stop_s: infinite if the tool gave none */
};

/* --- messages ------------------------------------------------------------------------------- */

enum hil_fmu_status hil_fmu_say(const struct hil_fmu_instance *f, enum hil_fmu_status status,
                                const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    f->log(f->log_arg, status, text);
    return status;
}

/* Forwards the model's own messages. */
static void fmu_model_log(void *arg, const char *line)
{
    const struct hil_fmu_instance *f = arg;

    f->log(f->log_arg, HIL_FMU_ERROR, line);
}

/* --- life ----------------------------------------------------------------------------------- */

/* One allocation holds all values. */
static int fmu_allocate(struct hil_fmu_instance *f)
{
    const uint32_t *places = f->variables.places;
    size_t count = places[HIL_FMU_PARAMETER];

    for (unsigned role = 0; role < HIL_FMU_ROLES; role++)
        count += places[role];
    double *at = calloc(count, sizeof *at);
    if (!at)
        return -ENOMEM;
    f->value_count = count;
    for (unsigned role = 0; role < HIL_FMU_ROLES; role++, at += places[role - 1])
        f->values[role] = at;
    f->made_with = at;
    return 0;
}

static void fmu_drop(struct hil_fmu_instance *f)
{
    if (f->component)
        f->model->destroy(f->component);
    f->component = NULL;
}

static void fmu_begin(struct hil_fmu_instance *f)
{
    for (uint32_t i = 0; i < f->variables.count; i++) {
        const struct hil_fmu_variable *v = &f->variables.at[i];
        for (uint32_t k = 0; k < v->count; k++)
            f->values[v->role][v->place + k] = v->quantity->value;
    }
    *f->values[HIL_FMU_STEP_SIZE] = (double)f->label.period_ns * 1e-9;
    f->steps = 0;
    f->ended = false;
    f->start_s = 0;
    f->stop_s = INFINITY;
    f->mode = FMU_INSTANTIATED;
}

struct hil_fmu_instance *hil_fmu_instantiate(const char *token, bool arrays, hil_fmu_log_fn *log,
                                             void *log_arg)
{
    struct hil_fmu_instance *f = calloc(1, sizeof *f);
    char wrong[1024] = "there is no memory";

    if (!f)
        return NULL;
    *f = (struct hil_fmu_instance){.log = log, .log_arg = log_arg};
    int rc = hil_fmu_model_find(&f->model, &f->label, wrong, sizeof wrong);
    if (!rc && (!token || strcmp(token, f->label.token) != 0)) {
        snprintf(wrong, sizeof wrong, "the token (guid) is %s; this FMU has %s",
                 token ? token : "missing", f->label.token);
        rc = -EINVAL;
    }
    if (!rc)
        rc = hil_fmu_variables_make(&f->variables, f->model, f->label.width, arrays);
    if (!rc)
        rc = fmu_allocate(f);
    if (rc) {
        hil_fmu_say(f, HIL_FMU_ERROR, "%s", wrong);
        hil_fmu_free(f);
        return NULL;
    }
    fmu_begin(f);
    return f;
}

void hil_fmu_free(struct hil_fmu_instance *f)
{
    if (!f)
        return;
    fmu_drop(f);
    free(f->values[0]);
    hil_fmu_variables_free(&f->variables);
    free(f);
}

enum hil_fmu_status hil_fmu_reset(struct hil_fmu_instance *f)
{
    fmu_drop(f);
    fmu_begin(f);
    return HIL_FMU_OK;
}

/* --- the component -------------------------------------------------------------------------- */

static enum hil_fmu_status fmu_create(struct hil_fmu_instance *f, const double *parameters)
{
    const struct hil_config config = {
        .size = sizeof config,
        .width = f->label.width,
        .period_s = f->period_s,
        .parameters = parameters,
        .states = f->values[HIL_FMU_STATE],
        .log = fmu_model_log,
        .log_arg = f,
        .model = f->model,
    };

    fmu_drop(f);
    int rc = f->model->create(&f->component, &config);
    if (!rc)
        return HIL_FMU_OK;
    f->component = NULL;
    return hil_fmu_say(f, HIL_FMU_ERROR,
                       "%s cannot be made of these parameters, with a period of "
                       "%g s (%s)",
                       f->model->name, f->period_s, strerror(-rc));
}

/* A period must be a whole number of nanoseconds. */
static enum hil_fmu_status fmu_set_period(struct hil_fmu_instance *f)
{
    const double ns = *f->values[HIL_FMU_STEP_SIZE] * 1e9;

    f->period_ns = (uint64_t)llround(ns);
    f->period_s = (double)f->period_ns * 1e-9;
    if (fabs(ns - (double)f->period_ns) < 1e-3)
        return HIL_FMU_OK;
    return hil_fmu_say(f, HIL_FMU_ERROR, "step_size_s is %.12g; allowed: whole nanoseconds",
                       ns * 1e-9);
}

/* Makes the component from the current values, unless it is up to date. */
static enum hil_fmu_status fmu_update(struct hil_fmu_instance *f)
{
    if (f->component && !f->outdated)
        return HIL_FMU_OK;
    enum hil_fmu_status status = fmu_set_period(f);
    if (status)
        return status;
    memcpy(f->made_with, f->values[HIL_FMU_PARAMETER],
           f->variables.places[HIL_FMU_PARAMETER] * sizeof *f->made_with);
    status = fmu_create(f, f->made_with);
    f->outdated = status != HIL_FMU_OK;
    return status;
}

/* Computes the outputs before the first step, from the current inputs. */
static enum hil_fmu_status fmu_first_outputs(struct hil_fmu_instance *f)
{
    enum hil_fmu_status status = fmu_update(f);

    if (status || !f->model->output)
        return status;
    return f->model->output(f->component, f->values[HIL_FMU_INPUT], f->values[HIL_FMU_OUTPUT])
               ? HIL_FMU_ERROR
               : HIL_FMU_OK;
}

/* --- modes ---------------------------------------------------------------------------------- */

static const char *const fmu_modes[] = {"before the initialization mode",
                                        "in the initialization mode",
                                        "after the initialization mode"};

static enum hil_fmu_status fmu_expect(const struct hil_fmu_instance *f, enum fmu_mode mode,
                                      const char *what)
{
    if (f->mode == mode)
        return HIL_FMU_OK;
    return hil_fmu_say(f, HIL_FMU_ERROR, "%s was told %s; allowed: %s", what, fmu_modes[f->mode],
                       fmu_modes[mode]);
}

enum hil_fmu_status hil_fmu_set_times(struct hil_fmu_instance *f, double start_s, double stop_s)
{
    enum hil_fmu_status status = fmu_expect(f, FMU_INSTANTIATED, "the start time");

    if (!status && !(isfinite(start_s) && start_s <= stop_s))
        status = hil_fmu_say(f, HIL_FMU_ERROR,
                             "the start time is %g s and the stop time %g s; allowed: a finite "
                             "start time that is not after the stop time",
                             start_s, stop_s);
    if (status)
        return status;
    f->start_s = start_s;
    f->stop_s = stop_s;
    return HIL_FMU_OK;
}

enum hil_fmu_status hil_fmu_enter_initialization(struct hil_fmu_instance *f)
{
    enum hil_fmu_status status = fmu_expect(f, FMU_INSTANTIATED, "the initialization mode");

    if (!status)
        f->mode = FMU_INITIALIZATION;
    return status;
}

enum hil_fmu_status hil_fmu_exit_initialization(struct hil_fmu_instance *f)
{
    enum hil_fmu_status status = fmu_expect(f, FMU_INITIALIZATION, "the end of the initialization");

    if (!status)
        status = fmu_first_outputs(f);
    if (status)
        return status;
    f->mode = FMU_STEP;
    f->steps = 0;
    f->ended = false;
    return HIL_FMU_OK;
}

/* --- variables ------------------------------------------------------------------------------ */

const struct hil_fmu_variable *hil_fmu_variable(const struct hil_fmu_instance *f,
                                                uint32_t reference, bool whole)
{
    if (reference < f->variables.count && hil_fmu_is_whole(&f->variables.at[reference]) == whole)
        return &f->variables.at[reference];
    hil_fmu_say(f, HIL_FMU_ERROR, "there is no %s with the value reference %u",
                whole ? "integer" : "real variable", reference);
    return NULL;
}

double hil_fmu_time(const struct hil_fmu_instance *f)
{
    return f->start_s + (double)(f->steps * f->period_ns) * 1e-9;
}

enum hil_fmu_status hil_fmu_get(struct hil_fmu_instance *f, const struct hil_fmu_variable *v,
                                double *values)
{
    enum hil_fmu_status status = HIL_FMU_OK;

    if (v->role == HIL_FMU_TIME)
        *f->values[HIL_FMU_TIME] = f->mode == FMU_INSTANTIATED ? 0 : hil_fmu_time(f);
    if (v->role == HIL_FMU_OUTPUT && f->mode == FMU_INITIALIZATION)
        status = fmu_first_outputs(f);
    memcpy(values, &f->values[v->role][v->place], v->count * sizeof *values);
    return status;
}

/* Whether the values are within the ranges of the table. */
static enum hil_fmu_status fmu_check(const struct hil_fmu_instance *f,
                                     const struct hil_fmu_variable *v, const double *values)
{
    const struct hil_quantity *q = v->quantity;

    for (uint32_t k = 0; k < v->count; k++) {
        if (v->role == HIL_FMU_INPUT ? isfinite(values[k])
                                     : q->min <= values[k] && values[k] <= q->max)
            continue;
        if (v->role == HIL_FMU_INPUT)
            return hil_fmu_say(f, HIL_FMU_DISCARD, "%s is %g; allowed: a finite number", v->name,
                               values[k]);
        return hil_fmu_say(f, HIL_FMU_DISCARD, "%s is %g; allowed: %g to %g", v->name, values[k],
                           q->min, q->max);
    }
    return HIL_FMU_OK;
}

/* Tunes the running component. */
static enum hil_fmu_status fmu_tune(struct hil_fmu_instance *f, const struct hil_fmu_variable *v,
                                    const double *values)
{
    for (uint32_t k = 0; k < v->count; k++) {
        const uint32_t place = v->place + k;
        int rc = f->model->tune(f->component, place, values[k]);
        if (rc)
            return hil_fmu_say(f, HIL_FMU_DISCARD, "%s cannot become %g (%s)", v->name, values[k],
                               strerror(-rc));
        f->values[HIL_FMU_PARAMETER][place] = values[k];
    }
    return HIL_FMU_OK;
}

enum hil_fmu_status hil_fmu_set(struct hil_fmu_instance *f, const struct hil_fmu_variable *v,
                                const double *values)
{
    if (v->role == HIL_FMU_TIME || v->role == HIL_FMU_OUTPUT)
        return hil_fmu_say(f, HIL_FMU_ERROR, "%s cannot be set", v->name);
    if (f->mode == FMU_STEP && !hil_fmu_is_tunable(v))
        return hil_fmu_say(f, HIL_FMU_ERROR,
                           "%s cannot be set after the initialization: it is fixed", v->name);
    enum hil_fmu_status status = fmu_check(f, v, values);
    if (status)
        return status;
    if (f->mode == FMU_STEP && v->role == HIL_FMU_PARAMETER)
        return fmu_tune(f, v, values);
    memcpy(&f->values[v->role][v->place], values, v->count * sizeof *values);
    f->outdated |= v->role != HIL_FMU_INPUT;
    return HIL_FMU_OK;
}

/* --- steps ---------------------------------------------------------------------------------- */

/* The number of periods in a communication step; 0 after a message. */
static uint64_t fmu_periods(const struct hil_fmu_instance *f, double from_s, double size_s)
{
    const double periods = round(size_s / f->period_s);

    if (!(periods >= 1 && periods < 0x1p53) || fabs(size_s / f->period_s - periods) > 1e-3) {
        hil_fmu_say(f, HIL_FMU_ERROR,
                    "the communication step is %.12g s; allowed: step_size_s, %.12g s, or whole "
                    "multiples of it",
                    size_s, f->period_s);
        return 0;
    }
    if (fabs(from_s - hil_fmu_time(f)) > f->period_s / 2) {
        hil_fmu_say(f, HIL_FMU_ERROR,
                    "the communication step begins at %.12g s; allowed: %.12g s, where the last "
                    "one ended",
                    from_s, hil_fmu_time(f));
        return 0;
    }
    if (from_s + size_s > f->stop_s + f->period_s / 2) {
        hil_fmu_say(f, HIL_FMU_ERROR,
                    "the communication step ends at %.12g s; allowed: up to %.12g s, the stop time",
                    from_s + size_s, f->stop_s);
        return 0;
    }
    return (uint64_t)periods;
}

static int fmu_period(struct hil_fmu_instance *f)
{
    const double *in = f->values[HIL_FMU_INPUT];
    const bool at_end = f->model->kind == HIL_CONTINUOUS;
    int rc = f->model->apply && at_end ? f->model->apply(f->component, in) : 0;

    if (rc)
        return rc;
    const uint64_t t_ns = (f->steps + at_end) * f->period_ns;
    return f->model->step(f->component, t_ns, in, f->values[HIL_FMU_OUTPUT]);
}

static enum hil_fmu_status fmu_check_outputs(const struct hil_fmu_instance *f)
{
    for (uint32_t i = 0; i < f->variables.count; i++) {
        const struct hil_fmu_variable *v = &f->variables.at[i];
        for (uint32_t k = 0; v->role == HIL_FMU_OUTPUT && k < v->count; k++)
            if (!isfinite(f->values[HIL_FMU_OUTPUT][v->place + k]))
                return hil_fmu_say(f, HIL_FMU_ERROR, "%s is not finite at %.12g s", v->name,
                                   hil_fmu_time(f));
    }
    return HIL_FMU_OK;
}

enum hil_fmu_status hil_fmu_do_step(struct hil_fmu_instance *f, double from_s, double size_s)
{
    if (fmu_expect(f, FMU_STEP, "a step"))
        return HIL_FMU_ERROR;
    const uint64_t periods = fmu_periods(f, from_s, size_s);
    if (!periods)
        return HIL_FMU_ERROR;
    for (uint64_t i = 0; i < periods; i++) {
        int rc = fmu_period(f);
        f->ended = rc == -ESHUTDOWN; /* its outputs are there */
        if (rc && !f->ended)
            return hil_fmu_say(f, HIL_FMU_ERROR, "the step at %.12g s failed (%s)", hil_fmu_time(f),
                               strerror(-rc));
        f->steps++;
        if (fmu_check_outputs(f))
            return HIL_FMU_ERROR;
        if (f->ended)
            return hil_fmu_say(f, HIL_FMU_DISCARD, "the model ends the simulation at %.12g s",
                               hil_fmu_time(f));
    }
    return HIL_FMU_OK;
}

bool hil_fmu_has_ended(const struct hil_fmu_instance *f)
{
    return f->ended;
}

/* --- states --------------------------------------------------------------------------------- */

struct fmu_block {
    struct hil_fmu_state state;
    char token[HIL_FMU_TOKEN_BYTES];
    uint64_t period_ns, steps;
    double start_s;
    uint32_t mode, made; /* made: a component exists, and its bytes follow the values */
    double values[];
};

static size_t fmu_block_size(const struct hil_fmu_instance *f, size_t component_bytes)
{
    return sizeof(struct fmu_block) + f->value_count * sizeof(double) + component_bytes;
}

enum hil_fmu_status hil_fmu_get_state(struct hil_fmu_instance *f, struct hil_fmu_state **state)
{
    const struct hil_model *m = f->model;

    if (!m->save)
        return hil_fmu_say(f, HIL_FMU_ERROR, "%s has no state that can be saved", m->name);
    const bool made = f->component && !f->outdated;
    const int64_t bytes = made ? m->save(f->component, NULL, 0) : 0;
    if (bytes < 0)
        return hil_fmu_say(f, HIL_FMU_ERROR, "the state cannot be saved");
    const size_t size = fmu_block_size(f, (size_t)bytes);
    struct fmu_block *b = realloc(*state, size);
    if (!b)
        return hil_fmu_say(f, HIL_FMU_ERROR, "there is no memory");
    *state = &b->state;
    *b = (struct fmu_block){
        .state.size = size,
        .period_ns = f->period_ns,
        .steps = f->steps,
        .start_s = f->start_s,
        .mode = f->mode,
        .made = made,
    };
    memcpy(b->token, f->label.token, sizeof b->token);
    memcpy(b->values, f->values[0], f->value_count * sizeof(double));
    if (made && m->save(f->component, b->values + f->value_count, (size_t)bytes) != bytes)
        return hil_fmu_say(f, HIL_FMU_ERROR, "the state cannot be saved");
    return HIL_FMU_OK;
}

enum hil_fmu_status hil_fmu_set_state(struct hil_fmu_instance *f, const struct hil_fmu_state *state)
{
    const struct fmu_block *b = (const struct fmu_block *)state;

    memcpy(f->values[0], b->values, f->value_count * sizeof(double));
    f->mode = b->mode;
    f->period_ns = b->period_ns;
    f->period_s = (double)b->period_ns * 1e-9;
    f->steps = b->steps;
    f->ended = false;
    f->start_s = b->start_s;
    f->outdated = true;
    if (!b->made)
        return HIL_FMU_OK;
    enum hil_fmu_status status = fmu_create(f, f->made_with);
    if (status)
        return status;
    f->outdated = false;
    if (f->model->restore(f->component, b->values + f->value_count,
                          (size_t)b->state.size - fmu_block_size(f, 0)))
        return hil_fmu_say(f, HIL_FMU_ERROR, "the state cannot be restored");
    return HIL_FMU_OK;
}

enum hil_fmu_status hil_fmu_read_state(struct hil_fmu_instance *f, const void *bytes, size_t size,
                                       struct hil_fmu_state **state)
{
    struct fmu_block *b = size < fmu_block_size(f, 0) ? NULL : malloc(size);

    if (b)
        memcpy(b, bytes, size);
    if (!b || !f->model->restore || b->state.size != size || b->mode > FMU_STEP ||
        memcmp(b->token, f->label.token, sizeof b->token) != 0) {
        free(b);
        return hil_fmu_say(f, HIL_FMU_ERROR, "these bytes are no state of this FMU");
    }
    *state = &b->state;
    return HIL_FMU_OK;
}
