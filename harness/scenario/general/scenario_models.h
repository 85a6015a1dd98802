/* Loads the models that a scenario names and that are not built in. */
#ifndef HIL_SCENARIO_MODELS_H
#define HIL_SCENARIO_MODELS_H

#include "../../models/provider/provider.h"
#include "mentioned.h"
#include "ssv.h"

/*
 * Loads the models named by the scenario in the file `path`, and replaces their names by whole
 * names, so that a copy of the scenario runs from any folder. Reports models that cannot be loaded.
 * Returns 0 or -ENOMEM.
 */
int scenario_load_models(struct scenario_node *root, const char *path,
                         struct scenario_report *report);

/* Replaces settings of components by values from files of parameters. Call it before their models
 * are loaded, because their tables depend on the settings. Returns 0 or -ENOMEM. */
int scenario_lay_settings(struct scenario_node *root, struct ssv *parameters,
                          struct scenario_report *report);

/*
 * The settings of a component's block, flattened; empty if it has none. If a model of this name
 * takes them, the signals of the component that the scenario mentions follow. The texts belong to
 * the tree and to `mentioned`; scenario_settings_free() frees the rest. Returns 0 or -ENOMEM.
 */
int scenario_settings(struct hil_settings *settings, const struct scenario_node *block,
                      const char *component, const char *model,
                      const struct scenario_mentioned *mentioned);
void scenario_settings_free(struct hil_settings *settings);

#endif
