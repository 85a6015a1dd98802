/*
 * Loads a scenario, step by step. The file becomes a tree that knows its lines. --set is applied to
 * the tree, defaults are filled in, and the result is checked against the schema. Then libcyaml
 * loads the part about the run, and the rest is resolved from the tree. Files of parameters are
 * applied once the components are known.
 */
#include "load.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../convert/convert.h"
#include "../general/general.h"
#include "../general/scenario_files.h"
#include "../general/scenario_models.h"
#include "../yaml/scenario_check.h"
#include "../yaml/scenario_defaults.h"
#include "../yaml/scenario_listing.h"
#include "../yaml/scenario_resolve.h"
#include "../yaml/scenario_schema.h"
#include "../yaml/scenario_tree.h"

static const cyaml_config_t cyaml = {.mem_fn = cyaml_mem,
                                     .flags = CYAML_CFG_NO_ALIAS | CYAML_CFG_IGNORE_UNKNOWN_KEYS};

/* Whether the scenario uses a fabric with addresses, but has none. */
static bool needs_addresses(const struct scenario_node *root)
{
    const struct scenario_node *fabric = scenario_node_get(root, "fabric");
    const char *name = fabric != NULL && fabric->kind == SCENARIO_SCALAR ? fabric->text : "";

    if (strcmp(name, "tcp") != 0 && strcmp(name, "verbs") != 0)
        return false;
    const struct scenario_node *block = scenario_node_get(root, name);
    const struct scenario_node *nodes = block != NULL ? scenario_node_get(block, "nodes") : NULL;
    return scenario_node_get(root, "rendezvous") == NULL && (nodes == NULL || nodes->count == 0);
}

static int lay_rendezvous(struct scenario_node *root, const char *place,
                          struct scenario_report *report)
{
    char set[300];

    snprintf(set, sizeof(set), "rendezvous='%s'", place);
    return scenario_tree_set(root, set, report);
}

/* --mode is applied last, since it is for this run only. */
static int lay_options(struct scenario_node *root, const struct hil_scenario_options *options,
                       struct scenario_report *report)
{
    unsigned before = report->mistakes;

    if (options == NULL)
        return 0;
    for (size_t i = 0; i < options->set_count; i++)
        if (scenario_set_today(root, options->sets[i], report) == -ENOMEM)
            return -ENOMEM;
    if (options->realtime && scenario_tree_set(root, "mode=realtime", report) != 0)
        return -ENOMEM;
    if (options->virtual_time && scenario_tree_set(root, "mode=virtual", report) != 0)
        return -ENOMEM;
    if (options->rendezvous != NULL && needs_addresses(root) &&
        lay_rendezvous(root, options->rendezvous, report) == -ENOMEM)
        return -ENOMEM;
    return report->mistakes == before ? 0 : -EINVAL;
}

/* One load. */
struct loading {
    const struct hil_scenario_options *options; /* or NULL */
    struct ssv parameters;
    struct hil_scenario *scenario;
    struct scenario_report *report;
};

static bool has_parameters(const struct loading *l)
{
    return l->options != NULL && l->options->parameter_count > 0;
}

/* Stores the final tree: as text, and as the listing that all nodes must share. */
static int write_down(const struct scenario_node *root, struct hil_scenario *scenario)
{
    free(scenario->resolved);
    free(scenario->listing.lines);
    scenario->resolved = NULL;
    scenario->listing = (struct hil_listing){0};
    int error = scenario_tree_print(root, &scenario->resolved);
    return error == 0 ? scenario_listing_make(root, scenario) : error;
}

/* Loads the part about the run with libcyaml. */
static int load_run(const struct scenario_node *root, const char *text, void **file,
                    struct scenario_report *report)
{
    cyaml_err_t refused =
        cyaml_load_data((const uint8_t *)text, strlen(text), &cyaml, &scenario_loaded, file, NULL);
    if (refused == CYAML_ERR_OOM)
        return -ENOMEM;
    if (refused == CYAML_OK)
        return 0;
    /* the check should find everything that libcyaml refuses; otherwise it is our bug */
    scenario_mistake(report, &root->at, "refused by libcyaml: %s; allowed: docs/scenario.md",
                     cyaml_strerror(refused));
    return -EINVAL;
}

static int load_system(struct loading *l, struct scenario_node *root)
{
    struct hil_scenario *scenario = l->scenario;
    int error =
        scenario_general_resolve(&scenario->system, root, &l->parameters, scenario, l->report);

    if (error == 0) {
        scenario->executors = scenario->system->executors;
        scenario->executor_count = scenario->system->executor_count;
    }
    return error == 0 && has_parameters(l) ? write_down(root, scenario) : error;
}

static int resolve(struct loading *l, struct scenario_node *root)
{
    const unsigned before = l->report->mistakes;
    void *file = NULL;
    int error = write_down(root, l->scenario);

    if (error == 0)
        error = load_run(root, l->scenario->resolved, &file, l->report);
    if (error != 0)
        return error;
    error = scenario_resolve_run(root, file, l->scenario, l->report);
    cyaml_free(&cyaml, &scenario_loaded, file, 0);
    if (error == 0)
        error = load_system(l, root);
    return error == 0 && l->report->mistakes > before ? -EINVAL : error;
}

/* Makes the tree complete, and checks it. */
static int complete(struct scenario_node *root, struct scenario_report *report)
{
    int error = scenario_fill_defaults(root);

    if (error == 0)
        error = scenario_check(root, report);
    if (error == 0 && report->mistakes > 0)
        error = -EINVAL;
    if (error == 0)
        scenario_arrange(root);
    return error;
}

/* Everything after the command line's changes. */
static int load_tree(struct loading *l, struct scenario_node *root, const char *path)
{
    struct scenario_report *report = l->report;

    if (scenario_lay_settings(root, &l->parameters, report) != 0 ||
        scenario_load_models(root, path, report) != 0 || scenario_find_files(root, path) != 0)
        return -ENOMEM;
    int error = complete(root, report);
    return error == 0 ? resolve(l, root) : error;
}

/* The command line's changes; and earlier words. */
static int prepare(struct loading *l, struct scenario_node *root)
{
    int error = root->kind == SCENARIO_MAPPING ? lay_options(root, l->options, l->report) : 0;
    int rewritten = scenario_rewrite_old_words(root);

    return rewritten != 0 ? rewritten : error; /* of memory, before a mistake */
}

static int refuse_short_form(const struct scenario_node *root, struct scenario_report *report)
{
    const struct scenario_entry *e = root->entries;

    while (strcmp(e->key, "controller") != 0 && strcmp(e->key, "converters") != 0)
        e++;
    scenario_mistake(report, &e->at,
                     "controller: and converters: are of an earlier language; allowed: nodes, "
                     "components and connections, as `hiloco convert FILE` writes them");
    return -EINVAL;
}

static int load_read(struct loading *l, struct scenario_node *root, const char *path)
{
    int mislaid = prepare(l, root);

    if (mislaid == -ENOMEM)
        return mislaid;
    if (scenario_is_short_form(root))
        return refuse_short_form(root, l->report);
    int error = load_tree(l, root, path);
    return error == 0 ? mislaid : error;
}

static int load_file(struct loading *l, const char *path)
{
    struct scenario_node *root = NULL;
    int error = scenario_tree_read(&root, path, l->report), wrong = 0;

    if (has_parameters(l) && error != -ENOMEM)
        wrong = ssv_open(&l->parameters, l->options->parameters, l->options->parameter_count,
                         l->report);
    if (error == 0)
        error = wrong;
    if (error == 0)
        error = load_read(l, root, path);
    scenario_node_free(root);
    ssv_close(&l->parameters);
    return error;
}

int hil_scenario_load(struct hil_scenario **scenario, const char *path,
                      const struct hil_scenario_options *options, char *message, size_t size)
{
    struct scenario_report report;

    scenario_report_open(&report, message, size);
    struct hil_scenario *made = calloc(1, sizeof(*made));
    struct loading l = {.options = options, .scenario = made, .report = &report};
    int error = made == NULL ? -ENOMEM : load_file(&l, path);
    if (error == 0) {
        *scenario = made;
        return 0;
    }
    if (error == -ENOMEM)
        scenario_mistake(&report, &(struct scenario_place){.file = path, .line = 1, .column = 1},
                         "out of memory");
    hil_scenario_free(made);
    return error;
}

/* Prints the tree in the language of today, and checks that it can be loaded. */
static int convert_tree(struct loading *l, struct scenario_node *root, const char *path,
                        char **text)
{
    struct scenario_node *general = NULL;
    char copy[PATH_MAX];
    int error = prepare(l, root);

    snprintf(copy, sizeof(copy), "%s", path);
    if (error == 0 && scenario_is_short_form(root))
        error = scenario_short_form_rewrite(root, dirname(copy), &general, l->report);
    struct scenario_node *to = general != NULL ? general : root;
    if (error == 0)
        error = scenario_tree_print(to, text);
    if (error == 0)
        error = load_tree(l, to, path);
    scenario_node_free(general);
    if (error != 0 || !has_parameters(l))
        return error;
    /* numbers of a file are in the resolved scenario alone */
    free(*text);
    *text = strdup(l->scenario->resolved);
    return *text != NULL ? 0 : -ENOMEM;
}

int hil_scenario_convert(char **text, const char *path, const struct hil_scenario_options *options,
                         char *message, size_t size)
{
    struct scenario_report report;
    struct scenario_node *root = NULL;

    scenario_report_open(&report, message, size);
    struct hil_scenario *scenario = calloc(1, sizeof(*scenario));
    struct loading l = {.options = options, .scenario = scenario, .report = &report};
    int error = scenario == NULL ? -ENOMEM : scenario_tree_read(&root, path, &report);
    *text = NULL;
    if (error == 0 && has_parameters(&l))
        error = ssv_open(&l.parameters, options->parameters, options->parameter_count, &report);
    if (error == 0)
        error = convert_tree(&l, root, path, text);
    scenario_node_free(root);
    ssv_close(&l.parameters);
    hil_scenario_free(scenario);
    if (error == 0)
        return 0;
    free(*text);
    *text = NULL;
    return error;
}
