#include "circuit_model.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../instance.h"
#include "stage.h"

/* The period with which a netlist is checked when it is loaded. */
#define CHECK_PERIOD_S 1e-6

/* An output of a node outside the network: it stands on another node. */
struct behind {
    unsigned node[2]; /* 0 where the node is in the network */
};

struct component {
    const struct cir_model *model;
    struct cir_netlist netlist;
    struct cir_probe *probes;
    struct behind *behind;
    bool any_behind;
    struct cir_network network;
    struct cir_stage stage;
    hil_log_fn *log;
    void *log_arg;
    struct cir_block *blocks;
};

/* --- from the declarations to the circuit ----------------------------------------------------- */

/* An input of a PWM unit. */
static int find_unit_input(struct component *c, unsigned row, const struct cir_said *said)
{
    const struct cir_link *link = &c->model->declarations.inputs.links[row];

    for (unsigned i = 0; i < c->model->declarations.unit_count; i++) {
        struct cir_pwm_line *line = &c->model->declarations.units[i];
        if (strcmp(line->source[0], link->name) != 0)
            continue;
        if (line->input[link->quantity] >= 0 && line->input[link->quantity] != (int)row)
            return cir_refuse(said, link->at, "found this input of %s again; allowed: once",
                              link->name);
        line->input[link->quantity] = (int)row;
        return 0;
    }
    return cir_refuse(said, link->at,
                      "there is no PWM unit for %s; allowed: a line *hiloco pwm %s: frequency=HZ",
                      link->name, link->name);
}

static int find_input(struct component *c, unsigned row, const struct cir_said *said)
{
    const struct cir_link *link = &c->model->declarations.inputs.links[row];

    if (link->quantity >= 0)
        return find_unit_input(c, row, said);
    const int found = cir_element_find(&c->netlist, link->name);

    if (found < 0 || c->netlist.elements[found].wave.kind != CIR_EXTERNAL)
        return cir_refuse(said, link->at,
                          "there is no source %s that is external; allowed: %s NODE NODE external",
                          link->name, link->name);
    c->netlist.elements[found].wave.input = row;
    return 0;
}

/* The sources that PWM units drive, and what each unit must know. */
static int take_units(struct component *c, const struct cir_said *said)
{
    for (unsigned i = 0; i < c->model->declarations.unit_count; i++) {
        const struct cir_pwm_line *line = &c->model->declarations.units[i];
        for (unsigned k = 0; k < 2 && line->source[k]; k++) {
            const int found = cir_element_find(&c->netlist, line->source[k]);
            if (found < 0 || c->netlist.elements[found].kind != CIR_VOLTAGE_SOURCE ||
                c->netlist.elements[found].wave.kind != CIR_EXTERNAL)
                return cir_refuse(said, line->at,
                                  "there is no voltage source %s that is external and of no other "
                                  "unit; allowed: %s NODE NODE external",
                                  line->source[k], line->source[k]);
            c->netlist.elements[found].wave.kind = CIR_PWM;
            c->netlist.elements[found].wave.input = i;
            c->netlist.elements[found].wave.gate = k;
        }
        if (line->input[CIR_DUTY] < 0 && isnan(line->value[CIR_DUTY]))
            return cir_refuse(said, line->at,
                              "the PWM unit of %s has no duty; allowed: duty=, or *hiloco gate "
                              "%s: input",
                              line->source[0], line->source[0]);
        const int f = line->input[CIR_FREQUENCY];
        const double hertz =
            f < 0 ? line->value[CIR_FREQUENCY] : c->model->declarations.inputs.rows[f].min;
        if (!(hertz > 0))
            return cir_refuse(said, line->at,
                              "the PWM unit of %s has a frequency of %g Hz; allowed: frequency= "
                              "above 0, or an input that is always above 0",
                              line->source[0], hertz);
    }
    return 0;
}

static int check_externals(struct component *c, const struct cir_said *said)
{
    const struct cir_table *inputs = &c->model->declarations.inputs;

    for (unsigned i = 0; i < c->netlist.element_count; i++) {
        const struct cir_element *e = &c->netlist.elements[i];
        unsigned rows = 0;
        for (unsigned k = 0; k < inputs->count; k++)
            rows += inputs->links[k].quantity < 0 &&
                    cir_element_find(&c->netlist, inputs->links[k].name) == (int)i;
        if (cir_is_source(e) && e->wave.kind == CIR_EXTERNAL && rows != 1)
            return cir_refuse(said, e->at,
                              "%s is external, and %s; allowed: one line *hiloco %s: input ...",
                              e->name, rows ? "is several inputs" : "is no input", e->name);
    }
    return 0;
}

static int find_node(const struct component *c, const struct cir_link *link, const char *name,
                     unsigned *node, const struct cir_said *said)
{
    const int found = cir_node_find(&c->netlist, name);

    if (found < 0)
        return cir_refuse(said, link->at, "the circuit has no node %s; allowed: one of its nodes",
                          name);
    *node = (unsigned)found;
    return 0;
}

static int find_output(struct component *c, unsigned row, const struct cir_said *said)
{
    const struct cir_link *link = &c->model->declarations.outputs.links[row];
    struct cir_probe *probe = &c->probes[row];

    *probe = (struct cir_probe){.element = CIR_NOWHERE};
    if (!link->is_current && !link->is_state) {
        int rc = find_node(c, link, link->name, &probe->node[0], said);
        if (!rc && link->other)
            rc = find_node(c, link, link->other, &probe->node[1], said);
        return rc;
    }
    probe->element = cir_element_find(&c->netlist, link->name);
    probe->is_state = link->is_state;
    const enum cir_kind kind =
        probe->element < 0 ? CIR_COUPLING : c->netlist.elements[probe->element].kind;
    if (kind == CIR_COUPLING || (link->is_state && kind != CIR_SWITCH && kind != CIR_DIODE))
        return cir_refuse(said, link->at,
                          "the circuit has no element %s with a %s; allowed: one of its %s",
                          link->name, link->is_state ? "state" : "current",
                          link->is_state ? "switches and diodes" : "elements");
    return 0;
}

static int connect(struct component *c, const struct cir_said *said)
{
    const struct cir_declarations *d = &c->model->declarations;
    int rc = 0;

    c->probes = cir_allocate(&c->blocks, (d->outputs.count + 1) * sizeof *c->probes);
    c->behind = cir_allocate(&c->blocks, (d->outputs.count + 1) * sizeof *c->behind);
    if (!c->probes || !c->behind)
        return cir_say_no_memory(said);
    for (unsigned i = 0; !rc && i < d->inputs.count; i++)
        rc = find_input(c, i, said);
    if (!rc)
        rc = take_units(c, said);
    if (!rc)
        rc = check_externals(c, said);
    for (unsigned i = 0; !rc && i < d->outputs.count; i++)
        rc = find_output(c, i, said);
    return rc;
}

/* Probes of nodes outside the network look at the nodes on which these stand. */
static void look_behind(struct component *c)
{
    const struct cir_network *n = &c->network;
    double nothing = 0;

    for (unsigned i = 0; i < c->model->declarations.outputs.count; i++)
        for (unsigned k = 0; c->probes[i].element < 0 && k < 2; k++) {
            const unsigned node = c->probes[i].node[k];
            const unsigned at = cir_node_behind(n, node, -1, &nothing);
            c->behind[i].node[k] = at == node ? 0 : node;
            c->probes[i].node[k] = at;
            c->any_behind |= at != node;
        }
}

/* The source of a PWM unit is not part of the network. */
static int check_units(const struct component *c, const struct cir_said *said)
{
    for (unsigned i = 0; i < c->netlist.element_count; i++) {
        const struct cir_element *e = &c->netlist.elements[i];
        if (e->wave.kind == CIR_PWM && !c->network.is_gate[i])
            return cir_refuse(
                said, e->at,
                "%s is the gate of a PWM unit, and drives more than switches; allowed: "
                "control nodes of switches",
                e->name);
    }
    return 0;
}

/* --- a component ------------------------------------------------------------------------------ */

static int component_open(struct component *c, const double *parameters, const double *inputs,
                          double period_s, const struct cir_said *said)
{
    const struct cir_declarations *d = &c->model->declarations;
    int rc = cir_netlist_expand(&c->netlist, &c->model->text, d, parameters, said);

    if (rc)
        return rc;
    rc = connect(c, said);
    if (!rc)
        rc = cir_network_make(&c->network, &c->netlist, said);
    if (rc)
        goto no_network;
    rc = check_units(c, said);
    if (rc)
        goto no_units;
    look_behind(c);
    rc =
        cir_stage_open(&c->stage, &c->network, c->probes, d->outputs.count, period_s, inputs, said);
    if (!rc)
        return 0;
no_units:
    cir_network_close(&c->network);
no_network:
    cir_free_all(&c->blocks);
    cir_netlist_close(&c->netlist);
    return rc;
}

static void component_close(struct component *c)
{
    cir_stage_close(&c->stage);
    cir_network_close(&c->network);
    cir_netlist_close(&c->netlist);
    cir_free_all(&c->blocks);
}

static const double *defaults_of(const struct cir_table *table, double *values)
{
    for (unsigned i = 0; i < table->count; i++)
        values[i] = table->rows[i].value;
    return values;
}

static int component_create(void **self, const struct hil_config *config)
{
    const struct cir_model *model = (const struct cir_model *)config->model;
    double inputs[HIL_QUANTITIES_MAX];
    char text[1024];
    void *made;
    int rc = instance_create(&made, config, sizeof(struct component));

    if (rc)
        return rc;
    struct component *c = made;
    c->model = model;
    c->log = config->log;
    c->log_arg = config->log_arg;
    rc = component_open(c, config->parameters, defaults_of(&model->declarations.inputs, inputs),
                        config->period_s, &(struct cir_said){text, sizeof text});
    if (!rc) {
        if (config->real_time)
            cir_pool_fill(&c->stage.pool);
        *self = made;
        return 0;
    }
    config->log(config->log_arg, text);
    instance_destroy(made);
    return rc;
}

static void component_destroy(void *self)
{
    component_close(self);
    instance_destroy(self);
}

/* Copies the outputs, with those of nodes outside the network. */
static void put_outputs(struct component *c, const double *in, double *out)
{
    const struct cir_network *n = &c->network;
    const double t_s = c->stage.start_s + c->stage.at_s;

    for (unsigned i = 0; c->any_behind && i < c->netlist.element_count; i++) {
        struct cir_wave *wave = &c->netlist.elements[i].wave;
        if (wave->kind == CIR_EXTERNAL)
            wave->constant = in[wave->input];
        if (wave->kind == CIR_PWM)
            wave->constant = cir_pwm_is_on(&c->stage.units[wave->input], wave->gate);
    }

    cir_stage_output(&c->stage);
    for (unsigned i = 0; i < c->model->declarations.outputs.count; i++) {
        out[i] = c->stage.outputs[i];
        for (unsigned k = 0; c->any_behind && k < 2; k++) {
            double volts = 0;
            if (c->behind[i].node[k])
                cir_node_behind(n, c->behind[i].node[k], t_s, &volts);
            out[i] += k ? -volts : volts;
        }
    }
}

/* The initial outputs, with the inputs of the first instant instead of the defaults. */
static int component_output(const void *self, const double *in, double *out)
{
    struct component *c = (struct component *)self;

    if (c->stage.start_s == 0 && c->stage.at_s == 0 && cir_stage_latch(&c->stage, in))
        return -EDOM;
    put_outputs(c, in, out);
    return 0;
}

static int component_step(void *self, uint64_t t_ns, const double *in, double *out)
{
    struct component *c = self;
    const double end_s = (double)t_ns * 1e-9, period_s = c->stage.pool.maker.period_s;

    c->stage.start_s = fmax(end_s - period_s, 0);
    int rc = cir_stage_latch(&c->stage, in);
    if (!rc)
        rc = cir_stage_advance(&c->stage);
    if (!rc && c->stage.unresolved)
        rc = -EDOM;
    if (rc) {
        c->log(c->log_arg, c->stage.unresolved
                               ? "its diodes change too often, or no set of them is consistent"
                               : "its network is singular");
        return rc;
    }
    put_outputs(c, in, out);
    return 0;
}

static int64_t component_save(const void *self, void *bytes, size_t size)
{
    return cir_stage_save(&((const struct component *)self)->stage, bytes, size);
}

static int component_restore(void *self, const void *bytes, size_t size)
{
    return cir_stage_restore(&((struct component *)self)->stage, bytes, size);
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

/* What the model is, for lists: the title, and the size of the network. */
static int describe(struct cir_model *m, const struct cir_network *n)
{
    const size_t size = strlen(m->text.title) + 100;
    char *doc = cir_allocate(&m->blocks, size);

    if (!doc)
        return -ENOMEM;
    snprintf(doc, size, "%s (states: %u, switches: %u, diodes: %u)", m->text.title, n->state_count,
             n->gate_count, n->diode_count);
    m->doc = doc;
    return 0;
}

static int check_circuit(struct cir_model *m, const struct cir_said *said)
{
    struct cir_declarations *d = &m->declarations;
    double parameters[HIL_QUANTITIES_MAX], inputs[HIL_QUANTITIES_MAX];
    struct component c = {.model = m};
    struct cir_netlist netlist;

    if (d->parameters.count > HIL_QUANTITIES_MAX || d->inputs.count > HIL_QUANTITIES_MAX)
        return cir_refuse(said, &m->text.at[0].at[0], "found more than %d rows; allowed: no more",
                          HIL_QUANTITIES_MAX);
    defaults_of(&d->parameters, parameters);
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
    rc = component_open(&c, parameters, defaults_of(&d->inputs, inputs), CHECK_PERIOD_S, said);
    if (rc)
        return rc;
    if (describe(m, &c.network))
        rc = cir_say_no_memory(said);
    component_close(&c);
    return rc;
}

static struct hil_quantities table_of(const struct cir_table *table)
{
    return (struct hil_quantities){table->rows, table->count, sizeof(struct hil_quantity)};
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
        .save = component_save,
        .restore = component_restore,
    };
    return 0;
}

int cir_model_load(struct cir_model **model, const char *path, const struct cir_said *said)
{
    struct cir_model *m = calloc(1, sizeof *m);

    if (!m)
        return cir_say_no_memory(said);
    int rc = cir_text_read(&m->text, path, said);
    if (!rc && !m->text.count) {
        snprintf(said->text, said->size, "it is empty; allowed: a netlist");
        rc = -EINVAL;
    }
    if (!rc)
        rc = cir_declarations_read(&m->declarations, &m->text, said);
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
    cir_text_close(&m->text);
    cir_declarations_close(&m->declarations);
    cir_free_all(&m->blocks);
    free(m);
}
