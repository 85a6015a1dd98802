/*
 * The available models: built-in ones, and those that providers have loaded.
 */
#ifndef HIL_MODELS_H
#define HIL_MODELS_H

#include <stdio.h>

#include "builtin.h"
#include "provider/provider.h"
#include "provider/tables.h"

/* Whether a provider accepts the name. None accepts the name of a built-in model. */
bool hil_model_is_provided(const char *name);

/* Loads a model named by a scenario in `folder`, unless it is loaded already. `settings` may be
 * NULL. Returns 0, or a negative errno after a message that says what is wrong and what is
 * allowed. */
int hil_model_load(const struct hil_loaded **loaded, const char *name, const char *folder,
                   const struct hil_settings *settings, const struct hil_said *said);

/* The first model with this whole name and these settings (NULL: any settings), or NULL. */
const struct hil_loaded *hil_loaded_find(const char *name, const struct hil_settings *settings);

/* The entry of a loaded model; NULL: it is built in. */
const struct hil_loaded *hil_loaded_of(const struct hil_model *model);

/* The provider's statements about a model: whether it needs its own process because its code may
 * hang or crash, and why it is not for hard real time (NULL: it is). */
bool hil_model_is_apart(const struct hil_model *model);
const char *hil_model_not_real_time(const struct hil_model *model);

/* Finds a built-in or loaded model; NULL: there is none. */
const struct hil_model *hil_model_find(const char *name);

/* Prints the warnings about the models loaded since the last call, one a line. */
void hil_models_print_warnings(FILE *to);

/* Whether models of this name get the signals that a scenario refers to. */
bool hil_model_names_signals(const char *name);

/* Lists what providers accept, for messages: "or a shared library such as ./my.so". */
void hil_models_say_provided(char *text, size_t size);

#endif
