/* What is recorded and measured, and by which node. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "general.h"

bool general_signal_at(const struct general *g, struct general_element element, unsigned node,
                       struct hil_signal *signal)
{
    const struct hil_component *c = &g->system->components[element.component];
    const bool output = element.number < c->out_count;
    const unsigned number = output ? element.number : element.number - c->out_count;

    *signal =
        (struct hil_signal){.component = element.component, .output = output, .number = number};
    if (c->node == node) {
        signal->place = output ? HIL_AT_OUTPUT : HIL_AT_INPUT;
        signal->at = (output ? c->out : c->in) + number;
        return true;
    }
    signal->place = HIL_AT_LINK;
    return output &&
           general_find_link(g->system, c->node, node, c->out + number, &signal->link, &signal->at);
}

void general_absent(const struct general *g, const struct scenario_node *text,
                    const struct hil_signal *signal, unsigned node)
{
    char name[HIL_SIGNAL_NAME_BYTES], where[HIL_SIGNAL_NAME_BYTES];

    hil_signal_name(g->system, signal, name);
    hil_instance_name(&g->system->nodes[node].is, where);
    scenario_mistake(
        g->report, &text->at,
        "the node %s does not have %s; allowed: signals of its components, and outputs "
        "that are sent to it",
        where, name);
}

/* --- record -------------------------------------------------------------------------------- */

static void record_decimation(const struct general *g, const struct scenario_node *block,
                              unsigned node, unsigned char *said)
{
    const unsigned decimation = (unsigned)general_number(block, "decimation", 0);
    const struct scenario_node *at = scenario_node_get(block, "decimation");
    char name[HIL_SIGNAL_NAME_BYTES];

    if (said[node] && g->system->nodes[node].decimation != decimation) {
        hil_instance_name(&g->system->nodes[node].is, name);
        scenario_mistake(g->report, &at->at,
                         "decimation is %u, but the node %s has %u already; allowed: one for each "
                         "node",
                         decimation, name, g->system->nodes[node].decimation);
    }
    said[node] = 1;
    g->system->nodes[node].decimation = decimation;
}

bool general_records(const struct hil_node_config *node, const struct hil_signal *signal)
{
    for (unsigned i = 0; i < node->recorded_count; i++)
        if (hil_signal_is(&node->recorded[i], signal))
            return true;
    return false;
}

int general_record_add(const struct general *g, unsigned node, struct hil_signal signal)
{
    struct hil_node_config *n = &g->system->nodes[node];
    struct hil_signal *recorded =
        hil_pool_more(g->system->pool, (void *)n->recorded, n->recorded_count, sizeof *recorded);

    if (!recorded)
        return -ENOMEM;
    n->recorded = recorded;
    recorded[n->recorded_count++] = signal;
    return 0;
}

/* Reads one entry of record: for nodes first..last; if `free`, for any nodes that own the
 * signals. */
static int record_entry(const struct general *g, const struct scenario_node *block,
                        struct general_elements *elements, unsigned char *said)
{
    const struct scenario_node *names = scenario_node_get(block, "signals");
    const struct scenario_node *where = scenario_node_get(block, "node");
    unsigned first = 0, last = g->system->node_count - 1;

    if (where && !general_find(g, &g->nodes, where, strlen(where->text), &first, &last))
        return 0;
    for (unsigned n = first; where && n <= last; n++)
        record_decimation(g, block, n, said);
    for (unsigned i = 0; i < general_text_count(names); i++) {
        const struct scenario_node *text = general_text_at(names, i);
        elements->count = 0;
        int rc = general_signals(g, text, GENERAL_EITHER, elements);
        for (unsigned k = 0; !rc && k < elements->count; k++) {
            const unsigned owner = g->system->components[elements->at[k].component].node;
            const unsigned node = where && first == last ? first : owner;
            struct hil_signal signal;
            if (!general_signal_at(g, elements->at[k], node, &signal) || node < first ||
                node > last) {
                general_absent(g, text, &signal, node < first || node > last ? first : node);
                break;
            }
            if (!where)
                record_decimation(g, block, node, said);
            rc = general_record_add(g, node, signal);
        }
        if (rc == -ENOMEM)
            return rc;
    }
    return 0;
}

/* --- a scenario without record and measures ------------------------------------------------- */

/* What the values of its record take at most, beyond a row of each node. */
static const double RECORD_ALL_BYTES = 16 << 20;

/* Records a row of the table of a model, of which `whose` names the components. */
static int record_row(const struct general *g, const char *whose, const struct hil_quantity *row,
                      struct general_elements *elements)
{
    char name[HIL_SIGNAL_NAME_BYTES];
    const struct scenario_node text = {.kind = SCENARIO_SCALAR, .text = name, .at = g->root->at};

    snprintf(name, sizeof name, "%s.%s%s", whose, row->name, row->flags & HIL_WIDE ? "[*]" : "");
    elements->count = 0;
    int rc = general_signals(g, &text, GENERAL_EITHER, elements);
    for (unsigned i = 0; !rc && i < elements->count; i++) {
        const unsigned node = g->system->components[elements->at[i].component].node;
        struct hil_signal signal;
        general_signal_at(g, elements->at[i], node, &signal);
        rc = general_record_add(g, node, signal);
    }
    return rc;
}

static int record_table(const struct general *g, const char *whose,
                        const struct hil_quantities *table, struct general_elements *elements)
{
    const char *row = (const char *)table->at;
    int rc = 0;

    for (unsigned i = 0; !rc && i < table->count; i++, row += table->row_size)
        rc = record_row(g, whose, (const void *)row, elements);
    return rc;
}

/* All nodes leave out the same share of their steps. */
static void record_thin_out(const struct general *g)
{
    const double duration = (double)(g->scenario->duration_ns + g->scenario->stop_ramp_ns);
    struct hil_system *s = g->system;
    double bytes = 0;

    for (unsigned n = 0; n < s->node_count; n++)
        if (s->nodes[n].recorded_count)
            bytes += (s->nodes[n].recorded_count + 3) * sizeof(double) * duration /
                     (double)s->nodes[n].timing.period_ns;
    for (unsigned n = 0; n < s->node_count; n++)
        s->nodes[n].decimation = (unsigned)fmin(fmax(ceil(bytes / RECORD_ALL_BYTES), 1), 1e9);
}

static int record_model(const struct general *g, const char *whose, const struct hil_model *model,
                        struct general_elements *elements)
{
    const int rc = record_table(g, whose, &model->outputs, elements);

    return rc ? rc : record_table(g, whose, &model->inputs, elements);
}

/* Components of an array may be of several models. */
static int record_array(const struct general *g, const struct hil_array *array,
                        struct general_elements *elements)
{
    const struct hil_component *all = &g->system->components[array->first];
    char whose[HIL_SIGNAL_NAME_BYTES];
    bool alike = true;
    int rc = 0;

    for (unsigned i = 1; i < array->count; i++)
        alike &= all[i].model == all[0].model;
    snprintf(whose, sizeof whose, "%s%s", array->name, array->of ? "[*]" : "");
    if (alike)
        return record_model(g, whose, all[0].model, elements);
    for (unsigned i = 0; !rc && i < array->count; i++) {
        snprintf(whose, sizeof whose, "%s[%u]", array->name, i);
        rc = record_model(g, whose, all[i].model, elements);
    }
    return rc;
}

static int record_all(const struct general *g, struct general_elements *elements)
{
    const struct hil_system *s = g->system;
    int rc = 0;

    for (unsigned i = 0; !rc && i < s->component_array_count; i++)
        rc = record_array(g, &s->component_arrays[i], elements);
    record_thin_out(g);
    return rc;
}

/* --- measures ------------------------------------------------------------------------------ */

static const char *measure_unit(const struct general *g, const struct hil_signal *signal)
{
    unsigned place;

    return hil_signal_row(g->system, signal, &place)->unit;
}

/* An entry of measures: while it is read. */
struct measure_entry {
    const struct scenario_entry *entry;
    const struct scenario_node *of; /* the value of sum or each */
    struct general_elements signals, reference;
    bool each;
};

/* Whether all these are inputs that one source or equal constants feed, so that they are always
 * equal. */
static bool measure_are_equal(const struct general *g, const struct general_elements *signals)
{
    const struct hil_feed *first = NULL;

    for (unsigned i = 0; i < signals->count; i++) {
        const struct general_element *e = &signals->at[i];
        const struct hil_component *c = &g->system->components[e->component];
        if (e->number < c->out_count)
            return false;
        const struct hil_feed *feed =
            &g->feeds[g->first_input[e->component] + e->number - c->out_count];
        if (!first)
            first = feed;
        if (feed->kind != first->kind || feed->from != first->from || feed->at != first->at ||
            feed->scale != first->scale || feed->offset != first->offset ||
            feed->initial != first->initial ||
            (feed->kind != HIL_FEED_CONSTANT && feed->kind != HIL_FEED_SOURCE))
            return false;
    }
    return true;
}

static bool measure_reference_fits(const struct general *g, const struct measure_entry *m)
{
    const unsigned count = m->reference.count;

    return count == 1 ||
           (count == m->signals.count && (m->each || measure_are_equal(g, &m->reference)));
}

/* Reports what is wrong with an entry. */
static bool measure_is_right(const struct general *g, const struct measure_entry *m)
{
    const struct scenario_node *reference = scenario_node_get(m->entry->value, "reference");
    const struct scenario_node *band = scenario_node_get(m->entry->value, "band");
    const unsigned before = g->report->mistakes;

    if (m->signals.count == 0)
        scenario_mistake(g->report, &m->of->at, "it names no signal; allowed: at least one");
    else if (!reference && general_number(m->entry->value, "band", 0) > 0)
        scenario_mistake(g->report, &band->at,
                         "measures.%s.band is %s, but it has no reference; allowed: with one, or 0",
                         m->entry->key, band->text);
    else if (reference && !measure_reference_fits(g, m))
        scenario_mistake(g->report, &reference->at,
                         "the reference is %u signals; allowed: one, or one for each of %u%s",
                         m->reference.count, m->signals.count,
                         m->each ? "" : ", which one source feeds");
    return g->report->mistakes == before;
}

static int measure_elements(const struct general *g, struct measure_entry *m)
{
    const struct scenario_node *block = m->entry->value;
    const struct scenario_node *sum = scenario_node_get(block, "sum");
    const struct scenario_node *each = scenario_node_get(block, "each");
    const struct scenario_node *reference = scenario_node_get(block, "reference");
    int rc = 0;

    if (!sum == !each) {
        scenario_mistake(g->report, each ? &each->at : &m->entry->at,
                         "measures.%s has %s; allowed: sum, a sum of signals, or each, a measure "
                         "of each signal",
                         m->entry->key, each ? "both sum and each" : "no signals");
        return -EINVAL;
    }
    m->each = each;
    m->of = each ? each : sum;
    m->signals.count = m->reference.count = 0;
    for (unsigned i = 0; !rc && i < general_text_count(m->of); i++)
        rc = general_signals(g, general_text_at(m->of, i), GENERAL_EITHER, &m->signals);
    if (!rc && reference)
        rc = general_signals(g, reference, GENERAL_EITHER, &m->reference);
    return rc ? rc : measure_is_right(g, m) ? 0 : -EINVAL;
}

/* The node that computes it; -1 after a report. */
static int measure_node(const struct general *g, const struct measure_entry *m)
{
    const struct scenario_node *where = scenario_node_get(m->entry->value, "node");
    unsigned first, last;

    if (!where) {
        const struct general_element *e = m->reference.count ? m->reference.at : m->signals.at;
        return (int)g->system->components[e->component].node;
    }
    if (!general_find(g, &g->nodes, where, strlen(where->text), &first, &last))
        return -1;
    if (first == last)
        return (int)first;
    scenario_mistake(g->report, &where->at, "'%.100s' is %u nodes; allowed: one", where->text,
                     last - first + 1);
    return -1;
}

/* Fills `to` with `count` signals of a node, which must have the same unit. */
static bool measure_signals(const struct general *g, const struct scenario_node *text,
                            const struct general_element *elements, unsigned count, unsigned node,
                            struct hil_signal *to)
{
    for (unsigned i = 0; i < count; i++) {
        if (!general_signal_at(g, elements[i], node, &to[i])) {
            general_absent(g, text, &to[i], node);
            return false;
        }
        if (strcmp(measure_unit(g, &to[i]), measure_unit(g, &to[0])) != 0) {
            char one[HIL_SIGNAL_NAME_BYTES], other[HIL_SIGNAL_NAME_BYTES];
            hil_signal_name(g->system, &to[0], one);
            hil_signal_name(g->system, &to[i], other);
            scenario_mistake(g->report, &text->at,
                             "%s is in %s, but %s is in %s; allowed: a sum of one unit", one,
                             measure_unit(g, &to[0]), other, measure_unit(g, &to[i]));
            return false;
        }
    }
    return true;
}

static int measure_make(struct general *g, const struct measure_entry *m, unsigned node,
                        struct hil_measure *measure)
{
    const struct scenario_node *block = m->entry->value;
    const unsigned count = m->each ? m->signals.count : 1;
    const unsigned width = m->each ? 1 : m->signals.count;
    struct hil_signal *signals = hil_pool_get(g->system->pool, m->signals.count, sizeof *signals);
    const char *name = hil_pool_text(g->system->pool, m->entry->key);

    const unsigned references = m->reference.count ? m->reference.count : 1;

    if (!signals || !name)
        return -ENOMEM;
    if (!measure_signals(g, m->of, m->signals.at, m->signals.count, node, signals))
        return 0;
    for (unsigned i = 0; i < count; i++) {
        measure[i] = (struct hil_measure){
            .is = {name, i, m->each ? count : 0},
            .unit = measure_unit(g, &signals[0]),
            .node = node,
            .signals = signals + i * width,
            .count = width,
            .has_reference = m->reference.count > 0,
            .reference_scale =
                general_number(block, "reference_scale", 0) * (m->each ? 1 : references),
            .band = general_number(block, "band", 0),
        };
        if (measure[i].has_reference &&
            !measure_signals(g, scenario_node_get(block, "reference"),
                             &m->reference.at[m->each && references > 1 ? i : 0], 1, node,
                             &measure[i].reference))
            return 0;
    }
    g->system->measure_count += count;
    return 0;
}

/* The measures, with room for some more. */
static struct hil_measure *measures_with(const struct hil_system *s, unsigned more)
{
    struct hil_measure *measures = s->measures;

    for (unsigned i = 0; i < more; i++) {
        measures = hil_pool_more(s->pool, measures, s->measure_count + i, sizeof *measures);
        if (!measures)
            return NULL;
    }
    return measures;
}

static int record_measures(struct general *g)
{
    const struct scenario_node *list = scenario_node_get(g->root, "measures");
    struct measure_entry m = {0};
    int rc = 0;

    for (unsigned i = 0; !rc && i < list->count && !scenario_report_is_full(g->report); i++) {
        struct hil_system *s = g->system;
        m.entry = &list->entries[i];
        rc = measure_elements(g, &m);
        const int node = rc ? -1 : measure_node(g, &m);
        if (rc == -EINVAL)
            rc = 0;
        if (rc || node < 0)
            continue;
        struct hil_measure *measures = measures_with(s, m.each ? m.signals.count : 1);
        if (!measures) {
            rc = -ENOMEM;
            continue;
        }
        s->measures = measures;
        rc = measure_make(g, &m, (unsigned)node, &measures[s->measure_count]);
    }
    free(m.signals.at);
    free(m.reference.at);
    return rc;
}

/* Makes the list of measures for each node. */
static int record_list_measures(const struct general *g)
{
    struct hil_system *s = g->system;
    unsigned *list = hil_pool_get(s->pool, s->measure_count, sizeof *list);

    if (!list)
        return -ENOMEM;
    for (unsigned i = 0; i < s->measure_count; i++)
        s->nodes[s->measures[i].node].measure_count++;
    for (unsigned n = 0; n < s->node_count; n++) {
        s->nodes[n].measures = list;
        list += s->nodes[n].measure_count;
        s->nodes[n].measure_count = 0;
    }
    for (unsigned i = 0; i < s->measure_count; i++) {
        struct hil_node_config *n = &s->nodes[s->measures[i].node];
        ((unsigned *)n->measures)[n->measure_count++] = i;
    }
    return 0;
}

/* A node with measures that record: does not mention still has them in its record, so that each has
 * a figure. For a measure of each signal, the signals are recorded. */
static int record_measured(const struct general *g, const unsigned char *said)
{
    const struct hil_system *s = g->system;

    for (unsigned i = 0; i < s->measure_count; i++) {
        const struct hil_measure *m = &s->measures[i];
        if (said[m->node])
            continue;
        s->nodes[m->node].decimation = 1;
        int rc = m->is.of ? general_record_add(g, m->node, m->signals[0]) : 0;
        if (rc)
            return rc;
    }
    return 0;
}

int general_record(struct general *g)
{
    const struct scenario_node *list = scenario_node_get(g->root, "record");
    unsigned char *said = calloc(g->system->node_count, 1);
    struct general_elements elements = {0};
    int rc = said ? 0 : -ENOMEM;

    for (unsigned i = 0; !rc && list && i < list->count && !scenario_report_is_full(g->report); i++)
        rc = record_entry(g, list->entries[i].value, &elements, said);
    if (!rc)
        rc = record_measures(g);
    if (!rc && !list && !g->system->measure_count)
        rc = record_all(g, &elements);
    free(elements.at);
    if (!rc)
        rc = record_measured(g, said);
    free(said);
    return rc ? rc : record_list_measures(g);
}
