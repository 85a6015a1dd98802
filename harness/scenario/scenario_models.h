/* The models that a scenario names and that are not built in. */
#ifndef HIL_SCENARIO_MODELS_H
#define HIL_SCENARIO_MODELS_H

#include "../models/provider.h"
#include "ssv.h"

/*
 * Loads them, as the scenario in the file `path` names them, and puts their whole names in the
 * place of what it says: a copy of the scenario then runs from any folder. Reports those that
 * cannot be loaded. Returns 0 or -ENOMEM.
 */
int scenario_load_models(struct scenario_node *root, const char *path,
                         struct scenario_report *report);

/* Puts values of files of parameters in the place of settings that components have, before their
 * models are loaded: the tables depend on them. Returns 0 or -ENOMEM. */
int scenario_lay_settings(struct scenario_node *root, struct ssv *parameters,
                          struct scenario_report *report);

/* The settings of a component's block, flat; none where it has none. Their texts are the tree's;
 * scenario_settings_free() frees the rest. Returns 0 or -ENOMEM. */
int scenario_settings(struct hil_settings *settings, const struct scenario_node *block);
void scenario_settings_free(struct hil_settings *settings);

#endif
