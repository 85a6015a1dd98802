#include "faulted_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../models/component.h"
#include "fault_value.h"

/* A fault on an input or an output. */
struct faulted_signal {
    struct hil_fault_value value;
    const struct hil_fault_now *now;
    unsigned at;     /* among the component's inputs or outputs */
    double *shadow;  /* where the signal's other value goes: with or without the fault */
    double original; /* an output with a computation delay: what *shadow gets with the next step */
    bool first;      /* the first fault on this signal */
};

/* A fault on a parameter. */
struct faulted_parameter {
    const struct hil_fault_now *now;
    unsigned place;
    double tuned;
};

struct hil_faulted_part {
    struct hil_model model; /* replaces `of` */
    const struct hil_model *of;
    void *self; /* the instance that `of` made */
    struct hil_faults *faults;
    struct step_part *part;
    double *in;    /* the inputs with their faults */
    double *tuned; /* present value of each faulted parameter */
    struct faulted_signal *inputs, *outputs;
    struct faulted_parameter *parameters;
    unsigned input_count, output_count, parameter_count;
    bool looked; /* in[] is that of this step */
};

/* --- signals --------------------------------------------------------------------------------- */

static double faulted_value(const struct hil_faulted_part *p, struct faulted_signal *s, double x)
{
    const struct hil_faults *f = p->faults;

    return hil_fault_value_of(&s->value, s->now->on, f->n,
                              s->now->on ? f->due - s->now->begin_ns : 0, x);
}

/* If several faults act on one input, each takes what the one before it gives. */
static void faulted_inputs(struct hil_faulted_part *p, const double *in)
{
    memcpy(p->in, in, p->part->config->in_count * sizeof *in);
    for (unsigned i = 0; i < p->input_count; i++) {
        struct faulted_signal *s = &p->inputs[i];
        *s->shadow = faulted_value(p, s, p->in[s->at]);
        p->in[s->at] = *s->shadow;
    }
    p->looked = true;
}

void hil_faulted_parts_look(struct hil_faults *f)
{
    for (unsigned i = 0; i < f->part_count; i++) {
        struct hil_faulted_part *p = &f->parts[i];
        if (!p->looked)
            faulted_inputs(p, p->part->in);
        p->looked = false;
    }
}

static bool faulted_delayed(const struct hil_faulted_part *p)
{
    return p->part->next != p->part->out;
}

static void faulted_outputs(struct hil_faulted_part *p, double *out)
{
    for (unsigned i = 0; i < p->output_count; i++) {
        struct faulted_signal *s = &p->outputs[i];
        if (s->first)
            *(faulted_delayed(p) ? &s->original : s->shadow) = out[s->at];
        out[s->at] = faulted_value(p, s, out[s->at]);
    }
}

void hil_faulted_parts_release(struct hil_faults *f)
{
    for (unsigned i = 0; i < f->part_count; i++) {
        struct hil_faulted_part *p = &f->parts[i];
        for (unsigned k = 0; k < p->output_count && faulted_delayed(p); k++)
            if (p->outputs[k].first && !p->part->failed && !p->part->rests)
                *p->outputs[k].shadow = p->outputs[k].original;
    }
}

/* --- parameters ------------------------------------------------------------------------------ */

/* If several faults on one parameter are on, the last one sets it. */
static double faulted_parameter(const struct hil_faulted_part *p, unsigned place, bool before)
{
    double value = p->part->parameters[place];

    for (unsigned i = 0; i < p->parameter_count; i++) {
        const struct faulted_parameter *q = &p->parameters[i];
        if (q->place == place && (before ? q->now->before : q->now->on))
            value = q->tuned;
    }
    return value;
}

static int faulted_tune_all(struct hil_faulted_part *p, bool before)
{
    int rc = 0;

    for (unsigned i = 0; i < p->parameter_count && !rc; i++) {
        const unsigned place = p->parameters[i].place;
        const double value = faulted_parameter(p, place, before);
        if (value == p->tuned[i])
            continue;
        rc = p->of->tune(p->self, place, value);
        for (unsigned k = 0; k < p->parameter_count; k++)
            if (p->parameters[k].place == place)
                p->tuned[k] = value;
    }
    return rc;
}

/* --- the model ------------------------------------------------------------------------------- */

static int faulted_create(void **self, const struct hil_config *config)
{
    struct hil_faulted_part *p = (struct hil_faulted_part *)(void *)(size_t)config->model;
    struct hil_config own = *config;

    own.model = p->of;
    int rc = hil_component_create(&p->self, &own);
    if (!rc)
        *self = p;
    return rc;
}

static void faulted_destroy(void *self)
{
    struct hil_faulted_part *p = self;

    hil_component_destroy(p->of, p->self);
}

static int faulted_output(const void *self, const double *in, double *out)
{
    const struct hil_faulted_part *p = self;

    return p->of->output(p->self, in, out);
}

/* Devices get their inputs when these are latched. */
static int faulted_apply(void *self, const double *in)
{
    struct hil_faulted_part *p = self;

    faulted_inputs(p, in);
    return p->of->apply(p->self, p->in);
}

static int faulted_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct hil_faulted_part *p = self;
    const bool continuous = p->of->kind == HIL_CONTINUOUS;
    int rc = faulted_tune_all(p, continuous);

    if (rc)
        return rc;
    if (!continuous)
        faulted_inputs(p, in);
    rc = p->of->step(p->self, t_ns, p->in, out);
    if (!rc || rc == -ESTALE || rc == -ESHUTDOWN)
        faulted_outputs(p, out);
    return rc;
}

/* A fault that is on sets the parameter again before the next step. */
static int faulted_tune(void *self, uint32_t place, double value)
{
    struct hil_faulted_part *p = self;
    const int rc = p->of->tune(p->self, place, value);

    for (unsigned i = 0; !rc && i < p->parameter_count; i++)
        if (p->parameters[i].place == place)
            p->tuned[i] = value;
    return rc;
}

static void faulted_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    const struct hil_faulted_part *p = self;

    p->of->numbers(p->self, each, arg);
}

static void faulted_model(struct hil_faulted_part *p)
{
    p->model = *p->of;
    p->model.create = faulted_create;
    p->model.destroy = faulted_destroy;
    p->model.step = faulted_step;
    p->model.output = p->of->output ? faulted_output : NULL;
    p->model.apply = p->of->apply ? faulted_apply : NULL;
    p->model.tune = p->of->tune ? faulted_tune : NULL;
    p->model.save = NULL;
    p->model.restore = NULL;
    p->model.numbers = p->of->numbers ? faulted_numbers : NULL;
}

/* --- opening --------------------------------------------------------------------------------- */

static struct step_part *faulted_part_of(const struct hil_step *s, unsigned component)
{
    unsigned i = 0;

    while (s->parts[i].number != component)
        i++;
    return &s->parts[i];
}

static struct hil_faulted_part *faulted_find(const struct hil_faults *f,
                                             const struct step_part *part)
{
    for (unsigned i = 0; i < f->part_count; i++)
        if (f->parts[i].part == part)
            return &f->parts[i];
    return NULL;
}

/* Each list has room for all acts of the node; these are few. */
static int faulted_open(struct hil_faults *f, struct step_part *part, unsigned acts)
{
    struct hil_faulted_part *p = &f->parts[f->part_count++];

    *p = (struct hil_faulted_part){.of = part->model, .faults = f, .part = part};
    faulted_model(p);
    part->model = &p->model;
    p->in = calloc(part->config->in_count + 1, sizeof *p->in);
    p->inputs = calloc(acts, sizeof *p->inputs);
    p->outputs = calloc(acts, sizeof *p->outputs);
    p->parameters = calloc(acts, sizeof *p->parameters);
    p->tuned = calloc(acts, sizeof *p->tuned);
    return p->in && p->inputs && p->outputs && p->parameters && p->tuned ? 0 : -ENOMEM;
}

static int faulted_add_signal(struct hil_faulted_part *p, const struct hil_fault_now *now,
                              const struct hil_act *act)
{
    struct faulted_signal *list = act->output ? p->outputs : p->inputs;
    unsigned *count = act->output ? &p->output_count : &p->input_count;
    const struct hil_step *s = p->faults->step;
    bool first = true;

    for (unsigned i = 0; i < *count; i++)
        first &= list[i].at != act->at;
    list[*count] = (struct faulted_signal){
        .now = now,
        .at = act->at,
        .shadow = &s->values[s->shadowed + act->shadow],
        .first = first,
    };
    return hil_fault_value_open(&list[(*count)++].value, now->fault, act->number,
                                s->node->config->timing.period_ns);
}

static int faulted_add(struct hil_faults *f, const struct hil_fault_now *now,
                       const struct hil_act *act, unsigned acts)
{
    struct step_part *part = faulted_part_of(f->step, act->component);
    struct hil_faulted_part *p = faulted_find(f, part);

    if (!p) {
        int rc = faulted_open(f, part, acts);
        if (rc)
            return rc;
        p = faulted_find(f, part);
    }
    if (now->fault->of == HIL_FAULT_OF_SIGNAL)
        return faulted_add_signal(p, now, act);
    p->parameters[p->parameter_count++] =
        (struct faulted_parameter){.now = now, .place = act->at, .tuned = act->tuned};
    return 0;
}

static bool faulted_is_of_component(const struct hil_fault *fault)
{
    return fault->of == HIL_FAULT_OF_SIGNAL || fault->of == HIL_FAULT_OF_COMPONENT;
}

int hil_faulted_parts_open(struct hil_faults *f)
{
    unsigned acts = 0;
    int rc = 0;

    for (unsigned i = 0; i < f->count; i++)
        if (faulted_is_of_component(f->now[i].fault))
            acts += f->now[i].here->act_count;
    f->parts = calloc(acts + 1, sizeof *f->parts);
    if (!f->parts)
        return -ENOMEM;
    for (unsigned i = 0; i < f->count; i++)
        for (unsigned k = 0; k < f->now[i].here->act_count && !rc; k++)
            if (faulted_is_of_component(f->now[i].fault))
                rc = faulted_add(f, &f->now[i], &f->now[i].here->acts[k], acts);
    return rc;
}

static void faulted_close(struct hil_faulted_part *p)
{
    for (unsigned i = 0; i < p->input_count; i++)
        hil_fault_value_close(&p->inputs[i].value);
    for (unsigned i = 0; i < p->output_count; i++)
        hil_fault_value_close(&p->outputs[i].value);
    free(p->in);
    free(p->inputs);
    free(p->outputs);
    free(p->parameters);
    free(p->tuned);
}

void hil_faulted_parts_close(struct hil_faults *f)
{
    for (unsigned i = 0; f->parts && i < f->part_count; i++)
        faulted_close(&f->parts[i]);
    free(f->parts);
}

/* --- before the first step ------------------------------------------------------------------- */

static void faulted_begin_signals(struct faulted_signal *signals, unsigned count,
                                  const double *values)
{
    for (unsigned i = 0; i < count; i++) {
        hil_fault_value_reset(&signals[i].value);
        *signals[i].shadow = values[signals[i].at];
    }
}

void hil_faulted_parts_begin(struct hil_faults *f)
{
    for (unsigned i = 0; i < f->part_count; i++) {
        struct hil_faulted_part *p = &f->parts[i];
        p->looked = false;
        memcpy(p->in, p->part->in, p->part->config->in_count * sizeof *p->in);
        faulted_begin_signals(p->inputs, p->input_count, p->part->in);
        faulted_begin_signals(p->outputs, p->output_count, p->part->out);
        for (unsigned k = 0; k < p->parameter_count; k++)
            p->tuned[k] = p->part->parameters[p->parameters[k].place];
    }
}

/* Continuous components are not stepped in step 0, so faults are applied to their initial outputs
 * here. Devices are stepped. */
void hil_faulted_parts_first(struct hil_faults *f)
{
    for (unsigned i = 0; i < f->part_count; i++) {
        struct hil_faulted_part *p = &f->parts[i];
        if (f->n == 0 && p->of->kind == HIL_CONTINUOUS && !p->of->apply)
            faulted_outputs(p, p->part->out);
    }
}
