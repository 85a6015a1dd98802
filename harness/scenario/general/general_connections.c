/* Connections from outputs to inputs. Between arrays, element i is connected to element i. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "general.h"

static const struct hil_quantity *connection_row(const struct general *g,
                                                 struct general_element element, bool output)
{
    const struct hil_component *c = &g->system->components[element.component];

    return hil_place_row(output ? &c->model->outputs : &c->model->inputs, c->width, element.number);
}

/* Different units need a factor. A pure number fits any unit, because a gain has no unit of its
 * own. */
static bool connection_units(const struct general *g, const struct scenario_node *block,
                             struct general_element from, struct general_element to)
{
    const struct hil_quantity *output = connection_row(g, from, true);
    const struct hil_quantity *input = connection_row(g, to, false);
    const struct scenario_node *at = scenario_node_get(block, "from");
    char sent[HIL_SIGNAL_NAME_BYTES], taken[HIL_SIGNAL_NAME_BYTES];

    if (strcmp(output->unit, input->unit) == 0 || !*output->unit || !*input->unit ||
        scenario_node_get(block, "scale"))
        return true;
    general_name(g, from, true, sent);
    general_name(g, to, false, taken);
    scenario_mistake(g->report, &at->at,
                     "%s is in %s, but %s is in %s; allowed: the same unit, or a scale:", sent,
                     output->unit, taken, input->unit);
    return false;
}

int general_connect(struct general *g, const struct general_edge *edge)
{
    struct general_edge *edges =
        hil_pool_more(g->system->pool, g->edges, g->edge_count, sizeof *edges);

    if (!edges)
        return -ENOMEM;
    g->edges = edges;
    g->edges[g->edge_count++] = *edge;
    return 0;
}

/* --- age limits ------------------------------------------------------------------------------- */

static const char *const connection_olds[] = {"hold", "value", "safe", "end"};

/* Returns false after a report. */
static bool connection_check_old(const struct general *g, const struct scenario_node *block,
                                 struct general_element to, const struct hil_age_limit *age)
{
    const struct scenario_node *action = scenario_node_get(block, "on_old");
    const struct scenario_node *value = scenario_node_get(block, "old_value");
    const struct hil_quantity *input = connection_row(g, to, false);
    char range[128], name[HIL_SIGNAL_NAME_BYTES];

    if ((age->action == HIL_OLD_VALUE) != (value != NULL)) {
        scenario_mistake(g->report, value ? &value->at : &action->at,
                         value ? "old_value is of no use; allowed: with on_old: value"
                               : "on_old is value, but there is no old_value; required: old_value");
        return false;
    }
    if (value && !(age->value >= input->min && age->value <= input->max)) {
        scenario_say_range(input->min, input->max, input->unit, range, sizeof range);
        scenario_mistake(g->report, &value->at, "old_value is %g; allowed of %s: %s", age->value,
                         input->name, range);
        return false;
    }
    if (age->action == HIL_OLD_SAFE && !g->system->components[to.component].safe) {
        hil_instance_name(&g->system->components[to.component].is, name);
        scenario_mistake(g->report, &action->at,
                         "on_old is safe, but %s has no safe values; allowed: with its `safe`",
                         name);
        return false;
    }
    return true;
}

/* Adds the age limit of element `i` of a connection. Returns false after a report; *rc is then 0,
 * or -ENOMEM. */
static bool connection_add_age(struct general *g, const struct scenario_node *block,
                               struct general_element to, unsigned i, int *rc)
{
    const struct scenario_node *action = scenario_node_get(block, "on_old");
    const struct scenario_node *value = scenario_node_get(block, "old_value");
    struct hil_system *s = g->system;
    const struct hil_age_limit age = {
        .component = to.component,
        .number = to.number,
        .limit_ns = general_ns(block, "age_limit_us", 0, 1e3),
        .action = action ? general_word(block, "on_old", connection_olds, 4) : HIL_OLD_HOLD,
        .value = general_number(block, "old_value", i),
    };

    if (!scenario_node_get(block, "age_limit_us")) {
        if (!action && !value)
            return true;
        scenario_mistake(g->report, action ? &action->at : &value->at,
                         "nothing is ever too old; required: age_limit_us");
        return false;
    }
    if (!connection_check_old(g, block, to, &age))
        return false;
    struct hil_age_limit *ages = hil_pool_more(s->pool, s->ages, s->age_count, sizeof *ages);
    if (!ages) {
        *rc = -ENOMEM;
        return false;
    }
    s->ages = ages;
    s->ages[s->age_count++] = age;
    return true;
}

/* --- connections ------------------------------------------------------------------------------ */

/* Makes element `i` of a connection. Returns false after a report; *rc is then 0, or -ENOMEM. */
static bool connection_make(struct general *g, const struct scenario_node *block,
                            struct general_element from, struct general_element to, unsigned i,
                            int *rc)
{
    const bool scaled = scenario_node_get(block, "scale");
    const bool begins = scenario_node_get(block, "initial");
    const struct hil_quantity *input = connection_row(g, to, false);
    const struct general_edge edge = {
        .from = from,
        .to = to,
        .scale = scaled ? general_number(block, "scale", i) : 1,
        .offset = general_number(block, "offset", i),
        .initial = begins ? general_number(block, "initial", i) : input->value,
    };
    const struct hil_feed feed = {
        .kind = HIL_FEED_LINK, .scale = edge.scale, .offset = edge.offset, .initial = edge.initial};

    if (edge.initial < input->min || edge.initial > input->max) {
        char range[128];
        scenario_say_range(input->min, input->max, input->unit, range, sizeof range);
        scenario_mistake(g->report, &scenario_node_get(block, "initial")->at,
                         "initial is %g; allowed of %s: %s", edge.initial, input->name, range);
        return false;
    }
    if (!connection_units(g, block, from, to) ||
        !general_feed(g, to, scenario_node_get(block, "to"), &feed))
        return false;
    *rc = general_connect(g, &edge);
    return *rc == 0 && connection_add_age(g, block, to, i, rc);
}

static bool connection_sizes(const struct general *g, const struct scenario_node *block,
                             unsigned from, unsigned to)
{
    const struct scenario_node *at = scenario_node_get(block, "to");

    if (from != to && from != 1) {
        scenario_mistake(g->report, &at->at,
                         "%.100s is %u signals, but %.100s is %u; allowed: as many, or one for all",
                         general_text(block, "from"), from, at->text, to);
        return false;
    }
    return general_fits(g, block, "scale", to, "inputs") &&
           general_fits(g, block, "offset", to, "inputs") &&
           general_fits(g, block, "initial", to, "inputs") &&
           general_fits(g, block, "old_value", to, "inputs");
}

static int connection_read(struct general *g, const struct scenario_node *block,
                           struct general_elements *from, struct general_elements *to)
{
    from->count = to->count = 0;
    int rc = general_signals(g, scenario_node_get(block, "from"), GENERAL_OUTPUTS, from);
    if (!rc)
        rc = general_signals(g, scenario_node_get(block, "to"), GENERAL_INPUTS, to);
    if (rc)
        return rc == -ENOMEM ? rc : 0;
    if (!connection_sizes(g, block, from->count, to->count))
        return 0;
    for (unsigned i = 0; i < to->count; i++)
        if (!connection_make(g, block, from->at[from->count == 1 ? 0 : i], to->at[i], i, &rc))
            return rc;
    return 0;
}

/* An input that nothing feeds has its table's value, unless it must be fed. */
static void connection_check_required(const struct general *g)
{
    for (unsigned n = 0; n < g->components.count; n++) {
        const struct general_group *group = &g->components.at[n];
        for (unsigned i = 0; i < group->count; i++) {
            const unsigned c = group->first + i, count = g->system->components[c].in_count;
            for (unsigned k = 0; k < count && !scenario_report_is_full(g->report); k++) {
                const unsigned input = g->first_input[c] + k;
                char name[HIL_SIGNAL_NAME_BYTES];
                if (g->fed[input] || !(g->input_row[input]->flags & HIL_REQUIRED))
                    continue;
                general_name(g, (struct general_element){c, k}, false, name);
                scenario_mistake(g->report, &group->block->at,
                                 "nothing feeds %s; required: a connection, a source or a constant",
                                 name);
            }
        }
    }
}

int general_connections(struct general *g)
{
    const struct scenario_node *list = scenario_node_get(g->root, "connections");
    const unsigned before = g->report->mistakes;
    struct general_elements from = {0}, to = {0};
    int rc = 0;

    for (unsigned i = 0; !rc && i < list->count && !scenario_report_is_full(g->report); i++)
        rc = connection_read(g, list->entries[i].value, &from, &to);
    free(from.at);
    free(to.at);
    if (!rc && g->report->mistakes == before)
        rc = general_before(g);
    if (!rc && g->report->mistakes == before)
        connection_check_required(g);
    return rc;
}
