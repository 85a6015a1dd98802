#include "general.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tunables.h"

/* --- numbers of a checked block -------------------------------------------------------------- */

static const struct scenario_node *general_value(const struct scenario_node *block, const char *key,
                                                 unsigned i)
{
    const struct scenario_node *node = scenario_node_get(block, key);

    if (node && node->kind == SCENARIO_SEQUENCE)
        return i < node->count ? node->entries[i].value : NULL;
    return node;
}

double general_number(const struct scenario_node *block, const char *key, unsigned i)
{
    const struct scenario_node *node = general_value(block, key, i);

    return node ? strtod(node->text, NULL) : 0;
}

uint64_t general_ns(const struct scenario_node *block, const char *key, unsigned i, double per_unit)
{
    return scenario_ns(general_number(block, key, i), per_unit);
}

const char *general_text(const struct scenario_node *block, const char *key)
{
    const struct scenario_node *node = scenario_node_get(block, key);

    return node ? node->text : NULL;
}

bool general_true(const struct scenario_node *block, const char *key)
{
    const char *text = general_text(block, key);

    return text && strcmp(text, "true") == 0;
}

unsigned general_word(const struct scenario_node *block, const char *key, const char *const *words,
                      unsigned count)
{
    const char *text = general_text(block, key);

    for (unsigned i = 0; text && i < count; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    return 0;
}

bool general_fits(const struct general *g, const struct scenario_node *block, const char *key,
                  unsigned count, const char *things)
{
    const struct scenario_node *node = scenario_node_get(block, key);

    if (!node || node->kind != SCENARIO_SEQUENCE || node->count == count)
        return true;
    scenario_mistake(g->report, &node->at,
                     "%s is a list of %zu, but there are %u %s; allowed: one for all, or a list of "
                     "%u",
                     key, node->count, count, things, count);
    return false;
}

void general_entry_mistake(const struct general *g, const char *list,
                           const struct scenario_entry *entry, const char *key, const char *format,
                           va_list args)
{
    const struct scenario_node *node = key ? scenario_node_get(entry->value, key) : NULL;
    char text[1400];

    vsnprintf(text, sizeof text, format, args);
    scenario_mistake(g->report, node ? &node->at : &entry->at, "%s.%s%s%s %s", list, entry->key,
                     key ? "." : "", key ? key : "", text);
}

__attribute__((format(printf, 5, 6))) static int
general_refuse_subject(const struct general *g, const char *list,
                       const struct scenario_entry *entry, const char *key, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    general_entry_mistake(g, list, entry, key, format, args);
    va_end(args);
    return -1;
}

int general_subject(const struct general *g, const char *list, const struct scenario_entry *entry,
                    const char *const *subjects, unsigned count, unsigned of_link)
{
    const bool receivers = scenario_node_get(entry->value, "to") != NULL;
    unsigned given = 0, which = 0;
    char allowed[128] = "";
    size_t used = 0;

    for (unsigned i = 0; i < count; i++) {
        if (i != of_link && used < sizeof allowed)
            used += (size_t)snprintf(allowed + used, sizeof allowed - used, "%s, ", subjects[i]);
        if (!scenario_node_get(entry->value, subjects[i]))
            continue;
        which = i;
        given++;
    }
    if (given != 1)
        return general_refuse_subject(g, list, entry, NULL,
                                      "is of %u things; allowed: one of %sor a link from, to",
                                      given, allowed);
    if (which == of_link && !receivers)
        return general_refuse_subject(g, list, entry, NULL,
                                      "has no receivers; required with from: to");
    if (which != of_link && receivers)
        return general_refuse_subject(g, list, entry, "to",
                                      "has no senders; required with to: from");
    return (int)which;
}

struct hil_array *general_arrays(const struct general *g, const struct general_groups *groups)
{
    struct hil_array *arrays = hil_pool_get(g->system->pool, groups->count, sizeof *arrays);

    for (unsigned i = 0; arrays && i < groups->count; i++)
        arrays[i] = (struct hil_array){groups->at[i].name, groups->at[i].first, groups->at[i].count,
                                       groups->at[i].of};
    return arrays;
}

bool general_feed(struct general *g, struct general_element to, const struct scenario_node *by,
                  const struct hil_feed *feed)
{
    const unsigned input = g->first_input[to.component] + to.number;
    char name[HIL_SIGNAL_NAME_BYTES];

    if (g->fed[input]) {
        general_name(g, to, false, name);
        scenario_mistake(g->report, &by->at,
                         "the input %s is fed a second time, after line %zu; allowed: once, by a "
                         "connection, a source or a constant",
                         name, g->fed[input]->at.line);
        return false;
    }
    if (g->input_factor[input] != 1 && feed->kind != HIL_FEED_CONSTANT &&
        feed->kind != HIL_FEED_SOURCE) {
        general_name(g, to, false, name);
        scenario_mistake(g->report, &by->at,
                         "the input %s has a factor by its component's tolerance; allowed: a "
                         "constant or a source",
                         name);
        return false;
    }
    g->fed[input] = by;
    g->feeds[input] = *feed;
    return true;
}

/* --- the whole ----------------------------------------------------------------------------- */

static int general_tunables(struct general *g)
{
    return g->scenario->tuning ? hil_tunables_make(g->system) : 0;
}

static int general_parts(struct general *g)
{
    int (*const parts[])(struct general *) = {
        general_nodes,  general_components, general_sources,   general_connections, general_wiring,
        general_record, general_placement,  general_latencies, general_outside,     general_once,
        general_faults, general_limits,     general_bode,      general_tunables,
    };
    const unsigned before = g->report->mistakes;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        int rc = parts[i](g);
        if (rc)
            return rc;
        /* further parts need the nodes, the components and their inputs */
        if (g->report->mistakes > before && parts[i] != general_sources &&
            parts[i] != general_record)
            return -EINVAL;
    }
    return g->report->mistakes == before ? 0 : -EINVAL;
}

int scenario_general_resolve(struct hil_system **system, struct scenario_node *root,
                             struct ssv *parameters, struct hil_scenario *scenario,
                             struct scenario_report *report)
{
    struct general g = {.root = root,
                        .report = report,
                        .scenario = scenario,
                        .parameters = parameters,
                        .nodes.kind = "node",
                        .components.kind = "component"};
    int rc = -ENOMEM;

    *system = g.system = calloc(1, sizeof *g.system);
    if (g.system)
        g.system->pool = hil_pool_open();
    if (g.system && g.system->pool)
        rc = general_parts(&g);
    hil_names_close(&g.nodes.names);
    hil_names_close(&g.components.names);
    scenario_mentioned_close(&g.mentioned);
    return rc;
}
