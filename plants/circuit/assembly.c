#include "assembly.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- from the declarations to the circuit ----------------------------------------------------- */

/* An input of a PWM unit. */
static int find_unit_input(struct cir_assembly *a, unsigned row, const struct cir_said *said)
{
    const struct cir_link *link = &a->declarations->inputs.links[row];

    for (unsigned i = 0; i < a->declarations->unit_count; i++) {
        struct cir_pwm_line *line = &a->declarations->units[i];
        if (strcmp(line->source[0], link->name) != 0)
            continue;
        if (line->input[link->quantity] >= 0 && line->input[link->quantity] != (int)row)
            return cir_refuse(said, link->at, "found this input of %s again; allowed: once",
                              link->name);
        if (line->input[link->quantity] < 0) /* else another circuit of this netlist found it */
            line->input[link->quantity] = (int)row;
        return 0;
    }
    return cir_refuse(said, link->at,
                      "there is no PWM unit for %s; allowed: a line *hiloco pwm %s: frequency=HZ",
                      link->name, link->name);
}

static int find_input(struct cir_assembly *a, unsigned row, const struct cir_said *said)
{
    const struct cir_link *link = &a->declarations->inputs.links[row];

    if (link->quantity >= 0)
        return find_unit_input(a, row, said);
    const int found = cir_element_find(&a->netlist, link->name);

    if (found < 0 || a->netlist.elements[found].wave.kind != CIR_EXTERNAL)
        return cir_refuse(said, link->at,
                          "there is no source %s that is external; allowed: %s NODE NODE external",
                          link->name, link->name);
    a->netlist.elements[found].wave.input = row;
    return 0;
}

static bool is_given(const struct cir_pwm_line *line, enum cir_pwm_quantity q)
{
    return line->input[q] >= 0 || !isnan(line->value[q]);
}

static int add_comparator(struct cir_assembly *a, enum cir_kind kind, double sign, unsigned sensed,
                          unsigned unit, const struct cir_said *said)
{
    const struct cir_pwm_line *line = &a->declarations->units[unit];

    if (cir_grow(&a->netlist.elements, a->netlist.element_count, sizeof *a->netlist.elements))
        return cir_say_no_memory(said);
    a->netlist.elements[a->netlist.element_count++] =
        (struct cir_element){.kind = kind,
                             .name = kind == CIR_PEAK ? "(peak)" : "(trip)",
                             .at = line->at,
                             .value = sign,
                             .of = {sensed, unit}};
    return 0;
}

/* What a unit compares a current with. */
static int add_comparators(struct cir_assembly *a, unsigned unit, const struct cir_said *said)
{
    const struct cir_pwm_line *line = &a->declarations->units[unit];
    const bool peak = is_given(line, CIR_PEAK_LEVEL), trip = is_given(line, CIR_TRIP_LEVEL);
    int rc = 0;

    if (!peak && !trip)
        return 0;
    const int sensed = line->sense ? cir_element_find(&a->netlist, line->sense) : -1;
    if (sensed < 0 || a->netlist.elements[sensed].kind == CIR_COUPLING)
        return cir_refuse(said, line->at,
                          "the PWM unit of %s compares the current of %s; allowed: sense=ELEMENT",
                          line->source[0], line->sense ? line->sense : "no element");
    if (peak && (line->centred || line->stamped))
        return cir_refuse(said, line->at,
                          "found peak= without a sawtooth; allowed: carrier=sawtooth");
    if (peak)
        rc = add_comparator(a, CIR_PEAK, 1, (unsigned)sensed, unit, said);
    for (int sign = 1; !rc && trip && sign >= -1; sign -= 2)
        rc = add_comparator(a, CIR_TRIP, sign, (unsigned)sensed, unit, said);
    return rc;
}

/* The sources that PWM units drive, and what each unit must know. */
static int take_units(struct cir_assembly *a, const struct cir_said *said)
{
    for (unsigned i = 0; i < a->declarations->unit_count; i++) {
        const struct cir_pwm_line *line = &a->declarations->units[i];
        for (unsigned k = 0; k < 2 && line->source[k]; k++) {
            const int found = cir_element_find(&a->netlist, line->source[k]);
            if (found < 0 || a->netlist.elements[found].kind != CIR_VOLTAGE_SOURCE ||
                a->netlist.elements[found].wave.kind == CIR_PWM)
                return cir_refuse(said, line->at,
                                  "there is no voltage source %s that is of no other unit; "
                                  "allowed: %s NODE NODE external, or with a time function for "
                                  "ngspice",
                                  line->source[k], line->source[k]);
            a->netlist.elements[found].wave.kind = CIR_PWM;
            a->netlist.elements[found].wave.input = i;
            a->netlist.elements[found].wave.gate = k;
        }
        const int rc = add_comparators(a, i, said);
        if (rc)
            return rc;
        if (line->stamped)
            continue;
        if (line->input[CIR_DUTY] < 0 && isnan(line->value[CIR_DUTY]))
            return cir_refuse(said, line->at,
                              "the PWM unit of %s has no duty; allowed: duty=, or *hiloco gate "
                              "%s: input",
                              line->source[0], line->source[0]);
        const int f = line->input[CIR_FREQUENCY];
        const double hertz =
            f < 0 ? line->value[CIR_FREQUENCY] : a->declarations->inputs.rows[f].min;
        if (!(hertz > 0))
            return cir_refuse(said, line->at,
                              "the PWM unit of %s has a frequency of %g Hz; allowed: frequency= "
                              "above 0, or an input that is always above 0",
                              line->source[0], hertz);
    }
    return 0;
}

static int check_externals(struct cir_assembly *a, const struct cir_said *said)
{
    const struct cir_table *inputs = &a->declarations->inputs;

    for (unsigned i = 0; i < a->netlist.element_count; i++) {
        const struct cir_element *e = &a->netlist.elements[i];
        unsigned rows = 0;
        for (unsigned k = 0; k < inputs->count; k++)
            rows += inputs->links[k].quantity < 0 &&
                    cir_element_find(&a->netlist, inputs->links[k].name) == (int)i;
        if (cir_is_source(e) && e->wave.kind == CIR_EXTERNAL && rows != 1)
            return cir_refuse(said, e->at,
                              "%s is external, and %s; allowed: one line *hiloco %s: input ...",
                              e->name, rows ? "is several inputs" : "is no input", e->name);
    }
    return 0;
}

static int find_node(const struct cir_assembly *a, const struct cir_link *link, const char *name,
                     unsigned *node, const struct cir_said *said)
{
    const int found = cir_node_find(&a->netlist, name);

    if (found < 0)
        return cir_refuse(said, link->at, "the circuit has no node %s; allowed: one of its nodes",
                          name);
    *node = (unsigned)found;
    return 0;
}

static int find_output(struct cir_assembly *a, unsigned row, const struct cir_said *said)
{
    const struct cir_link *link = &a->declarations->outputs.links[row];
    struct cir_probe *probe = &a->probes[row];

    *probe = (struct cir_probe){.element = CIR_NOWHERE};
    if (!link->is_current && !link->is_state && !link->is_power) {
        int rc = find_node(a, link, link->name, &probe->node[0], said);
        if (!rc && link->other)
            rc = find_node(a, link, link->other, &probe->node[1], said);
        return rc;
    }
    probe->element = cir_element_find(&a->netlist, link->name);
    probe->is_state = link->is_state;
    probe->is_power = link->is_power;
    const enum cir_kind kind =
        probe->element < 0 ? CIR_COUPLING : a->netlist.elements[probe->element].kind;
    if (kind == CIR_COUPLING || (link->is_state && kind != CIR_SWITCH && kind != CIR_DIODE))
        return cir_refuse(said, link->at,
                          "the circuit has no element %s with a %s; allowed: one of its %s",
                          link->name, link->is_state ? "state" : "current",
                          link->is_state ? "switches and diodes" : "elements");
    return 0;
}

/* The table of each switch goes to the outputs of its power. */
static int take_losses(struct cir_assembly *a, const struct cir_said *said)
{
    const struct cir_declarations *d = a->declarations;

    for (unsigned i = 0; i < d->loss_count; i++) {
        const int found = cir_element_find(&a->netlist, d->losses[i].element);
        unsigned uses = 0;
        if (found < 0 || a->netlist.elements[found].kind != CIR_SWITCH)
            return cir_refuse(said, d->losses[i].at,
                              "the circuit has no switch %s; allowed: one of its switches",
                              d->losses[i].element);
        for (unsigned k = 0; k < d->outputs.count; k++)
            if (a->probes[k].is_power && a->probes[k].element == found) {
                a->probes[k].losses = &d->losses[i];
                uses++;
            }
        if (!uses)
            return cir_refuse(said, d->losses[i].at,
                              "the power of %s is no output; allowed: *hiloco p(%s): output ...",
                              d->losses[i].element, d->losses[i].element);
    }
    return 0;
}

static int connect(struct cir_assembly *a, const struct cir_said *said)
{
    const struct cir_declarations *d = a->declarations;
    int rc = 0;

    a->probes = cir_allocate(&a->blocks, (d->outputs.count + 1) * sizeof *a->probes);
    a->behind = cir_allocate(&a->blocks, (d->outputs.count + 1) * sizeof *a->behind);
    if (!a->probes || !a->behind)
        return cir_say_no_memory(said);
    for (unsigned i = 0; !rc && i < d->inputs.count; i++)
        rc = find_input(a, i, said);
    if (!rc)
        rc = take_units(a, said);
    if (!rc)
        rc = check_externals(a, said);
    for (unsigned i = 0; !rc && i < d->outputs.count; i++)
        rc = find_output(a, i, said);
    return rc ? rc : take_losses(a, said);
}

/* Probes of nodes outside the network look at the nodes on which these stand. */
static void look_behind(struct cir_assembly *a)
{
    const struct cir_network *n = &a->network;
    double nothing = 0;

    for (unsigned i = 0; i < a->declarations->outputs.count; i++)
        for (unsigned k = 0; a->probes[i].element < 0 && k < 2; k++) {
            const unsigned node = a->probes[i].node[k];
            const unsigned at = cir_node_behind(n, node, -1, &nothing);
            a->behind[i].node[k] = at == node ? 0 : node;
            a->probes[i].node[k] = at;
            a->any_behind |= at != node;
        }
}

/* The source of a PWM unit is not part of the network. */
static int check_units(const struct cir_assembly *a, const struct cir_said *said)
{
    for (unsigned i = 0; i < a->netlist.element_count; i++) {
        const struct cir_element *e = &a->netlist.elements[i];
        if (e->wave.kind == CIR_PWM && !a->network.is_gate[i])
            return cir_refuse(
                said, e->at,
                "%s is the gate of a PWM unit, and drives more than switches; allowed: "
                "control nodes of switches",
                e->name);
    }
    return 0;
}

/* --- the assembly ----------------------------------------------------------------------------- */

static int open_parts(struct cir_assembly *a, const double *parameters, const double *inputs,
                      double period_s, const struct cir_said *said)
{
    const struct cir_declarations *d = a->declarations;
    int rc = cir_netlist_expand(&a->netlist, a->text, d, parameters, said);

    if (rc)
        return rc;
    rc = connect(a, said);
    if (!rc)
        rc = cir_network_make(&a->network, &a->netlist, said);
    if (rc)
        goto no_network;
    rc = check_units(a, said);
    if (rc)
        goto no_units;
    look_behind(a);
    rc =
        cir_stage_open(&a->stage, &a->network, a->probes, d->outputs.count, period_s, inputs, said);
    if (!rc)
        return 0;
no_units:
    cir_network_close(&a->network);
no_network:
    cir_free_all(&a->blocks);
    cir_netlist_close(&a->netlist);
    return rc;
}

int cir_assembly_open(struct cir_assembly **assembly, const struct cir_text *text,
                      const struct cir_declarations *declarations, const double *parameters,
                      const double *inputs, double period_s, const struct cir_said *said)
{
    struct cir_assembly *a = calloc(1, sizeof *a);

    if (!a)
        return cir_say_no_memory(said);
    a->text = text;
    a->declarations = declarations;
    const int rc = open_parts(a, parameters, inputs, period_s, said);
    if (rc)
        free(a);
    else
        *assembly = a;
    return rc;
}

void cir_assembly_close(struct cir_assembly *a)
{
    if (!a)
        return;
    cir_stage_close(&a->stage);
    cir_network_close(&a->network);
    cir_netlist_close(&a->netlist);
    cir_free_all(&a->blocks);
    free(a);
}

/* Copies the outputs, with those of nodes outside the network. */
void cir_assembly_output(struct cir_assembly *a, const double *in, double *out)
{
    const struct cir_network *n = &a->network;
    const double t_s = a->stage.start_s + a->stage.at_s;

    for (unsigned i = 0; a->any_behind && i < a->netlist.element_count; i++) {
        struct cir_wave *wave = &a->netlist.elements[i].wave;
        if (wave->kind == CIR_EXTERNAL)
            wave->constant = in[wave->input];
        if (wave->kind == CIR_PWM)
            wave->constant = cir_pwm_is_on(&a->stage.units[wave->input], wave->gate);
    }

    cir_stage_output(&a->stage);
    for (unsigned i = 0; i < a->declarations->outputs.count; i++) {
        out[i] = a->stage.outputs[i];
        for (unsigned k = 0; a->any_behind && k < 2; k++) {
            double volts = 0;
            if (a->behind[i].node[k])
                cir_node_behind(n, a->behind[i].node[k], t_s, &volts);
            out[i] += k ? -volts : volts;
        }
    }
}
