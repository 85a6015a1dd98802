#include "circuit_model.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../instance.h"
#include "tuner.h"

/* The period with which a netlist is checked when it is loaded. */
#define CHECK_PERIOD_S 1e-6

struct component {
    struct cir_model *model;
    struct cir_assembly *circuit;
    struct cir_tuner *tuner;     /* NULL: there are no parameters */
    double *parameters, *inputs; /* as they are set; the inputs' defaults */
    hil_log_fn *log, *warn;      /* warn may be NULL */
    void *log_arg;
    struct hil_counts *counts; /* may be NULL */
    bool real_time, warned;
    bool is_prepared; /* with the parameters that it was made with */
};

/* --- spares: a loop makes its components anew right before it begins ------------------------- */

static bool fits(const struct cir_model *m, const struct cir_spare *spare, const double *parameters,
                 double period_s)
{
    const size_t bytes = m->declarations.parameters.count * sizeof *parameters;

    return spare->circuit->stage.pool.maker.period_s == period_s &&
           memcmp(spare->parameters, parameters, bytes) == 0;
}

static struct cir_assembly *take_spare(struct cir_model *m, const double *parameters,
                                       double period_s)
{
    struct cir_assembly *circuit = NULL;

    pthread_mutex_lock(&m->lock);
    for (struct cir_spare **at = &m->spares; *at && !circuit;) {
        struct cir_spare *spare = *at;
        if (!fits(m, spare, parameters, period_s)) {
            at = &spare->next;
            continue;
        }
        circuit = spare->circuit;
        *at = spare->next;
        free(spare->parameters);
        free(spare);
    }
    pthread_mutex_unlock(&m->lock);
    return circuit;
}

/* Keeps a component's circuit, with the parameters that it was made with. */
static void keep_spare(struct component *c)
{
    struct cir_model *m = c->model;
    struct cir_spare *spare = c->is_prepared ? malloc(sizeof *spare) : NULL;

    if (!spare) {
        cir_assembly_close(c->circuit);
        return;
    }
    *spare = (struct cir_spare){.circuit = c->circuit, .parameters = c->parameters};
    c->parameters = NULL;
    pthread_mutex_lock(&m->lock);
    spare->next = m->spares;
    m->spares = spare;
    pthread_mutex_unlock(&m->lock);
}

/* --- a component ------------------------------------------------------------------------------ */

static void component_destroy(void *self)
{
    struct component *c = self;

    cir_tuner_close(c->tuner);
    keep_spare(c);
    free(c->parameters);
    free(c->inputs);
    instance_destroy(self);
}

static int component_open(struct component *c, const struct hil_config *config)
{
    const struct cir_declarations *d = &c->model->declarations;
    char text[1024];

    c->parameters = malloc((d->parameters.count + 1) * sizeof *c->parameters);
    c->inputs = malloc((d->inputs.count + 1) * sizeof *c->inputs);
    if (!c->parameters || !c->inputs)
        return -ENOMEM;
    if (d->parameters.count > 0)
        memcpy(c->parameters, config->parameters, d->parameters.count * sizeof *c->parameters);
    const struct cir_said said = {text, sizeof text};
    const bool prepares = config->real_time && !config->trial;
    cir_defaults(&d->inputs, c->inputs);
    c->circuit = prepares ? take_spare(c->model, c->parameters, config->period_s) : NULL;
    c->is_prepared = c->circuit != NULL;
    int rc = c->circuit ? cir_stage_rewind(&c->circuit->stage, c->inputs, &said)
                        : cir_assembly_open(&c->circuit, &c->model->text, d, c->parameters,
                                            c->inputs, config->period_s, &said);
    if (rc) {
        config->log(config->log_arg, text);
        return rc;
    }
    if (prepares && !c->is_prepared)
        cir_stage_prepare(&c->circuit->stage);
    c->is_prepared = prepares;
    if (d->parameters.count && !config->trial)
        rc = cir_tuner_open(&c->tuner, c->circuit, c->parameters, c->inputs, config->real_time,
                            config->log, config->log_arg);
    return rc;
}

static int component_create(void **self, const struct hil_config *config)
{
    void *made;
    int rc = instance_create(&made, config, sizeof(struct component));

    if (rc)
        return rc;
    struct component *c = made;
    c->model = (struct cir_model *)(uintptr_t)config->model;
    c->log = config->log;
    c->warn = config->warn;
    c->log_arg = config->log_arg;
    c->counts = config->counts;
    c->real_time = config->real_time;
    rc = component_open(c, config);
    if (rc)
        component_destroy(made);
    else
        *self = made;
    return rc;
}

/* The initial outputs, with the inputs of the first instant instead of the defaults. */
static int component_output(const void *self, const double *in, double *out)
{
    struct cir_assembly *circuit = ((const struct component *)self)->circuit;

    if (circuit->stage.start_s == 0 && circuit->stage.at_s == 0 &&
        cir_stage_latch(&circuit->stage, in))
        return -EDOM;
    cir_assembly_output(circuit, in, out);
    return 0;
}

/* Counts what the period needed beyond what it should. The first time is also told. */
static void count(struct component *c, const struct cir_stage *stage)
{
    char line[200];

    if (c->counts && c->real_time && cir_stage_makes(stage))
        c->counts->unprepared++;
    if (!stage->unresolved)
        return;
    if (c->counts)
        c->counts->unresolved++;
    if (c->warn && !c->warned) {
        snprintf(line, sizeof line,
                 "at %.9f s its diodes changed too often, or no set of them was consistent: they "
                 "stayed as they were",
                 stage->start_s);
        c->warn(c->log_arg, line);
    }
    c->warned = true;
}

static int component_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct component *c = self;

    if (c->tuner)
        cir_tuner_take(c->tuner, c->parameters, &c->circuit);
    struct cir_stage *stage = &c->circuit->stage;
    if (t_ns > INT64_MAX) /* a rehearsed step has no time: the circuit goes on */
        stage->start_s += stage->at_s;
    else
        stage->start_s = fmax((double)t_ns * 1e-9 - stage->pool.maker.period_s, 0);
    int rc = cir_stage_latch(stage, in);
    if (!rc)
        rc = cir_stage_advance(stage);
    if (rc) {
        c->log(c->log_arg, "its network is singular");
        return rc;
    }
    count(c, stage);
    cir_assembly_output(c->circuit, in, out);
    return 0;
}

static int component_tune(void *self, uint32_t place, double value)
{
    struct component *c = self;
    const double before = c->parameters[place];

    c->is_prepared = false;
    c->parameters[place] = value;
    const int rc = cir_tuner_ask(c->tuner, c->parameters, &c->circuit);
    if (rc)
        c->parameters[place] = before;
    return rc;
}

static int64_t component_save(const void *self, void *bytes, size_t size)
{
    return cir_stage_save(&((const struct component *)self)->circuit->stage, bytes, size);
}

static void component_numbers(void *self, hil_numbers_fn *each, void *arg)
{
    const struct cir_stage *stage = &((const struct component *)self)->circuit->stage;

    each(arg, stage->w, stage->network->state_count);
    for (unsigned i = 0; i < stage->network->netlist->unit_count; i++)
        each(arg, &stage->units[i].duty, 1);
}

static int component_restore(void *self, const void *bytes, size_t size)
{
    return cir_stage_restore(&((struct component *)self)->circuit->stage, bytes, size);
}

/* --- the model -------------------------------------------------------------------------------- */

/* A name for a row: v_NODE or i_ELEMENT, with '_' in place of what a name may not have. */
static const char *row_name(struct cir_model *m, char letter, const char *of)
{
    const size_t size = strlen(of) + 16;
    char *name = cir_allocate(&m->blocks, size);
    unsigned number = 1;

    if (!name)
        return NULL;
    snprintf(name, size, "%c_%s", letter, of);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c))
            *c = '_';
    const size_t length = strlen(name);
    for (unsigned i = 0; i < m->declarations.outputs.count; i++)
        if (strcmp(m->declarations.outputs.rows[i].name, name) == 0) {
            snprintf(name + length, size - length, "_%u", ++number);
            i = (unsigned)-1;
        }
    return name;
}

static int add_output(struct cir_model *m, bool is_current, const char *of)
{
    const struct cir_link link = {.at = &m->text.at[0].at[0], .is_current = is_current};
    struct hil_quantity row = {.name = row_name(m, is_current ? 'i' : 'v', of),
                               .unit = is_current ? "A" : "V",
                               .min = -INFINITY,
                               .max = INFINITY};
    const size_t size = strlen(of) + 1;
    char *name = cir_allocate(&m->blocks, size), *doc = cir_allocate(&m->blocks, size + 16);
    struct cir_link whole = link;

    if (!row.name || !name || !doc)
        return -ENOMEM;
    whole.name = memcpy(name, of, size);
    snprintf(doc, size + 16, "%s %s", is_current ? "current of" : "voltage of", of);
    row.doc = doc;
    return cir_declare_output(&m->declarations, &row, &whole);
}

/* The outputs of a netlist that declares none. */
static int add_all_outputs(struct cir_model *m, const struct cir_netlist *netlist)
{
    int rc = 0;

    for (unsigned i = 1; !rc && i < netlist->node_count; i++)
        rc = add_output(m, false, netlist->nodes[i]);
    for (unsigned i = 0; !rc && i < netlist->element_count; i++) {
        const enum cir_kind kind = netlist->elements[i].kind;
        const bool has = kind == CIR_INDUCTOR || kind == CIR_VOLTAGE_SOURCE ||
                         kind == CIR_CURRENT_SOURCE || kind == CIR_VCVS || kind == CIR_CCCS ||
                         kind == CIR_VCCS || kind == CIR_CCVS;
        if (has)
            rc = add_output(m, true, netlist->elements[i].name);
    }
    return rc;
}

static unsigned count_diodes(const struct cir_network *n)
{
    unsigned count = 0;

    for (unsigned i = 0; i < n->diode_count; i++)
        count += !cir_is_comparator(&n->netlist->elements[n->diodes[i]]);
    return count;
}

/* What the model is, for lists: the title, and the size of the network. */
static int describe(struct cir_model *m, const struct cir_network *n)
{
    const size_t size = strlen(m->text.title) + 100;
    char *doc = cir_allocate(&m->blocks, size);

    if (!doc)
        return -ENOMEM;
    snprintf(doc, size, "%s (states: %u, switches: %u, diodes: %u)", m->text.title, n->state_count,
             n->gate_count, count_diodes(n));
    m->doc = doc;
    return 0;
}

static int check_circuit(struct cir_model *m, const struct cir_said *said)
{
    struct cir_declarations *d = &m->declarations;
    double parameters[HIL_QUANTITIES_MAX], inputs[HIL_QUANTITIES_MAX];
    struct cir_assembly *circuit;
    struct cir_netlist netlist;

    if (d->parameters.count > HIL_QUANTITIES_MAX || d->inputs.count > HIL_QUANTITIES_MAX)
        return cir_refuse(said, &m->text.at[0].at[0], "found more than %d rows; allowed: no more",
                          HIL_QUANTITIES_MAX);
    cir_defaults(&d->parameters, parameters);
    int rc = cir_netlist_expand(&netlist, &m->text, d, parameters, said);
    if (rc)
        return rc;
    if (netlist.element_count == 0)
        rc = cir_refuse(said, &m->text.at[0].at[0], "found no element; allowed: a circuit");
    else if (d->outputs.count == 0 && add_all_outputs(m, &netlist))
        rc = cir_say_no_memory(said);
    m->tran = netlist.tran;
    cir_netlist_close(&netlist);
    if (rc)
        return rc;
    rc = cir_assembly_open(&circuit, &m->text, d, parameters, cir_defaults(&d->inputs, inputs),
                           CHECK_PERIOD_S, said);
    if (rc)
        return rc;
    if (describe(m, &circuit->network))
        rc = cir_say_no_memory(said);
    cir_assembly_close(circuit);
    return rc;
}

static struct hil_quantities table_of(const struct cir_table *table)
{
    return (struct hil_quantities){table->rows, table->count, sizeof(struct hil_quantity)};
}

/* All parameters can be tuned. One in Ohm, H or F is the value of a part, of which a scenario's
 * tolerance may draw another. */
static void flag_parameters(struct cir_model *m)
{
    for (unsigned i = 0; i < m->declarations.parameters.count; i++) {
        struct hil_quantity *q = &m->declarations.parameters.rows[i];
        q->flags |= HIL_TUNABLE;
        if (strcmp(q->unit, "Ohm") == 0 || strcmp(q->unit, "H") == 0 || strcmp(q->unit, "F") == 0)
            q->flags |= HIL_SPREAD;
    }
}

/* The file's name without its folder and its ending. */
static int name_model(struct cir_model *m, const char *path, const struct cir_said *said)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    const size_t length = strcspn(base, ".");
    char *name = cir_allocate(&m->blocks, length + 1);

    if (!name)
        return cir_say_no_memory(said);
    memcpy(name, base, length);
    flag_parameters(m);
    m->model = (struct hil_model){
        .abi = HIL_MODEL_ABI,
        .size = sizeof m->model,
        .name = m->declarations.name ? m->declarations.name : name,
        .doc = m->doc,
        .kind = HIL_CONTINUOUS,
        .width_max = 1,
        .parameters = table_of(&m->declarations.parameters),
        .inputs = table_of(&m->declarations.inputs),
        .outputs = table_of(&m->declarations.outputs),
        .create = component_create,
        .output = component_output,
        .step = component_step,
        .destroy = component_destroy,
        .tune = component_tune,
        .save = component_save,
        .restore = component_restore,
        .numbers = component_numbers,
    };
    return 0;
}

int cir_model_load(struct cir_model **model, const char *path, bool own_sources,
                   const struct cir_said *said)
{
    struct cir_model *m = calloc(1, sizeof *m);

    if (!m)
        return cir_say_no_memory(said);
    pthread_mutex_init(&m->lock, NULL);
    int rc = cir_text_read(&m->text, path, said);
    if (!rc && !m->text.count) {
        snprintf(said->text, said->size, "it is empty; allowed: a netlist");
        rc = -EINVAL;
    }
    if (!rc)
        rc = cir_declarations_read(&m->declarations, &m->text, own_sources, said);
    if (!rc)
        rc = check_circuit(m, said);
    if (!rc)
        rc = name_model(m, path, said);
    if (rc)
        cir_model_unload(m);
    else
        *model = m;
    return rc;
}

void cir_model_unload(struct cir_model *m)
{
    for (struct cir_spare *spare = m->spares, *next; spare; spare = next) {
        next = spare->next;
        cir_assembly_close(spare->circuit);
        free(spare->parameters);
        free(spare);
    }
    pthread_mutex_destroy(&m->lock);
    cir_text_close(&m->text);
    cir_declarations_close(&m->declarations);
    cir_free_all(&m->blocks);
    free(m);
}
