#include "outside.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { OUTSIDE_WIDTH_MAX = 65536 };

/* --- a component ------------------------------------------------------------------------------ */

_Thread_local struct hil_outside *hil_outside;

static char outside_self; /* the component itself has no data */

static int outside_create(void **self, const struct hil_config *config)
{
    (void)config;
    *self = &outside_self;
    return 0;
}

static int outside_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    (void)self;
    return hil_outside ? hil_outside->step(hil_outside, t_ns, in, out) : 0;
}

static void outside_destroy(void *self)
{
    (void)self;
}

bool hil_outside_is(const struct hil_model *model)
{
    return model->step == outside_step;
}

/* --- the model -------------------------------------------------------------------------------- */

struct outside_model {
    struct hil_model model;
    struct hil_quantity *inputs, *outputs;
};

static bool outside_takes(const char *name)
{
    return strcmp(name, HIL_OUTSIDE_NAME) == 0;
}

static int outside_locate(char **whole, const char *name, const char *folder,
                          const struct hil_said *said)
{
    (void)folder;
    return hil_whole_is(whole, name, said);
}

/* The text after "takes." or "gives."; NULL: the key begins differently. */
static const char *outside_signal(const char *key, const char *table)
{
    const size_t length = strlen(table);

    return strncmp(key, table, length) == 0 && key[length] == '.' ? key + length + 1 : NULL;
}

/* Adds a row to a table, if there is room. A name ending in [] is wide. */
static int outside_add(struct hil_model *m, struct hil_quantities *table, struct hil_quantity *rows,
                       const char *name, const char *unit)
{
    const size_t length = strlen(name);
    const bool wide = length > 2 && strcmp(name + length - 2, "[]") == 0;
    char *own = strndup(name, wide ? length - 2 : length);

    if (!own)
        return -ENOMEM;
    rows[table->count++] = (struct hil_quantity){
        .name = own,
        .unit = strcmp(unit, "-") == 0 ? "" : unit,
        .min = -INFINITY,
        .max = INFINITY,
        .flags = wide ? HIL_WIDE : 0,
        .doc = "",
    };
    if (wide)
        m->width_max = OUTSIDE_WIDTH_MAX;
    return 0;
}

static int outside_fill(struct outside_model *o, const struct hil_settings *settings,
                        const struct hil_said *said)
{
    struct hil_model *m = &o->model;

    for (unsigned i = 0; i < settings->count; i++) {
        const struct hil_setting *s = &settings->at[i];
        const char *in = outside_signal(s->key, "takes"), *out = outside_signal(s->key, "gives");
        if ((!in && !out) || !*s->text)
            return hil_say(said, -EINVAL,
                           "its setting %.60s %s; allowed: takes and gives, mappings of names "
                           "to units, with - for a pure number",
                           s->key, in || out ? "has no unit" : "is not known");
        if (in ? outside_add(m, &m->inputs, o->inputs, in, s->text)
               : outside_add(m, &m->outputs, o->outputs, out, s->text))
            return hil_say_no_memory(said);
    }
    if (m->inputs.count + m->outputs.count == 0)
        return hil_say(said, -EINVAL,
                       "it takes nothing and gives nothing; allowed: a component with "
                       "settings: {takes: {NAME: UNIT}, gives: {NAME: UNIT}}");
    return 0;
}

static void outside_unload(struct hil_loaded *made)
{
    struct outside_model *o = made->own;

    for (uint32_t i = 0; o->inputs && i < o->model.inputs.count; i++)
        free((char *)o->inputs[i].name);
    for (uint32_t i = 0; o->outputs && i < o->model.outputs.count; i++)
        free((char *)o->outputs[i].name);
    free(o->inputs);
    free(o->outputs);
    free(o);
    made->own = NULL;
}

static int outside_load(struct hil_loaded *made, const struct hil_said *said)
{
    struct outside_model *o = calloc(1, sizeof *o);

    if (!o)
        return hil_say_no_memory(said);
    made->own = o;
    made->model = &o->model;
    o->inputs = calloc(made->settings.count + 1, sizeof *o->inputs);
    o->outputs = calloc(made->settings.count + 1, sizeof *o->outputs);
    o->model = (struct hil_model){
        .abi = HIL_MODEL_ABI,
        .size = sizeof(struct hil_model),
        .name = HIL_OUTSIDE_NAME,
        .doc = "Computed by a process that joins the run",
        .kind = HIL_SAMPLED,
        .width_max = 1,
        .inputs = {o->inputs, 0, sizeof *o->inputs},
        .outputs = {o->outputs, 0, sizeof *o->outputs},
        .create = outside_create,
        .step = outside_step,
        .destroy = outside_destroy,
    };
    int rc =
        o->inputs && o->outputs ? outside_fill(o, &made->settings, said) : hil_say_no_memory(said);
    if (rc)
        outside_unload(made);
    return rc;
}

const struct hil_provider hil_outside_provider = {
    .takes = outside_takes,
    .locate = outside_locate,
    .load = outside_load,
    .unload = outside_unload,
    .apart = true,
};
