#include "scenario_native.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../models/native.h"

enum { NATIVE_WRONG_BYTES = 1024 };

struct natives {
    const char *folder; /* of the scenario */
    struct scenario_report *report;
};

static int load_one(const struct natives *natives, struct scenario_node *node, const char *what)
{
    char wrong[NATIVE_WRONG_BYTES], found[128];
    const struct hil_native *native;

    if (node == NULL || node->text == NULL || !hil_native_is(node->text))
        return 0;
    if (hil_native_load(&native, node->text, natives->folder, wrong, sizeof(wrong)) != 0) {
        scenario_mistake(natives->report, &node->at, "%s is %s, but %s", what,
                         scenario_node_describe(node, found, sizeof(found)), wrong);
        return 0;
    }
    char *text = strdup(native->path);
    if (text == NULL)
        return -ENOMEM;
    free(node->text);
    node->text = text;
    return 0;
}

static int load_native(const struct natives *natives, const struct scenario_node *block,
                       const char *key, const char *what)
{
    return load_one(natives, scenario_node_get(block, key), what);
}

static int load_overrides(const struct natives *natives, const struct scenario_node *overrides)
{
    int error = 0;

    for (size_t i = 0; error == 0 && overrides != NULL && i < overrides->count &&
                       !scenario_report_is_full(natives->report);
         i++) {
        char what[64];
        snprintf(what, sizeof(what), "converters.overrides.%zu.plant", i);
        error = load_native(natives, overrides->entries[i].value, "plant", what);
    }
    return error;
}

/* Of the general form: a component has one model, or a list of them. */
static int load_components(const struct natives *natives, const struct scenario_node *components)
{
    int error = 0;

    for (size_t i = 0; error == 0 && components != NULL && i < components->count &&
                       !scenario_report_is_full(natives->report);
         i++) {
        char what[128];
        struct scenario_node *model = scenario_node_get(components->entries[i].value, "model");
        if (components->kind != SCENARIO_MAPPING || model == NULL)
            continue;
        snprintf(what, sizeof(what), "components.%.60s.model", components->entries[i].key);
        for (size_t k = 0; error == 0 && k < model->count; k++)
            error = load_one(natives, model->entries[k].value, what);
        if (error == 0)
            error = load_one(natives, model, what);
    }
    return error;
}

int scenario_load_natives(struct scenario_node *root, const char *path,
                          struct scenario_report *report)
{
    struct scenario_node *converters = scenario_node_get(root, "converters");
    char copy[PATH_MAX];

    snprintf(copy, sizeof(copy), "%s", path);
    const struct natives natives = {dirname(copy), report};
    int error =
        load_native(&natives, scenario_node_get(root, "controller"), "law", "controller.law");
    if (error == 0)
        error = load_native(&natives, converters, "plant", "converters.plant");
    if (error == 0)
        error = load_overrides(&natives, scenario_node_get(converters, "overrides"));
    return error == 0 ? load_components(&natives, scenario_node_get(root, "components")) : error;
}
