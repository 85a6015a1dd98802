/* Reads the faults. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tunables.h"
#include "../yaml/scenario_resolve.h"
#include "fault_entry.h"

/* The longest delay of a signal or a link, in steps of the node that sends it. */
enum { FAULT_DELAY_STEPS_MAX = 1000000 };

int fault_mistake(const struct fault_entry *e, const char *key, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    general_entry_mistake(e->g, "faults", e->entry, key, format, args);
    va_end(args);
    return -EINVAL;
}

static const struct hil_fault_kind_row *fault_row(const struct fault_entry *e)
{
    return &hil_fault_kinds[e->fault->kind];
}

/* --- subjects and kinds ---------------------------------------------------------------------- */

static const char *const fault_subjects[HIL_FAULT_OF] = {"signal", "from", "nodes", "component"};
static const char *const fault_subject_words[HIL_FAULT_OF] = {"signals", "links", "nodes",
                                                              "components"};

static int fault_of(struct fault_entry *e)
{
    const int which =
        general_subject(e->g, "faults", e->entry, fault_subjects, HIL_FAULT_OF, HIL_FAULT_OF_LINK);

    if (which < 0)
        return -EINVAL;
    e->fault->of = (enum hil_fault_of)which;
    return 0;
}

/* Lists the kinds of faults for a subject: "stuck, bias, gain". */
static void fault_say_kinds(enum hil_fault_of of, char *text, size_t size)
{
    size_t used = 0;

    for (unsigned i = 0; i < HIL_FAULT_KIND_COUNT && used < size; i++)
        if (hil_fault_kinds[i].of & (1u << of))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     hil_fault_kinds[i].name);
}

static int fault_kind(struct fault_entry *e)
{
    const char *text = general_text(e->block, "kind");
    char allowed[256];

    for (unsigned i = 0; i < HIL_FAULT_KIND_COUNT; i++)
        if (strcmp(text, hil_fault_kinds[i].name) == 0)
            e->fault->kind = i;
    if (fault_row(e)->of & (1u << e->fault->of))
        return 0;
    fault_say_kinds(e->fault->of, allowed, sizeof allowed);
    return fault_mistake(e, "kind", "is %s, which does not go with %s; allowed: %s", text,
                         fault_subject_words[e->fault->of], allowed);
}

/* --- its numbers ----------------------------------------------------------------------------- */

/* "value, probability, seed", or "no number" */
static void fault_say_numbers(const struct hil_fault_kind_row *row, char *text, size_t size)
{
    size_t used = 0;

    snprintf(text, size, "none of these numbers");
    for (unsigned i = 0; i < HIL_FAULT_NUMBERS && used < size; i++)
        if ((row->needs | row->may) & (1u << i))
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
                                     hil_fault_numbers[i]);
}

static int fault_number(struct fault_entry *e, enum hil_fault_number number)
{
    const struct hil_fault_kind_row *row = fault_row(e);
    const char *key = hil_fault_numbers[number];
    char allowed[128];

    e->fault->numbers[number] = NAN;
    if (!fault_has(e, key)) {
        if (row->needs & (1u << number))
            return fault_mistake(e, NULL, "is %s without a %s; required: %s", row->name, key, key);
        return 0;
    }
    if ((row->needs | row->may) & (1u << number)) {
        e->fault->numbers[number] = general_number(e->block, key, 0);
        return 0;
    }
    fault_say_numbers(row, allowed, sizeof allowed);
    return fault_mistake(e, key, "goes with other kinds than %s; allowed with %s: %s", row->name,
                         row->name, allowed);
}

static double fault_number_or(const struct fault_entry *e, enum hil_fault_number number,
                              double otherwise)
{
    const double given = e->fault->numbers[number];

    return isnan(given) ? otherwise : given;
}

static int fault_check_numbers(const struct fault_entry *e)
{
    const double value = e->fault->numbers[HIL_FAULT_VALUE];

    if (e->fault->kind == HIL_FAULT_QUANTISE && !(value > 0))
        return fault_mistake(e, "value",
                             "is %g; allowed: above 0, the step from one value to the "
                             "next",
                             value);
    if (e->fault->kind == HIL_FAULT_NOISE && value < 0)
        return fault_mistake(e, "value", "is %g; allowed: 0 or above, a standard deviation", value);
    if (e->fault->kind == HIL_FAULT_TUNE && fault_has(e, "value") == fault_has(e, "factor"))
        return fault_mistake(e, NULL, "has %s; required with tune: one of value, factor",
                             fault_has(e, "value") ? "both value and factor"
                                                   : "neither value nor factor");
    if ((e->fault->kind == HIL_FAULT_TUNE) != fault_has(e, "parameter"))
        return fault_mistake(e, e->fault->kind == HIL_FAULT_TUNE ? NULL : "parameter", "%s",
                             e->fault->kind == HIL_FAULT_TUNE
                                 ? "names no parameter; required with tune: parameter"
                                 : "goes with tune alone");
    return 0;
}

static int fault_numbers(struct fault_entry *e)
{
    int rc = 0;

    for (unsigned i = 0; i < HIL_FAULT_NUMBERS; i++)
        if (fault_number(e, i))
            rc = -EINVAL;
    if (rc)
        return rc;
    e->fault->seed = (uint64_t)fault_number_or(e, HIL_FAULT_SEED, 1);
    e->fault->numbers[HIL_FAULT_PROBABILITY] = fault_number_or(e, HIL_FAULT_PROBABILITY, 1);
    e->fault->delay_ns = general_ns(e->block, "delay_us", 0, 1e3);
    return fault_check_numbers(e);
}

/* --- acts ------------------------------------------------------------------------------------ */

static int fault_add(struct fault_entry *e, unsigned node, struct hil_act act)
{
    struct fault_found *found =
        hil_pool_more(e->g->system->pool, e->found, e->found_count, sizeof *found);

    if (!found)
        return -ENOMEM;
    act.number = e->found_count - e->before;
    e->found = found;
    e->found[e->found_count++] = (struct fault_found){
        .fault = (unsigned)(e->fault - e->g->system->faults), .node = node, .act = act};
    return 0;
}

/* The signal's index among the node's signals on which faults act. */
static int fault_shadow(const struct general *g, struct hil_node_config *node,
                        const struct hil_signal *signal, unsigned *shadow)
{
    for (*shadow = 0; *shadow < node->faulted_count; ++*shadow)
        if (hil_signal_is(&node->faulted[*shadow], signal))
            return 0;
    struct hil_signal *faulted =
        hil_pool_more(g->system->pool, (void *)node->faulted, node->faulted_count, sizeof *faulted);
    if (!faulted)
        return -ENOMEM;
    node->faulted = faulted;
    faulted[node->faulted_count++] = *signal;
    return 0;
}

/* What is delayed is kept for as many steps. */
static int fault_check_delay(const struct fault_entry *e, const struct hil_node_config *node)
{
    const uint64_t steps = e->fault->delay_ns / node->timing.period_ns;

    if (steps <= FAULT_DELAY_STEPS_MAX)
        return 0;
    return fault_mistake(e, "delay_us", "is %llu steps of its node; allowed: up to %d steps",
                         (unsigned long long)steps, FAULT_DELAY_STEPS_MAX);
}

static int fault_add_signal(struct fault_entry *e, struct general_element element)
{
    const unsigned owner = e->g->system->components[element.component].node;
    struct hil_node_config *node = &e->g->system->nodes[owner];
    struct hil_signal signal;
    unsigned shadow;

    general_signal_at(e->g, element, owner, &signal);
    int rc = fault_check_delay(e, node);
    if (!rc)
        rc = fault_shadow(e->g, node, &signal, &shadow);
    if (rc)
        return rc;
    return fault_add(e, owner,
                     (struct hil_act){.component = signal.component,
                                      .output = signal.output,
                                      .at = signal.number,
                                      .shadow = shadow});
}

static int fault_signals(struct fault_entry *e)
{
    const struct scenario_node *list = scenario_node_get(e->block, "signal");
    int rc = 0;

    for (unsigned i = 0; !rc && i < general_text_count(list); i++) {
        e->elements.count = 0;
        rc = general_signals(e->g, general_text_at(list, i), GENERAL_EITHER, &e->elements);
        for (unsigned k = 0; !rc && k < e->elements.count; k++)
            rc = fault_add_signal(e, e->elements.at[k]);
    }
    if (!rc && e->found_count == e->before)
        rc = fault_mistake(e, "signal", "names none; allowed: at least one");
    return rc;
}

static int fault_links(struct fault_entry *e)
{
    const struct scenario_node *from = scenario_node_get(e->block, "from");
    const struct scenario_node *to = scenario_node_get(e->block, "to");
    unsigned ends[4];
    int rc = 0;

    if (!general_find(e->g, &e->g->nodes, from, strlen(from->text), &ends[0], &ends[1]) ||
        !general_find(e->g, &e->g->nodes, to, strlen(to->text), &ends[2], &ends[3]))
        return -EINVAL;
    for (unsigned i = 0; !rc && i < e->g->system->link_count; i++) {
        const struct hil_link *l = &e->g->system->links[i];
        if (l->from < ends[0] || l->from > ends[1] || l->to < ends[2] || l->to > ends[3])
            continue;
        rc = fault_check_delay(e, &e->g->system->nodes[l->from]);
        if (!rc)
            rc = fault_add(e, l->from, (struct hil_act){.link = i});
    }
    if (!rc && e->found_count == e->before)
        rc = fault_mistake(e, "from",
                           "and to are '%.100s' and '%.100s', between which there is no link; "
                           "allowed: nodes that send to others, and these",
                           from->text, to->text);
    return rc;
}

static int fault_nodes(struct fault_entry *e)
{
    const struct scenario_node *names = scenario_node_get(e->block, "nodes");
    unsigned first, last;
    int rc = 0;

    if (!general_find(e->g, &e->g->nodes, names, strlen(names->text), &first, &last))
        return -EINVAL;
    for (unsigned i = first; !rc && i <= last; i++)
        rc = fault_add(e, i, (struct hil_act){0});
    return rc;
}

/* --- parameters ------------------------------------------------------------------------------ */

static int fault_not_tunable(const struct fault_entry *e, const struct hil_model *m)
{
    const char *name = general_text(e->block, "parameter"), *names[HIL_QUANTITIES_MAX];
    const int row = hil_quantity_find(&m->parameters, name);
    char choice[SCENARIO_CHOICE_BYTES];
    unsigned count = 0;

    for (unsigned i = 0; i < m->parameters.count; i++)
        if (hil_may_tune(m, &m->parameters.at[i]))
            names[count++] = m->parameters.at[i].name;
    scenario_say_choice(name, names, count, choice);
    return fault_mistake(e, "parameter", "is '%.80s', %s of the model %s%s", name,
                         row < 0 ? "which is no parameter" : "a parameter that is not tunable",
                         m->name, count ? choice : "; allowed: none, it has no tunable parameter");
}

/* Whether the model accepts the tuned parameter. */
static int fault_try(const struct fault_entry *e, const struct hil_component *c, unsigned place,
                     double value)
{
    const unsigned count =
        hil_places_before(&c->model->parameters, c->width, c->model->parameters.count);
    double *parameters = calloc(count + 1, sizeof *parameters);
    char why[SCENARIO_REASON_BYTES], name[HIL_SIGNAL_NAME_BYTES];

    if (!parameters)
        return -ENOMEM;
    memcpy(parameters, c->parameters, count * sizeof *parameters);
    parameters[place] = value;
    int rc = scenario_try(c->model, c->width, parameters, c->states,
                          e->g->system->nodes[c->node].timing.period_ns, why);
    free(parameters);
    if (!rc)
        return 0;
    hil_instance_name(&c->is, name);
    return fault_mistake(e, "parameter",
                         "would be %g of %s, which the model %s refuses (%s); allowed: a value "
                         "that makes sense with its other parameters",
                         value, name, c->model->name, why);
}

static int fault_add_parameter(struct fault_entry *e, unsigned component, unsigned place)
{
    const struct hil_component *c = &e->g->system->components[component];
    const struct hil_quantity *row = hil_place_row(&c->model->parameters, c->width, place);
    const double value = fault_number_or(
        e, HIL_FAULT_VALUE, c->parameters[place] * e->fault->numbers[HIL_FAULT_FACTOR]);
    char range[128];

    if (isnan(c->parameters[place]))
        return fault_mistake(e, "parameter",
                             "is %s, whose value only the model knows, so it cannot be set back; "
                             "allowed: a parameter with a value in the component's parameters",
                             row->name);
    if (!(value >= row->min && value <= row->max)) {
        scenario_say_range(row->min, row->max, row->unit, range, sizeof range);
        return fault_mistake(e, fault_has(e, "value") ? "value" : "factor",
                             "makes %s %g; allowed: %s", row->name, value, range);
    }
    if (row->flags & HIL_WHOLE && value != floor(value))
        return fault_mistake(e, fault_has(e, "value") ? "value" : "factor",
                             "makes %s %g; allowed: whole numbers", row->name, value);
    int rc = fault_try(e, c, place, value);
    if (rc)
        return rc;
    return fault_add(e, c->node,
                     (struct hil_act){.component = component, .at = place, .tuned = value});
}

static int fault_components(struct fault_entry *e)
{
    const struct scenario_node *names = scenario_node_get(e->block, "component");
    unsigned first, last;
    int rc = 0;

    if (!general_find(e->g, &e->g->components, names, strlen(names->text), &first, &last))
        return -EINVAL;
    for (unsigned i = first; !rc && i <= last; i++) {
        const struct hil_component *c = &e->g->system->components[i];
        const int row =
            hil_quantity_find(&c->model->parameters, general_text(e->block, "parameter"));
        if (row < 0 || !hil_may_tune(c->model, &c->model->parameters.at[row]))
            return fault_not_tunable(e, c->model);
        const unsigned place = hil_places_before(&c->model->parameters, c->width, (unsigned)row);
        const unsigned end = hil_places_before(&c->model->parameters, c->width, (unsigned)row + 1);
        for (unsigned k = place; !rc && k < end; k++)
            rc = fault_add_parameter(e, i, k);
    }
    return rc;
}

static int fault_things(struct fault_entry *e)
{
    switch (e->fault->of) {
    case HIL_FAULT_OF_SIGNAL:
        return fault_signals(e);
    case HIL_FAULT_OF_LINK:
        return fault_links(e);
    case HIL_FAULT_OF_NODES:
        return fault_nodes(e);
    default:
        return fault_components(e);
    }
}

/* --- one entry ------------------------------------------------------------------------------- */

/* "cell[3].current_a", "cell[*] -> pack" */
static const char *fault_say_on(const struct fault_entry *e)
{
    const struct scenario_node *first = scenario_node_get(e->block, fault_subjects[e->fault->of]);
    const char *text = general_text_at(first, 0)->text;
    char words[512];

    if (e->fault->of == HIL_FAULT_OF_LINK)
        snprintf(words, sizeof words, "%.200s -> %.200s", text, general_text(e->block, "to"));
    else if (e->fault->of == HIL_FAULT_OF_COMPONENT)
        snprintf(words, sizeof words, "%.200s.%.200s", text, general_text(e->block, "parameter"));
    else
        snprintf(words, sizeof words, "%.200s%s", text,
                 general_text_count(first) > 1 ? ", ..." : "");
    return hil_pool_text(e->g->system->pool, words);
}

/* Returns 0, -EINVAL after a report, or -ENOMEM. */
static int fault_read(struct fault_entry *e)
{
    int (*const parts[])(struct fault_entry *) = {fault_of, fault_kind, fault_numbers, fault_times,
                                                  fault_things};

    e->fault->name = hil_pool_text(e->g->system->pool, e->entry->key);
    if (!e->fault->name)
        return -ENOMEM;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        int rc = parts[i](e);
        if (rc)
            return rc;
    }
    e->fault->on = fault_say_on(e);
    return e->fault->on ? fault_check_wait(e) : -ENOMEM;
}

/* --- by node --------------------------------------------------------------------------------- */

static int fault_compare(const void *a, const void *b)
{
    const struct fault_found *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->fault != y->fault)
        return x->fault < y->fault ? -1 : 1;
    return (x->act.number > y->act.number) - (x->act.number < y->act.number);
}

static struct hil_fault_here *fault_here(struct hil_system *s, const struct fault_found *found,
                                         const struct general_element *levels,
                                         const struct general *g)
{
    struct hil_node_config *node = &s->nodes[found->node];
    struct hil_fault_here *here = &s->faults_here[s->here_count];

    *here = (struct hil_fault_here){.fault = found->fault, .node = found->node};
    if (s->faults[found->fault].waits == HIL_WAITS_LEVEL)
        general_signal_at(g, levels[found->fault], found->node, &here->level);
    if (node->fault_count++ == 0)
        node->first_fault = s->here_count;
    s->here_count++;
    return here;
}

static int fault_sort(struct fault_entry *e, const struct general_element *levels)
{
    struct hil_system *s = e->g->system;
    struct hil_act *acts = hil_pool_get(s->pool, e->found_count, sizeof *acts);
    struct hil_fault_here *here = NULL;

    s->faults_here = hil_pool_get(s->pool, e->found_count, sizeof *s->faults_here);
    if (!acts || !s->faults_here)
        return -ENOMEM;
    if (e->found_count)
        qsort(e->found, e->found_count, sizeof *e->found, fault_compare);
    for (unsigned i = 0; i < e->found_count; i++) {
        const struct fault_found *found = &e->found[i];
        if (!here || here->node != found->node || here->fault != found->fault) {
            here = fault_here(s, found, levels, e->g);
            here->acts = &acts[i];
        }
        acts[i] = found->act;
        here->act_count++;
    }
    return 0;
}

/* At the nodes where a fault acts, each signal is recorded both with the fault and as it would be
 * without it. */
static int fault_record(const struct general *g)
{
    int rc = 0;

    for (unsigned n = 0; !rc && n < g->system->node_count; n++) {
        struct hil_node_config *node = &g->system->nodes[n];
        for (unsigned i = 0; !rc && i < node->faulted_count; i++)
            if (!node->decimation || !general_records(node, &node->faulted[i]))
                rc = general_record_add(g, n, node->faulted[i]);
        for (unsigned i = 0; !rc && i < node->faulted_count; i++) {
            struct hil_signal original = node->faulted[i];
            original.original = true;
            rc = general_record_add(g, n, original);
        }
        if (node->faulted_count && !node->decimation)
            node->decimation = 1;
    }
    return rc;
}

/* Everything that faults refer to must be right first. */
int general_faults(struct general *g)
{
    const struct scenario_node *list = scenario_node_get(g->root, "faults");
    struct hil_system *s = g->system;
    struct general_element *levels = hil_pool_get(s->pool, list->count, sizeof *levels);
    struct fault_entry e = {.g = g};
    int rc = 0;

    if (g->report->mistakes)
        return 0;
    s->faults = hil_pool_get(s->pool, list->count, sizeof *s->faults);
    if (!s->faults || !levels)
        return -ENOMEM;
    for (unsigned i = 0; rc != -ENOMEM && i < list->count && !scenario_report_is_full(g->report);
         i++) {
        e.entry = &list->entries[i];
        e.block = e.entry->value;
        e.fault = &s->faults[s->fault_count++];
        e.before = e.found_count;
        rc = fault_read(&e);
        levels[i] = e.level;
    }
    free(e.elements.at);
    if (rc == -ENOMEM || g->report->mistakes)
        return rc == -ENOMEM ? rc : 0;
    rc = fault_sort(&e, levels);
    return rc ? rc : fault_record(g);
}
