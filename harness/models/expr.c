#include "expr.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "../../controllers/expression.h"
#include "../../plants/instance.h"

/* The values that formulas use: the inputs, the parameters, then the outputs. A formula uses only
 * outputs before its own. */
struct expr_model {
    struct hil_model model;
    struct hil_quantity *rows; /* in the order of the values */
    const char **names;        /* likewise */
    struct expression **formulas;
};

static const struct expr_model *expr_model_of(const struct hil_model *model)
{
    return (const struct expr_model *)model; /* its first member */
}

/* --- a component ------------------------------------------------------------------------------ */

struct expr {
    const struct expr_model *model;
    double values[];
};

static int expr_create(void **self, const struct hil_config *config)
{
    const struct hil_model *m = config->model;
    const uint32_t inputs = m->inputs.count, parameters = m->parameters.count;
    char line[128];

    for (uint32_t i = 0; i < parameters; i++) {
        if (!isnan(config->parameters[i]))
            continue;
        snprintf(line, sizeof line, "%.60s has no value; required under parameters",
                 m->parameters.at[i].name);
        config->log(config->log_arg, line);
        return -EDOM;
    }
    const size_t values = (size_t)inputs + parameters + m->outputs.count;
    int rc = instance_create(self, config, sizeof(struct expr) + values * sizeof(double));
    if (rc)
        return rc;
    struct expr *e = *self;
    e->model = expr_model_of(m);
    if (parameters)
        memcpy(e->values + inputs, config->parameters, parameters * sizeof(double));
    return 0;
}

static int expr_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct expr *e = self;
    const struct hil_model *m = &e->model->model;
    double *to = e->values + m->inputs.count + m->parameters.count;

    (void)t_ns;
    for (uint32_t i = 0; i < m->inputs.count; i++)
        e->values[i] = in[i];
    for (uint32_t i = 0; i < m->outputs.count; i++)
        out[i] = to[i] = expression_value(e->model->formulas[i], e->values);
    return 0;
}

static int expr_tune(void *self, uint32_t place, double value)
{
    struct expr *e = self;

    e->values[e->model->model.inputs.count + place] = value;
    return 0;
}

/* --- the tables ------------------------------------------------------------------------------- */

static const char *const expr_tables[] = {"takes", "parameters", "gives"};
enum { EXPR_TABLES = 3 };

/* The text after "TABLE."; NULL: the key begins differently. */
static const char *expr_name(const char *key, const char *table)
{
    const size_t length = strlen(table);

    return strncmp(key, table, length) == 0 && key[length] == '.' ? key + length + 1 : NULL;
}

static struct hil_quantities *expr_table(struct hil_model *m, unsigned table)
{
    return table == 0 ? &m->inputs : table == 1 ? &m->parameters : &m->outputs;
}

/* Says what is wrong at a character of a setting. Returns -EINVAL. */
static int expr_wrong(const struct hil_said *said, const char *key, size_t at, const char *text)
{
    if (said->place) {
        snprintf(said->place->key, sizeof said->place->key, "%s", key);
        said->place->at = at;
    }
    return hil_say(said, -EINVAL, "%s", text);
}

static int expr_add(struct expr_model *e, unsigned table, const char *key, const char *name,
                    const char *unit, size_t count, const struct hil_said *said)
{
    static const uint32_t flags[] = {HIL_REQUIRED, HIL_OWN | HIL_TUNABLE, 0};
    char wrong[200];

    if (!(*name >= 'a' && *name <= 'z')) {
        snprintf(wrong, sizeof wrong, "'%.60s' is no name; allowed: one that begins with a letter",
                 name);
        return expr_wrong(said, key, 0, wrong);
    }
    if (expression_is_reserved(name)) {
        snprintf(wrong, sizeof wrong, "%.60s has a meaning in formulas; allowed: another name",
                 name);
        return expr_wrong(said, key, 0, wrong);
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(e->names[i], name) == 0) {
            snprintf(wrong, sizeof wrong, "%.60s is there twice; allowed: once", name);
            return expr_wrong(said, key, 0, wrong);
        }
    e->names[count] = name;
    e->rows[count] = (struct hil_quantity){
        .name = name,
        .unit = strcmp(unit, "-") == 0 ? "" : unit,
        .min = -INFINITY,
        .max = INFINITY,
        .flags = flags[table],
        .doc = "",
    };
    expr_table(&e->model, table)->count++;
    return 0;
}

/* The texts belong to the settings, which live as long as the model. */
static int expr_fill(struct expr_model *e, const struct hil_settings *settings,
                     const struct hil_said *said)
{
    size_t count = 0;
    int rc = 0;

    for (unsigned table = 0; !rc && table < EXPR_TABLES; table++) {
        *expr_table(&e->model, table) =
            (struct hil_quantities){e->rows + count, 0, sizeof e->rows[0]};
        for (unsigned i = 0; !rc && i < settings->count; i++) {
            const struct hil_setting *s = &settings->at[i];
            const char *name = expr_name(s->key, expr_tables[table]);
            if (!name)
                continue;
            if (!*s->text)
                return expr_wrong(said, s->key, 0,
                                  "there is no unit; allowed: one, with - for a pure number");
            rc = expr_add(e, table, s->key, name, s->text, count++, said);
        }
    }
    if (!rc && e->model.outputs.count == 0)
        return hil_say(said, -EINVAL,
                       "it gives nothing; allowed: a component with settings: {gives: {NAME: "
                       "UNIT}, formulas: {NAME: FORMULA}}");
    return rc;
}

/* --- the formulas ----------------------------------------------------------------------------- */

/* Each setting is a row or the formula of an output. */
static int expr_check_key(const struct expr_model *e, const struct hil_setting *s,
                          const struct hil_said *said)
{
    const char *name = expr_name(s->key, "formulas");
    char wrong[240];

    for (unsigned table = 0; table < EXPR_TABLES; table++)
        if (expr_name(s->key, expr_tables[table]))
            return 0;
    for (uint32_t i = 0; name && i < e->model.outputs.count; i++)
        if (strcmp(e->model.outputs.at[i].name, name) == 0)
            return 0;
    if (name)
        snprintf(wrong, sizeof wrong,
                 "%.60s is not among gives; allowed: a formula for each of these", name);
    else
        snprintf(
            wrong, sizeof wrong,
            "its setting %.60s is not known; allowed: takes, parameters and gives, mappings of "
            "names to units, and formulas",
            s->key);
    return expr_wrong(said, s->key, 0, wrong);
}

static const struct hil_setting *expr_formula(const struct hil_settings *settings, const char *name)
{
    for (unsigned i = 0; i < settings->count; i++) {
        const char *of = expr_name(settings->at[i].key, "formulas");
        if (of && strcmp(of, name) == 0)
            return &settings->at[i];
    }
    return NULL;
}

static int expr_parse(struct expr_model *e, uint32_t output, const struct hil_settings *settings,
                      const struct hil_said *said)
{
    const struct hil_model *m = &e->model;
    const struct hil_setting *s = expr_formula(settings, m->outputs.at[output].name);
    struct expression_mistake mistake;

    if (!s)
        return hil_say(said, -EINVAL, "%.60s has no formula; required: settings.formulas.%.60s",
                       m->outputs.at[output].name, m->outputs.at[output].name);
    const int rc = expression_parse(&e->formulas[output], s->text, e->names,
                                    m->inputs.count + m->parameters.count + output, &mistake);
    if (rc == -EINVAL)
        return expr_wrong(said, s->key, mistake.at, mistake.text);
    return rc ? hil_say_no_memory(said) : 0;
}

static int expr_formulas(struct expr_model *e, const struct hil_settings *settings,
                         const struct hil_said *said)
{
    int rc = 0;

    for (unsigned i = 0; !rc && i < settings->count; i++)
        rc = expr_check_key(e, &settings->at[i], said);
    for (uint32_t i = 0; !rc && i < e->model.outputs.count; i++)
        rc = expr_parse(e, i, settings, said);
    return rc;
}

/* --- the provider ----------------------------------------------------------------------------- */

static bool expr_takes(const char *name)
{
    return strcmp(name, "expr") == 0;
}

static int expr_locate(char **whole, const char *name, const char *folder,
                       const struct hil_said *said)
{
    (void)folder;
    return hil_whole_is(whole, name, said);
}

static void expr_unload(struct hil_loaded *made)
{
    struct expr_model *e = made->own;

    for (uint32_t i = 0; e->formulas && i < e->model.outputs.count; i++)
        expression_free(e->formulas[i]);
    free(e->formulas);
    free(e->names);
    free(e->rows);
    free(e);
    made->own = NULL;
}

static int expr_load(struct hil_loaded *made, const struct hil_said *said)
{
    const struct hil_settings *settings = &made->settings;
    struct expr_model *e = calloc(1, sizeof *e);

    if (!e)
        return hil_say_no_memory(said);
    made->own = e;
    made->model = &e->model;
    e->rows = calloc(settings->count + 1, sizeof *e->rows);
    e->names = calloc(settings->count + 1, sizeof *e->names);
    e->formulas = calloc(settings->count + 1, sizeof *e->formulas);
    e->model = (struct hil_model){
        .abi = HIL_MODEL_ABI,
        .size = sizeof(struct hil_model),
        .name = "expr",
        .doc = "Formulas of a scenario",
        .kind = HIL_SAMPLED,
        .width_max = 1,
        .create = expr_create,
        .step = expr_step,
        .destroy = instance_destroy,
        .numbers = instance_no_numbers,
        .tune = expr_tune,
    };
    int rc =
        e->rows && e->names && e->formulas ? expr_fill(e, settings, said) : hil_say_no_memory(said);
    if (!rc)
        rc = expr_formulas(e, settings, said);
    for (unsigned i = 0; !rc && i < settings->count; i++)
        made->hash = XXH3_64bits_withSeed(
            settings->at[i].text, strlen(settings->at[i].text),
            XXH3_64bits_withSeed(settings->at[i].key, strlen(settings->at[i].key), made->hash));
    if (rc)
        expr_unload(made);
    return rc;
}

const struct hil_provider hil_expr_provider = {
    .takes = expr_takes,
    .locate = expr_locate,
    .load = expr_load,
    .unload = expr_unload,
};
