/*
 * Checks the lists whose entries name the controller, a range of converters, or both: `placement`,
 * and `verbs.nodes` or `tcp.nodes`. The entries of a list must name each node exactly once.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "../yaml/scenario_check.h"
#include "form.h"

/* A list, and the nodes named so far. */
struct form_roll {
    const struct form_loaded *loaded;
    const char *list, *gift; /* its path, and what an entry gives to a node */
    bool controller;
    bool *converters; /* by id */
};

static void roll_controller(struct form_roll *roll, unsigned index)
{
    char path[64];

    if (roll->controller) {
        snprintf(path, sizeof path, "%s.%u.controller", roll->list, index);
        form_mistake(roll->loaded, path,
                     "%s is true, but the controller has %s already; allowed: once", path,
                     roll->gift);
    }
    roll->controller = true;
}

static void roll_converters(struct form_roll *roll, unsigned index, const char *converters)
{
    unsigned first, last;
    char path[64];

    scenario_ids_parse(converters, &first, &last);
    snprintf(path, sizeof path, "%s.%u.converters", roll->list, index);
    for (unsigned id = first; id <= last; id++) {
        if (roll->converters[id]) {
            form_mistake(roll->loaded, path,
                         "%s is %s, but converter %u has %s already; allowed: once", path,
                         converters, id, roll->gift);
            return;
        }
        roll->converters[id] = true;
    }
}

/* Marks the nodes that entry `index` names. Reports nodes that were named before, and an entry that
 * names none. */
static void roll_call(struct form_roll *roll, unsigned index, bool controller,
                      const char *converters)
{
    char path[64];

    if (controller)
        roll_controller(roll, index);
    if (converters)
        roll_converters(roll, index, converters);
    if (controller || converters)
        return;
    snprintf(path, sizeof path, "%s.%u", roll->list, index);
    form_mistake(roll->loaded, path,
                 "%s names no node; allowed: controller: true, or converters: a range", path);
}

/* Reports the first node that was not named. */
static void roll_end(const struct form_roll *roll)
{
    if (!roll->controller)
        form_mistake(roll->loaded, roll->list,
                     "%s leaves out the controller; allowed: each node once", roll->list);
    for (unsigned id = 0; id < roll->loaded->file->converters.count; id++) {
        if (roll->converters[id])
            continue;
        form_mistake(roll->loaded, roll->list,
                     "%s leaves out converter %u; allowed: each node once", roll->list, id);
        return;
    }
}

static int check_placement(const struct form_loaded *loaded)
{
    const struct form_file *file = loaded->file;
    struct form_roll roll = {.loaded = loaded,
                             .list = "placement",
                             .gift = "a place",
                             .converters = calloc(file->converters.count, sizeof(bool))};

    if (!roll.converters)
        return -ENOMEM;
    for (unsigned i = 0; i < file->placement_count && !scenario_report_is_full(loaded->report); i++)
        roll_call(&roll, i, file->placement[i].controller, file->placement[i].converters);
    roll_end(&roll);
    free(roll.converters);
    return 0;
}

static int check_addresses(const struct form_loaded *loaded, const char *list,
                           const struct form_file_host *hosts, unsigned count)
{
    struct form_roll roll = {.loaded = loaded,
                             .list = list,
                             .gift = "an address",
                             .converters = calloc(loaded->file->converters.count, sizeof(bool))};

    if (!roll.converters)
        return -ENOMEM;
    for (unsigned i = 0; i < count && !scenario_report_is_full(loaded->report); i++)
        roll_call(&roll, i, hosts[i].controller, hosts[i].converters);
    roll_end(&roll);
    free(roll.converters);
    return 0;
}

/* With a rendezvous there must be no list. */
static int check_rendezvous(const struct form_loaded *loaded)
{
    const struct form_file *file = loaded->file;
    const bool verbs = file->run.fabric == HIL_FABRIC_VERBS && file->verbs.node_count > 0;
    const bool tcp = file->run.fabric == HIL_FABRIC_TCP && file->tcp.node_count > 0;

    if (verbs || tcp)
        form_mistake(loaded, "rendezvous",
                     "rendezvous and %s.nodes both say where nodes are; allowed: one of them",
                     verbs ? "verbs" : "tcp");
    return 0;
}

int form_check_nodes(const struct form_loaded *loaded)
{
    const struct form_file *file = loaded->file;
    int rc = check_placement(loaded);

    if (rc || file->run.mode == HIL_VIRTUAL)
        return rc;
    if (file->run.rendezvous)
        return check_rendezvous(loaded);
    if (file->run.fabric == HIL_FABRIC_VERBS)
        return check_addresses(loaded, "verbs.nodes", file->verbs.nodes, file->verbs.node_count);
    if (file->run.fabric == HIL_FABRIC_TCP && file->tcp.node_count > 0)
        return check_addresses(loaded, "tcp.nodes", file->tcp.nodes, file->tcp.node_count);
    return 0;
}
