/*
 * Loading a scenario, step by step. The file becomes a tree that knows its lines; --set is
 * laid over the tree, defaults are filled in, and the whole is checked against the schema.
 * Then libcyaml loads it into typed blocks, and those are resolved into what runs.
 */
#include "scenario.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scenario_check.h"
#include "scenario_defaults.h"
#include "scenario_listing.h"
#include "scenario_native.h"
#include "scenario_resolve.h"
#include "scenario_schema.h"
#include "scenario_tree.h"

const char *hil_fabric_name(enum hil_fabric fabric)
{
    static const char *const names[] = {
        [HIL_FABRIC_SHM] = "shm", [HIL_FABRIC_VERBS] = "verbs", [HIL_FABRIC_SIM] = "sim"};

    return names[fabric];
}

static const cyaml_config_t cyaml = {.mem_fn = cyaml_mem, .flags = CYAML_CFG_NO_ALIAS};

/* --mode comes last: it is what the user typed for this run. */
static int lay_options(struct scenario_node *root, const struct hil_scenario_options *options,
                       struct scenario_report *report)
{
    unsigned before = report->mistakes;

    if (options == NULL)
        return 0;
    for (size_t i = 0; i < options->set_count; i++)
        if (scenario_tree_set(root, options->sets[i], report) == -ENOMEM)
            return -ENOMEM;
    if (options->realtime && scenario_tree_set(root, "mode=realtime", report) != 0)
        return -ENOMEM;
    if (options->virtual_time && scenario_tree_set(root, "mode=virtual", report) != 0)
        return -ENOMEM;
    return report->mistakes == before ? 0 : -EINVAL;
}

/* Through libcyaml into the typed blocks, and from there into the scenario. */
static int load_and_resolve(const struct scenario_schema *schema, struct scenario_node *root,
                            struct hil_scenario *scenario, struct scenario_report *report)
{
    struct scenario_file *file = NULL;
    int error = scenario_tree_print(root, &scenario->resolved);

    if (error == 0)
        error = scenario_listing_make(schema, root, scenario);
    if (error != 0)
        return error;
    cyaml_err_t refused =
        cyaml_load_data((const uint8_t *)scenario->resolved, strlen(scenario->resolved), &cyaml,
                        &schema->top, (cyaml_data_t **)&file, NULL);
    if (refused == CYAML_ERR_OOM)
        return -ENOMEM;
    if (refused != CYAML_OK) {
        /* The check lets nothing through that libcyaml refuses; if it does, it is our bug. */
        scenario_mistake(report, &root->at, "refused by libcyaml: %s; allowed: docs/scenario.md",
                         cyaml_strerror(refused));
        return -EINVAL;
    }
    const struct scenario_loaded loaded = {schema, root, file, report};
    error = scenario_resolve(&loaded, scenario);
    cyaml_free(&cyaml, &schema->top, file, 0);
    return error;
}

/* What comes before libcyaml: a tree with everything in it and nothing wrong. */
static int complete(const struct scenario_schema *schema, struct scenario_node *root,
                    struct scenario_report *report)
{
    int error = scenario_fill_defaults(schema, root);

    if (error != 0)
        return error;
    scenario_check(schema, root, report);
    if (report->mistakes > 0)
        return -EINVAL;
    return scenario_fill_derived(schema, root);
}

static int load_tree(struct scenario_node *root, const char *path, struct hil_scenario *scenario,
                     const struct hil_scenario_options *options, struct scenario_report *report)
{
    struct scenario_schema *schema;
    int mislaid = root->kind == SCENARIO_MAPPING ? lay_options(root, options, report) : 0;

    if (mislaid == -ENOMEM || scenario_load_natives(root, path, report) != 0 ||
        scenario_schema_open(&schema, root) != 0)
        return -ENOMEM;
    int error = complete(schema, root, report);
    if (error == 0)
        error = mislaid;
    if (error == 0)
        error = load_and_resolve(schema, root, scenario, report);
    scenario_schema_close(schema);
    return error;
}

int hil_scenario_load(struct hil_scenario **scenario, const char *path,
                      const struct hil_scenario_options *options, char *message, size_t size)
{
    struct scenario_report report;
    struct scenario_node *root = NULL;

    scenario_report_open(&report, message, size);
    struct hil_scenario *made = calloc(1, sizeof(*made));
    int error = made == NULL ? -ENOMEM : scenario_tree_read(&root, path, &report);
    if (error == 0)
        error = load_tree(root, path, made, options, &report);
    scenario_node_free(root);
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

void hil_scenario_free(struct hil_scenario *scenario)
{
    if (scenario == NULL)
        return;
    free(scenario->name);
    scenario_free_verbs(scenario);
    free(scenario->converters);
    free(scenario->executors);
    free(scenario->reference.changes);
    free(scenario->load.changes);
    free(scenario->input_voltage.changes);
    free(scenario->resolved);
    free(scenario->listing.lines);
    free(scenario);
}
