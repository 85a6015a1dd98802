#include "scenario_models.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../base/names.h"
#include "../../models/models.h"
#include "../yaml/value_units.h"
#include "scenario_files.h"

/* --- settings -------------------------------------------------------------------------------- */

/* Adds the settings under `node`, whose own key is `key`; only counts them if there is no room. */
static int settings_add(struct hil_settings *settings, struct hil_setting *room,
                        const struct scenario_node *node, const char *key)
{
    char *name;
    int rc = 0;

    if (node->kind == SCENARIO_SCALAR) {
        const unsigned i = settings->count++;
        if (room)
            room[i] = (struct hil_setting){strdup(key), node->text ? node->text : ""};
        return room && !room[i].key ? -ENOMEM : 0;
    }
    for (size_t i = 0; !rc && i < node->count; i++) {
        const char *own = node->entries[i].key;
        const int made = own ? asprintf(&name, "%s%s%s", key, *key ? "." : "", own)
                             : asprintf(&name, "%s%s%zu", key, *key ? "." : "", i);
        if (made < 0)
            return -ENOMEM;
        rc = settings_add(settings, room, node->entries[i].value, name);
        free(name);
    }
    return rc;
}

static int settings_add_signals(struct hil_settings *settings, struct hil_setting *room,
                                const struct scenario_mention *at, size_t count)
{
    int rc = 0;

    for (size_t i = 0; !rc && i < count; i++) {
        const unsigned to = settings->count++;
        room[to] = (struct hil_setting){strdup(HIL_SETTING_SIGNAL), at[i].signal};
        rc = room[to].key ? 0 : -ENOMEM;
    }
    return rc;
}

int scenario_settings(struct hil_settings *settings, const struct scenario_node *block,
                      const char *component, const char *model,
                      const struct scenario_mentioned *mentioned)
{
    const struct scenario_node *node = scenario_node_get(block, "settings");
    size_t first = 0;
    const size_t signals = model && hil_model_names_signals(model)
                               ? scenario_mentioned_find(mentioned, component, &first)
                               : 0;
    struct hil_setting *room;

    *settings = (struct hil_settings){NULL, 0};
    int rc = node ? settings_add(settings, NULL, node, "") : 0;
    if (rc || settings->count + signals == 0)
        return rc;
    room = calloc(settings->count + signals, sizeof *room);
    settings->at = room;
    settings->count = 0;
    rc = !room ? -ENOMEM : node ? settings_add(settings, room, node, "") : 0;
    if (!rc)
        rc = settings_add_signals(settings, room, mentioned->at + first, signals);
    if (rc)
        scenario_settings_free(settings);
    return rc;
}

void scenario_settings_free(struct hil_settings *settings)
{
    for (unsigned i = 0; i < settings->count; i++)
        free((char *)settings->at[i].key);
    free((struct hil_setting *)settings->at);
    *settings = (struct hil_settings){NULL, 0};
}

/* The setting that a parameter refers to; NULL: none. */
static struct scenario_node *settings_find(const struct scenario_node *components,
                                           const struct hil_names *names, const char *name)
{
    const size_t length = strcspn(name, ".");
    const int i = name[length] ? hil_names_find(names, name, length) : -1;

    if (i < 0)
        return NULL;
    struct scenario_node *found = scenario_node_find(
        scenario_node_get(components->entries[i].value, "settings"), name + length + 1);
    return found && found->kind == SCENARIO_SCALAR ? found : NULL;
}

/* The places of the components by their names. */
static int settings_names(struct hil_names *names, const struct scenario_node *components)
{
    const bool any = components && components->kind == SCENARIO_MAPPING;
    const int rc = hil_names_open(names, any ? components->count : 0);

    for (unsigned i = 0; !rc && any && i < components->count; i++)
        hil_names_add(names, components->entries[i].key, i);
    return rc;
}

static int settings_put(struct scenario_node *to, const struct ssv_parameter *p)
{
    char *text;

    if (to->at.set) /* --set has precedence */
        return 0;
    text = strdup(p->text);
    if (!text)
        return -ENOMEM;
    free(to->text);
    to->text = text;
    to->plain = p->type != SSV_STRING && p->type != SSV_ENUMERATION;
    to->at = p->at;
    return 0;
}

int scenario_lay_settings(struct scenario_node *root, struct ssv *parameters,
                          struct scenario_report *report)
{
    const struct scenario_node *components = scenario_node_get(root, "components");
    struct hil_names names;
    int rc = settings_names(&names, components);

    for (unsigned i = 0; !rc && i < parameters->count; i++) {
        struct ssv_parameter *p = &parameters->at[i];
        struct scenario_node *to = settings_find(components, &names, p->name);
        if (!to)
            continue;
        p->taken = true;
        if (p->unit_name)
            scenario_mistake(report, &p->at,
                             "%.100s is in %.60s, but a setting has no unit; allowed: none",
                             p->name, p->unit_name);
        rc = settings_put(to, p);
    }
    hil_names_close(&names);
    return rc;
}

/* --- loading --------------------------------------------------------------------------------- */

struct loading {
    const char *folder; /* of the scenario */
    struct scenario_report *report;
    struct scenario_mentioned mentioned;
};

/* Reports a mistake in a component's setting, at the character where that is in the file. */
static void load_wrong_setting(const struct loading *l, struct scenario_node *settings,
                               const char *what, const struct hil_setting_place *place,
                               const char *wrong)
{
    const struct scenario_node *node = scenario_node_find(settings, place->key);
    struct scenario_place at = node ? node->at : settings->at;

    if (node && node->text_column)
        at.column = node->text_column + place->at;
    scenario_mistake(l->report, &at, "%.*ssettings.%s: %s", (int)(strlen(what) - strlen("model")),
                     what, place->key, wrong);
}

/* `own` is where the settings are in the file; NULL: nowhere. */
static int load_one(const struct loading *l, struct scenario_node *node,
                    const struct hil_settings *settings, struct scenario_node *own,
                    const char *what)
{
    char wrong[1024], found[128];
    struct hil_setting_place place = {.key = ""};
    const struct hil_said said = {wrong, sizeof wrong, &place};
    const struct hil_loaded *loaded;

    if (!node || !node->text || !hil_model_is_provided(node->text))
        return 0;
    if (hil_model_load(&loaded, node->text, l->folder, settings, &said)) {
        if (own && *place.key) {
            load_wrong_setting(l, own, what, &place, wrong);
            return 0;
        }
        scenario_mistake(l->report, &node->at, "%s is %s, but %s", what,
                         scenario_node_describe(node, found, sizeof found), wrong);
        return 0;
    }
    char *text = strdup(loaded->name);
    if (!text)
        return -ENOMEM;
    free(node->text);
    node->text = text;
    return 0;
}

/* Converts the component's values with a unit, for the model of this name. */
static int load_units(const struct scenario_node *component, const char *name,
                      const struct hil_settings *settings)
{
    const struct scenario_node *overrides = scenario_node_get(component, "overrides");
    const struct hil_loaded *loaded = name ? hil_loaded_find(name, settings) : NULL;
    const struct hil_model *m = loaded ? loaded->model : name ? hil_model_find(name) : NULL;
    int rc = m ? scenario_model_convert(component, m) : 0;

    for (size_t k = 0; m && overrides && !rc && k < overrides->count; k++)
        rc = scenario_model_convert(overrides->entries[k].value, m);
    return rc;
}

static int load_model(const struct loading *l, const struct scenario_entry *entry,
                      struct scenario_node *model)
{
    struct hil_settings settings;
    char what[128];

    if (!model)
        return 0;
    int rc = scenario_settings(&settings, entry->value, entry->key, model->text, &l->mentioned);
    if (rc)
        return rc;
    snprintf(what, sizeof what, "components.%.60s.model", entry->key);
    rc = load_one(l, model, &settings, scenario_node_get(entry->value, "settings"), what);
    if (!rc)
        rc = load_units(entry->value, model->text, &settings);
    scenario_settings_free(&settings);
    return rc;
}

/* A component has one model, or a list of models. */
static int load_component(const struct loading *l, const struct scenario_entry *entry)
{
    struct scenario_node *model = scenario_node_get(entry->value, "model");
    struct scenario_node *own = scenario_node_get(entry->value, "settings");
    const struct scenario_node *overrides = scenario_node_get(entry->value, "overrides");

    if (!model)
        return 0;
    int rc = own ? scenario_find_setting_files(own, l->folder) : 0;
    for (size_t k = 0; !rc && k < model->count; k++)
        rc = load_model(l, entry, model->entries[k].value);
    for (size_t k = 0; !rc && overrides && k < overrides->count; k++)
        rc = load_model(l, entry, scenario_node_get(overrides->entries[k].value, "model"));
    if (!rc)
        rc = load_model(l, entry, model);
    return rc;
}

static int load_components(const struct loading *l, const struct scenario_node *components)
{
    int rc = 0;

    for (size_t i = 0;
         !rc && components && i < components->count && !scenario_report_is_full(l->report); i++)
        if (components->kind == SCENARIO_MAPPING)
            rc = load_component(l, &components->entries[i]);
    return rc;
}

int scenario_load_models(struct scenario_node *root, const char *path,
                         struct scenario_report *report)
{
    char copy[PATH_MAX];

    snprintf(copy, sizeof copy, "%s", path);
    struct loading l = {.folder = dirname(copy), .report = report};
    int rc = scenario_mentioned_open(&l.mentioned, root);
    if (!rc)
        rc = load_components(&l, scenario_node_get(root, "components"));
    scenario_mentioned_close(&l.mentioned);
    return rc;
}
